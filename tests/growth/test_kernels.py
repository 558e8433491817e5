"""The same of kernels: with ordered indexes, also queries that compare a row with an aggregate.

What an index is asked counts by the keys that it compares; what is put off until a view is read
is not part of a change. So all the workload queries are bounded, but those whose program says
that a change meets many rows.
"""

from __future__ import annotations

from typing import Any, get_args

import pytest

import freshview
from freshview.calculus.functions import Functions
from freshview.codegen.kernel.source import write
from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions, Mode
from freshview.program.terms import Program
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.runtime.settings import ModeChoice
from freshview.sql.load import load
from tests.differential.harness import case, cases, compiled
from tests.growth.test_cost_follows_the_delta import GROWS, growth
from tests.thin import full, own_wording, thin

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

SLACK = 1.5
LOGARITHM = 2.5
"""What ten times the data may cost where an ordered index is asked: a few comparisons more. Q2 of
the papers has a tree of one level at first, and takes 926, 2,151, 3,040 and 3,672 steps among 1,
10, 40 and 160 copies of its data."""

GROUPS = "a view with ten times the groups, all of which a change of the total can touch"
TIES = "a view with ten times the rows: every copy of the best supplier is as good"
GROWING = {("finance", "mst"): GROUPS, ("tpch", "q15"): TIES, **GROWS}
"""Queries whose work grows: a cost that is known, and stated by a test."""


def bounded() -> list[Any]:
    """The others; every second one, and the papers' wording of TPC-H's, is left to the full run."""
    usual = [n for n in cases() if n not in GROWING and own_wording(n)]
    papers = [n for n in cases() if n not in GROWING and not own_wording(n)]
    return [*thin(usual, 2), *map(full, papers)]


@pytest.mark.parametrize(("workload", "name"), bounded())
def test_single_rows(workload: str, name: str) -> None:
    assert grown(workload, name) == {}


@pytest.mark.parametrize(("workload", "name"), sorted(GROWING))
def test_list_of_queries_whose_work_grows(workload: str, name: str) -> None:
    """Each query of the list does grow; else it belongs among the bounded ones."""
    assert grown(workload, name), f"its work no longer grows, though {GROWING[workload, name]}"


def grown(workload: str, name: str) -> dict[str, str]:
    """The relations whose single rows cost more among many copies of the data."""
    c = case(workload, name)
    program = compiled(c, DeltaOptions(mode="tuple"))
    kernel = write(program, c.catalog.functions)
    assert kernel.scans == ()

    def begin(p: Program, f: Functions) -> KernelEngine:
        return kernel_engine(p, f, Flags(optimize=0, count=True))

    slack = LOGARITHM if "Ordered<" in kernel.text else SLACK
    return growth(c, program, start=begin, slack=slack)


STREAMS = "CREATE STREAM r (g INT, x INT NOT NULL, name STRING); CREATE STREAM s (name STRING);"
EXTREMES = (
    "SELECT MIN(x) AS lo, MAX(x) AS hi FROM r",
    "SELECT g, MIN(x) AS lo, MAX(x) AS hi, MAX(name) AS name FROM r GROUP BY g",
    "SELECT g, x FROM r ORDER BY x DESC, g LIMIT 3",
    "SELECT SUM(lo) AS lo, SUM(hi) AS hi FROM "
    "(SELECT MIN(x) AS lo, MAX(x) AS hi FROM r GROUP BY g) extremes",
    "SELECT g, COUNT(*) AS n FROM r WHERE x > (SELECT AVG(x) FROM r) AND NOT EXISTS "
    "(SELECT 1 FROM s WHERE s.name = r.name) GROUP BY g",
    "WITH y AS (SELECT name, SUM(x) AS t FROM r GROUP BY name) "
    "SELECT s.name, y.t FROM s, y WHERE s.name = y.name AND y.t = (SELECT MAX(t) FROM y)",
)


def extremes(
    sql: str, mode: Mode, groups: int, size: int, passes: KernelPasses = USUAL_PASSES
) -> int:
    """What it costs that the extremes of each group leave and come back, the view read in between.

    MIN and MAX are part of what is read, so reading is part of the cost.
    """
    catalog, queries = load(f"{STREAMS} {sql}")
    program = compile_queries(queries, list(catalog.relations.values()), DeltaOptions(mode=mode))
    flags = Flags(optimize=0, count=True)
    engine = kernel_engine(program, catalog.functions, flags, passes=passes)
    rows = [(i % groups, i * 7919 % 1_000_003, f"row {i * 31 % size:06}") for i in range(size)]
    engine.apply({"r": [(row, 1) for row in rows]})
    engine.apply({"s": [((name,), 1) for _, _, name in rows[:50]]})
    in_order = sorted(rows, key=lambda row: row[1])
    changes = [[(row, -1)] for row in in_order[:5] + in_order[-5:]]
    changes += [[(row, 1)] for [(row, _)] in changes]
    before = engine.work
    for change in changes:
        engine.apply({"r": change})
        engine.read(program.queries[0].name)
    return engine.work - before


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("sql", thin(EXTREMES, 8))
def test_extremes(sql: str, mode: Mode, groups: int) -> None:
    """With ordered indexes they cost a search; without them a walk through their group."""
    small, *larger = (extremes(sql, mode, groups, size) for size in (1000, 10_000, 100_000))
    assert max(larger) <= LOGARITHM * small
    passes = KernelPasses(first_rows=False, ranges=False)
    few, many = (extremes(sql, mode, groups, size, passes) for size in (100, 1000))
    assert many > 5 * few


BEST = (
    "SELECT g, SUM(x) AS total FROM r GROUP BY g ORDER BY total DESC LIMIT 10",
    "SELECT g, AVG(x) AS mean, COUNT(*) AS n FROM r GROUP BY g HAVING COUNT(*) > 1 "
    "ORDER BY mean, n LIMIT 10",
    "SELECT r.name, COUNT(*) AS n FROM r, s WHERE r.name = s.name GROUP BY r.name "
    "ORDER BY n DESC LIMIT 10",
)


def best_groups(sql: str, groups: int, **options: Any) -> int:
    """What it costs that groups change, and that the first of them are read after each change."""
    db = freshview.connect(engine="native", profile=True, **options)
    db.execute(f"{STREAMS} CREATE VIEW best AS {sql}")
    db.insert("s", [(f"row {i}",) for i in range(groups)])
    db.insert("r", [(i % groups, i * 7919 % 1009, f"row {i % groups}") for i in range(3 * groups)])
    db.view("best").rows()  # the first read after a load puts the groups in order
    before = db.view("best").work
    for i in range(10):
        db.insert("r", [(i * 37 % groups, 5000, f"row {i * 37 % groups}")])
        assert len(db.view("best").rows()) == 10
    return db.view("best").work - before


@pytest.mark.parametrize("sql", BEST)
def test_first_groups_by_an_aggregate(sql: str) -> None:
    """With their rows in order a read costs the same at any number of groups."""
    few, many = (best_groups(sql, groups) for groups in (1000, 100_000))
    assert many <= LOGARITHM * few
    few, many = (best_groups(sql, n, switches={"moves": False}) for n in (100, 1000))
    assert many > 5 * few


def test_a_scan_is_named() -> None:
    """A kernel says which of its statements walk through all the data."""
    c = case("tpch_papers", "q03")
    kernel = write(compiled(c, DeltaOptions(depth=0)), c.catalog.functions)
    assert kernel.deferred == ("q03", "q03_2")


def test_a_join_by_a_range_walks_through_the_range() -> None:
    """A moving average, by a join of a daily view with itself: a day costs what its week does."""
    days = {mode: [_moving(mode, n) for n in (300, 1200)] for mode in get_args(ModeChoice)}
    for mode, (few, many) in days.items():
        assert many < 4 * LOGARITHM * few, mode
        assert many < 200 * 6 * 1200, mode


def _moving(mode: ModeChoice, days: int) -> int:
    db = freshview.connect(engine="native", mode=mode, profile=True)
    db.execute(MOVING)
    for day in range(0, days, 10):
        db.insert("sales", [(day + i, n) for i in range(10) for n in range(6)])
    return db.view("moving").work


MOVING = """
CREATE STREAM sales (day INT NOT NULL, amount INT NOT NULL);
CREATE VIEW daily AS SELECT day, SUM(amount) AS total FROM sales GROUP BY day;
CREATE VIEW moving AS SELECT a.day, AVG(b.total) AS mean FROM daily a, daily b
  WHERE b.day BETWEEN a.day - 6 AND a.day GROUP BY a.day;
"""
