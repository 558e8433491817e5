"""First rows in order: a batch costs its rows, and a read the groups that changed before it.

What is counted are records looked at and written, in the table of groups and in the order.
"""

from __future__ import annotations

import pytest

from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

SQL = (
    "CREATE STREAM r (g INT NOT NULL, x INT NOT NULL);"
    "CREATE VIEW best AS SELECT g, SUM(x) AS t FROM r GROUP BY g ORDER BY t DESC LIMIT 10"
)
ROWS = 600


def started(groups: int, ordered: bool, passes: KernelPasses = USUAL_PASSES) -> KernelEngine:
    """An engine with so many groups, read once."""
    catalog, queries = load(SQL)
    options = DeltaOptions(mode="tuple", ordered=ordered)
    program = compile_queries(queries, list(catalog.relations.values()), options)
    flags = Flags(optimize=0, count=True)
    engine = kernel_engine(program, catalog.functions, flags, passes=passes)
    engine.apply({"r": [((g, g * 7919 % 1009), 1) for g in range(groups)]})
    engine.read("best")
    return engine


def batch(groups: int) -> list[tuple[tuple[int, int], int]]:
    """Rows of three groups."""
    return [((i % 3 * 31 % groups, i), 1) for i in range(ROWS)]


def work_of(engine: KernelEngine, rows: list[tuple[tuple[int, int], int]]) -> tuple[int, int]:
    """What a batch takes, and the read after it."""
    before = engine.work
    engine.apply({"r": rows})
    applied = engine.work
    engine.read("best")
    return applied - before, engine.work - applied


@pytest.mark.parametrize("groups", [1000, 30_000])
def test_a_batch_takes_what_it_takes_without_an_order(groups: int) -> None:
    with_order, _ = work_of(started(groups, True), batch(groups))
    without, _ = work_of(started(groups, False), batch(groups))
    assert with_order == without


def test_a_read_takes_the_groups_that_changed() -> None:
    """However often they did, and however many there are."""
    reads = {n: work_of(started(n, True), batch(n))[1] for n in (1000, 30_000)}
    assert reads[30_000] <= reads[1000] + 5  # the search of an end, in a higher tree
    assert reads[1000] < 40  # three groups out and in, and ten rows
    engine = started(1000, True)
    assert work_of(engine, batch(1000)[:3])[1] >= reads[1000] - 5
    before = engine.work
    engine.read("best")
    assert engine.work - before < 20  # nothing has changed


def test_at_once_every_row_pays() -> None:
    at_once = started(1000, True, KernelPasses(listings=False))
    later = started(1000, True)
    assert work_of(at_once, batch(1000))[0] > 3 * work_of(later, batch(1000))[0]
