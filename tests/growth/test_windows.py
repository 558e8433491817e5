"""Window functions: a change costs its partition, whatever others there are; first rows cost less.

Ranks and running sums look at every row of the partition once; so do LAG and frames of a few rows,
whose walk of an ordered index begins at the row at hand.

What is counted are records looked at and written by kernels for single rows.
"""

from __future__ import annotations

from functools import cache

import pytest

from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

SCHEMA = "CREATE STREAM t (k INT PRIMARY KEY, a INT NOT NULL, w INT NOT NULL);"
PARTITION = {
    "sum": "SELECT k, SUM(w) OVER (PARTITION BY a) AS x FROM t",
    "rank": "SELECT k, RANK() OVER (PARTITION BY a ORDER BY w) AS x FROM t",
    "running": "SELECT k, SUM(w) OVER (PARTITION BY a ORDER BY w) AS x FROM t",
    "lag": "SELECT k, LAG(w) OVER (PARTITION BY a ORDER BY k) AS x FROM t",
    "lag_with_ties": "SELECT k, LAG(w) OVER (PARTITION BY a ORDER BY w) AS x FROM t",
    "lead": "SELECT k, LEAD(w, 2) OVER (PARTITION BY a ORDER BY w DESC, k) AS x FROM t",
    "rows": "SELECT k, SUM(w) OVER (PARTITION BY a ORDER BY k ROWS 2 PRECEDING) AS x FROM t",
}
FIRST = "SELECT k, a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY w DESC, k) <= 3"
STATISTICS = "SELECT a, STDDEV(w) AS s, MEDIAN(w) AS m, CORR(w, k) AS c FROM t GROUP BY a"
CHANGES = 40


def row(k: int, partitions: int) -> tuple[int, int, int]:
    return k, k % partitions, k * 7919 % 1009


@cache
def work_of_changes(sql: str, partitions: int, size: int) -> int:
    """What rows of one partition take that come and go."""
    catalog, queries = load(SCHEMA + sql)
    relations = list(catalog.relations.values())
    program = compile_queries(queries, relations, DeltaOptions(mode="tuple"))
    engine: KernelEngine = kernel_engine(program, catalog.functions, Flags(optimize=0, count=True))
    count = partitions * size
    engine.apply({"t": [(row(k, partitions), 1) for k in range(count)]})
    before = engine.work
    for i in range(CHANGES):
        new = (count + i * partitions, 0, i * 31 % 1009)
        engine.apply({"t": [(new, 1)]})
        engine.apply({"t": [(row(i % size * partitions, partitions), -1)]})
        engine.apply({"t": [(row(i % size * partitions, partitions), 1)]})
        engine.apply({"t": [(new, -1)]})
    return engine.work - before


@pytest.mark.parametrize("name", PARTITION)
def test_a_change_costs_its_partition(name: str) -> None:
    """Ten times as many partitions: no more work."""
    few, many = (work_of_changes(PARTITION[name], n, 20) for n in (10, 100))
    assert many <= 1.5 * few


@pytest.mark.parametrize("name", PARTITION)
def test_a_change_costs_a_search_for_each_row_of_its_partition(name: str) -> None:
    """Five times as many rows: five times the work, and the height of the index."""
    small, large = (work_of_changes(PARTITION[name], 10, size) for size in (20, 100))
    assert large <= 5 * 1.5 * small


@pytest.mark.parametrize("sql", [FIRST, STATISTICS])
def test_a_change_costs_nothing_more_in_a_larger_partition(sql: str) -> None:
    small, large = (work_of_changes(sql, 2, size) for size in (20, 200))
    assert large <= 1.5 * small
