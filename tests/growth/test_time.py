"""Windows of time, sessions and the clock: a change costs the same whatever other data there is.

What is counted are records looked at and written by kernels for single rows.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache

import pytest

from freshview.calculus.clock import CLOCK, FIRST
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

START = datetime(2024, 1, 1)
SCHEMA = (
    "CREATE STREAM r (k INT PRIMARY KEY, a INT NOT NULL, ts TIMESTAMP NOT NULL, w INT NOT NULL);"
)
OF_ROWS = {
    "window": "SELECT window.start, a, SUM(w) AS s, MAX(w) AS m, AVG(w) AS v FROM r "
    "GROUP BY window(ts, '10 minutes'), a",
    "hop": "SELECT window.start, a, COUNT(*) AS n FROM r "
    "GROUP BY window(ts, '10 minutes', '4 minutes'), a",
    "tumble": "SELECT k, window_end FROM TUMBLE(TABLE r, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
    "window_of_windows": "SELECT window, MAX(n) AS m FROM (SELECT window, a, COUNT(*) AS n FROM r "
    "GROUP BY window(ts, '10 minutes'), a) q GROUP BY window",
    "bits": "SELECT a, BIT_XOR(w) AS x FROM r GROUP BY a",
    "model": "SELECT a, REGR_MODEL(w, k) AS m FROM r GROUP BY a",
    "sessions": "SELECT session_window.start, a, COUNT(*) AS n FROM r "
    "GROUP BY session_window(ts, '2 minutes'), a",
}
"""What rows cost; keys and times grow with the data, so that groups stay as large as they are."""
OF_STEPS = {
    "recent": "SELECT k, ts FROM r WHERE ts > now() - INTERVAL 7 DAYS",
    "recent_groups": "SELECT a, COUNT(*) AS n FROM r WHERE ts > now() - INTERVAL 7 DAYS GROUP BY a",
    "arriving": "SELECT a, MAX(k) AS n FROM r WHERE ts <= now() GROUP BY a",
    "between": "SELECT k FROM r WHERE now() BETWEEN ts AND ts + INTERVAL 7 DAYS",
}
"""What a step of the clock costs that a few rows retire with, or come into force."""
CHANGES = 30


def started(sql: str) -> KernelEngine:
    catalog, queries = load(SCHEMA + sql)
    relations = list(catalog.relations.values())
    program = compile_queries(queries, relations, DeltaOptions(mode="tuple"))
    return kernel_engine(program, catalog.functions, Flags(optimize=0, count=True))


def row(i: int) -> tuple[int, int, datetime, int]:
    """A row a minute; ten of them are a group."""
    return i, i // 10, START + timedelta(minutes=i), i * 7919 % 1009


@cache
def work_of_rows(sql: str, size: int) -> int:
    engine = started(sql)
    engine.apply({"r": [(row(i), 1) for i in range(size)]})
    before = engine.work
    for i in range(0, CHANGES):
        new = (10**6 + i, i, START + timedelta(minutes=10 * i, seconds=30), i)
        engine.apply({"r": [(new, 1)]})
        engine.apply({"r": [(row(i), -1)]})
        engine.apply({"r": [(row(i), 1)]})
        engine.apply({"r": [(new, -1)]})
    return engine.work - before


@cache
def work_of_steps(sql: str, size: int) -> int:
    engine = started(sql)
    now = START + timedelta(days=7 if "DAYS" in sql else 0)
    engine.apply({CLOCK.name: [((FIRST, now), 1)]})
    engine.apply({"r": [(row(i), 1) for i in range(size)]})
    before = engine.work
    for i in range(CHANGES):
        until = now + timedelta(minutes=1)
        engine.apply({CLOCK.name: [((now, until), 1)]})
        engine.apply({"r": [((10**6 + i, 1, until, 1), 1)]})
        now = until
    return engine.work - before


@pytest.mark.parametrize("name", OF_ROWS)
def test_a_row_costs_nothing_more_among_ten_times_as_many(name: str) -> None:
    few, many = (work_of_rows(OF_ROWS[name], size) for size in (400, 4000))
    assert many <= 1.5 * few, (few, many)


@pytest.mark.parametrize("name", OF_STEPS)
def test_a_step_costs_what_it_changes(name: str) -> None:
    few, many = (work_of_steps(OF_STEPS[name], size) for size in (400, 4000))
    assert many <= 1.5 * few, (few, many)
