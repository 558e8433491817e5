"""Layouts that keep less, with and without the pass: the views are those of the reference engine.

Maps that are walked through together share records, counts are asked of finer ones, and orders
follow their groups when they are read.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from freshview.calculus.scope import base_relations
from freshview.codegen.pipeline import plan_kernel
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions, Mode
from freshview.program.merge import merge
from freshview.program.terms import Program
from freshview.sql.load import load
from tests.law.loops import PASSES, Case, agree

STREAMS = (
    "CREATE STREAM o (id INT NOT NULL, c INT, r INT NOT NULL);"
    "CREATE STREAM i (id INT NOT NULL, p INT NOT NULL, x INT, y INT NOT NULL);"
)
JOINED = (
    "SELECT c, SUM(x) AS t, COUNT(*) AS n FROM o, i WHERE o.id = i.id GROUP BY c",
    "SELECT c, SUM(x) AS t FROM o, i WHERE o.id = i.id AND r = 1 GROUP BY c",
    "SELECT p, SUM(y) AS t FROM o, i WHERE o.id = i.id GROUP BY p",
    "SELECT p, SUM(x * y) AS t FROM o, i WHERE o.id = i.id AND y > 2 GROUP BY p",
)
FIRST = (
    "SELECT p, SUM(y) AS t FROM i GROUP BY p ORDER BY t DESC LIMIT 2",
    "SELECT p, SUM(x) AS t, COUNT(*) AS n FROM i GROUP BY p ORDER BY t, n DESC LIMIT 3",
    "SELECT p, AVG(y) AS m FROM i GROUP BY p HAVING COUNT(*) > 1 ORDER BY m, p LIMIT 2",
)


ORDERED = DeltaOptions(ordered=True)
TOTALS = (
    "SELECT SUM(x) AS t FROM o, i WHERE o.id = i.id",
    "SELECT SUM(c * y) AS t, COUNT(*) AS n FROM o, i WHERE o.id = i.id AND r > 0",
)


def program_of(texts: tuple[str, ...], mode: Mode, options: DeltaOptions = ORDERED) -> Program:
    """One program of several views."""
    views = "".join(f"CREATE VIEW v{n} AS {text};" for n, text in enumerate(texts))
    catalog, queries = load(STREAMS + views)
    options = replace(options, mode=mode)
    used = [[r for r in catalog.relations.values() if r.name in base_relations(q)] for q in queries]
    return merge(compile_queries([q], of, options) for q, of in zip(queries, used, strict=True))


def batches(seed: int) -> list[list[tuple[str, Any]]]:
    """Rows that come and go, some of them more than once."""
    rng = random.Random(seed)
    kept: dict[str, list[Any]] = {"o": [], "i": []}
    out = []
    for _ in range(8):
        batch = []
        for name in ("o", "i"):
            some = lambda: rng.choice((None, 0, 1, 2))  # noqa: E731
            new = [
                (rng.randrange(3), some(), rng.randrange(3))
                if name == "o"
                else (rng.randrange(3), rng.randrange(4), some(), rng.randrange(5))
                for _ in range(rng.randrange(6))
            ]
            gone = [row for row in kept[name] if rng.random() < 0.3]
            for row in gone:
                kept[name].remove(row)
            kept[name] += new
            batch.append((name, [*((row, 1) for row in new), *((row, -1) for row in gone)]))
        out.append(batch)
    return out


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("seed", range(4))
def test_maps_that_are_walked_through_together(seed: int, mode: Mode) -> None:
    case = Case(program_of(JOINED, mode), batches(seed))
    assert agree(case, ("usual", "fuse", "share")) == 3


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("seed", range(4))
def test_orders_that_follow_when_they_are_read(seed: int, mode: Mode) -> None:
    case = Case(program_of(FIRST, mode), batches(seed))
    assert agree(case, ("usual", "listings", "fuse")) == 3


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("seed", range(4))
def test_counts_that_finer_ones_answer_for(seed: int, mode: Mode) -> None:
    program = program_of(TOTALS, mode, DeltaOptions(depth=1, project=True))
    kept = plan_kernel(program, passes=PASSES["derive"]).program.maps
    assert len(plan_kernel(program).program.maps) < len(kept)
    assert agree(Case(program, batches(seed)), ("usual", "derive", "fuse")) > 1


def test_maps_over_some_of_the_rows_share_their_records() -> None:
    """Where both are walked through by the same rows: of two tables a side, one is left."""
    layout = plan_kernel(program_of(JOINED, "tuple")).layout
    walked = [t for t in layout.tables.values() if t.indexes]
    assert sorted(len(t.payloads) for t in walked) == [2, 5]
