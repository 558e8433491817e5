"""Intervals, casts, patterns and SQL functions: a change costs its group, whatever else there is.

What is counted are records looked at and written by kernels for single rows.
"""

from __future__ import annotations

from datetime import datetime, timedelta
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

SCHEMA = (
    "CREATE STREAM t (k INT PRIMARY KEY, a INT NOT NULL, s STRING, u TIMESTAMP, v TIMESTAMP);"
    "CREATE FUNCTION best(x INT) RETURNS BIGINT RETURN SELECT MAX(k) FROM t WHERE a = x;"
    "CREATE FUNCTION twice(x INT) RETURNS INT RETURN x * 2;"
)
QUERIES = {
    "sum of intervals": "SELECT a, SUM(v - u) AS s, AVG(v - u) AS m FROM t GROUP BY a",
    "rows of intervals": "SELECT k, v - u AS i, u + (v - u) * 2 AS w FROM t",
    "join": "SELECT x.k FROM t x JOIN t y ON x.k = y.k AND x.v - y.u > INTERVAL 1 DAY",
    "casts": "SELECT a, SUM(TRY_CAST(k AS TINYINT)) AS s FROM t GROUP BY a",
    "patterns": "SELECT a, COUNT(*) AS n FROM t WHERE s LIKE ANY ('1%', '%2') GROUP BY a",
    "rows of a list": "SELECT k FROM t WHERE (k, a) IN ((1, 1), (2, 2), (3, 3))",
    "function": "SELECT twice(a) AS x, COUNT(*) AS n FROM t GROUP BY twice(a)",
    "function that asks": "SELECT k, best(a) AS x FROM t",
}
SIZE = 8
NOON = datetime(2024, 2, 28, 12)


def row(k: int, groups: int) -> tuple[int, int, str, datetime, datetime]:
    return k, k % groups, str(k), NOON, NOON + timedelta(seconds=k % 1009 * 600)


@cache
def work_of_changes(sql: str, groups: int) -> int:
    """What rows of one group take that come and go."""
    catalog, queries = load(SCHEMA + sql)
    relations = list(catalog.relations.values())
    program = compile_queries(queries, relations, DeltaOptions(mode="tuple"))
    engine: KernelEngine = kernel_engine(program, catalog.functions, Flags(optimize=0, count=True))
    count = groups * SIZE
    engine.apply({"t": [(row(k, groups), 1) for k in range(count)]})
    before = engine.work
    for i in range(20):
        new = row(count + i * groups, groups)
        old = row(i % SIZE * groups, groups)
        for change in ((new, 1), (old, -1), (old, 1), (new, -1)):
            engine.apply({"t": [change]})
    return engine.work - before


@pytest.mark.parametrize("name", QUERIES)
def test_a_change_costs_its_group(name: str) -> None:
    """Ten times as many groups: no more work."""
    few, many = (work_of_changes(QUERIES[name], n) for n in (20, 200))
    assert many <= 1.5 * few
