"""Many outer joins in one query, of tables, views and subqueries: DuckDB's rows on every engine.

`python -m tests.differential.test_outer_joins reference 0 500` runs many seeds.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

import freshview
from freshview.codegen.library.compiler import find_compiler
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.program import program_of
from freshview.program.check import check_program
from freshview.program.text import read_program, show_program
from freshview.sql.load import load
from tests.differential.test_view_stacks import follow_pipeline, restarting
from tests.differential.view_stacks import Row, Stack, follow, random_batches
from tests.law.loops import Case, agree
from tests.thin import thin

COMPILED = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]
KINDS = ("LEFT JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "JOIN")
BODIES = (
    "SELECT q0.k AS k, q{last}.x AS x FROM {joins}",
    "SELECT q{last}.k AS k, SUM(q0.x) AS x FROM {joins} GROUP BY q{last}.k",
    "SELECT q0.x AS k, COUNT(q{some}.x) AS x FROM {joins} WHERE q{some}.k IS NULL OR q{some}.k < 3 "
    "GROUP BY q0.x",
    "SELECT k, x FROM (SELECT q0.k AS k, MAX(q{last}.x) AS x FROM {joins} GROUP BY q0.k) d "
    "WHERE x > 0",
    "SELECT a.k AS k, b.x AS x FROM (SELECT q0.k AS k, q{some}.x AS x FROM {joins}) a "
    "LEFT JOIN t b ON a.x = b.k",
    "SELECT k, x FROM t o WHERE NOT EXISTS "
    "(SELECT 1 FROM {joins} WHERE q0.k = o.k AND q{last}.x = o.x)",
)


def case(seed: int, joins: tuple[int, int] = (4, 7), batches: int = 6) -> Stack:
    """One or two views of a few joins each; the second may read the first."""
    rng = random.Random(f"outer joins {seed}")
    names, views = ["t", "u", "w"], []
    for n in range(rng.choice((1, 1, 2))):
        views.append((f"v{n}", _view(rng, names, rng.randint(*joins))))
        names.append(f"v{n}")
    static = tuple(_row(rng) for _ in range(3))
    late = frozenset(n for n, _ in views[1:] if rng.random() < 0.3)
    return Stack(
        tuple(views),
        static,
        tuple(random_batches(rng, batches, _row, most=3, copies=(1,), most_live=4)),
        late,
    )


def _view(rng: random.Random, names: list[str], joins: int) -> str:
    text = f"{rng.choice(names)} q0"
    for i in range(1, joins + 1):
        on = f"q{rng.randrange(i)}.{rng.choice('kkx')} = q{i}.k"
        if rng.random() < 0.3:
            on += f" AND q{rng.randrange(i)}.x {rng.choice(('<', '>=', '<>'))} q{i}.x"
        text += f" {rng.choice(KINDS)} {rng.choice(names)} q{i} ON {on}"
    body = rng.choice(BODIES)
    return body.format(joins=text, last=joins, some=rng.randint(1, joins))


def _row(rng: random.Random) -> Row:
    """Few partners each, or long joins have too many rows."""
    k, x = (None if rng.random() < 0.1 else rng.randrange(5) for _ in "kx")
    return k, x


@pytest.mark.parametrize("seed", thin(range(40), 4))
def test_reference(seed: int) -> None:
    follow(case(seed), lambda: freshview.connect(engine="reference"))


@pytest.mark.parametrize("seed", thin(range(100, 108), 4))
@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
def test_kernels(seed: int) -> None:
    follow(case(seed, (4, 5)), lambda: freshview.connect(engine="native"))


@pytest.mark.parametrize("seed", thin(range(200, 208), 4))
def test_restarts(seed: int, tmp_path: Path) -> None:
    follow(case(seed), lambda: freshview.connect(engine="reference"), restarting(tmp_path))


@pytest.mark.parametrize("seed", thin(range(300, 310), 5))
def test_loops(seed: int) -> None:
    """What kernels do, beside the reference engine."""
    text = case(seed, (4, 5))
    catalog, queries = load(text.script())
    program = program_of(queries, catalog, PipelineOptions())
    check_program(program)
    assert read_program(show_program(program)) == program
    known = {r.name for r in program.relations}
    batches = [[(n, c) for n, c in b.items() if n in known] for b in text.batches]
    assert agree(Case(program, batches, {"w": text.static} if "w" in known else {}), ["usual"])


@pytest.mark.parametrize("seed", thin(range(400, 406), 3))
@pytest.mark.parametrize("native", [False, pytest.param(True, marks=COMPILED)])
def test_pipelines(seed: int, native: bool, tmp_path: Path) -> None:
    follow_pipeline(case(seed, (4, 5)), native, tmp_path)


def test_long_joins_have_parts_without_columns_that_nobody_reads() -> None:
    """What this file is about; and a second script reads a view that has parts."""
    joins = " ".join(f"LEFT JOIN t q{i} ON q0.k = q{i}.k" for i in range(1, 5))
    wide = "CREATE STREAM t (k INT, x INT, a INT, b INT, c INT)"
    db = freshview.connect(engine="reference")
    db.execute(f"{wide}; CREATE VIEW v AS SELECT q0.k, q4.x, q1.a FROM t q0 {joins}")
    (part,) = db.catalog.view("v").over
    assert part.name == "v.joins"
    assert [c.name for c in part.columns] == ["q0_k", "q1_a"]
    db.execute(
        "CREATE VIEW w AS SELECT v.k, COUNT(*) AS n FROM v LEFT JOIN t ON t.k = v.x GROUP BY v.k"
    )
    assert [q.name for q in db.catalog.view("w").over] == ["v.joins"]
    db.insert("t", [(1, 2, 3, 4, 5), (2, 1, 0, 0, 0)])
    assert sorted(db.view("v").rows()) == [(1, 2, 3), (2, 1, 0)]
    assert sorted(db.view("w").rows()) == [(1, 1), (2, 1)]
    again = freshview.connect(engine="reference")  # from the cache of scripts
    again.execute(f"{wide}; CREATE VIEW v AS SELECT q0.k, q4.x, q1.a FROM t q0 {joins}")
    assert again.catalog.view("v") == db.catalog.view("v")


def main(engine: str, first: str, end: str) -> None:
    """Run seeds and print what differs."""
    for seed in range(int(first), int(end)):
        try:
            follow(case(seed), lambda: freshview.connect(engine=engine))  # type: ignore[arg-type]
        except Exception as e:
            print(f"seed {seed}: {type(e).__name__}: {e}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
