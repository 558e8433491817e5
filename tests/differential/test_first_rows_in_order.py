"""First rows by an aggregate: kept in order, they are DuckDB's after every batch."""

from __future__ import annotations

import random
from typing import Any

import pytest

from freshview.calculus.functions import Functions
from freshview.calculus.terms import Top, View
from freshview.calculus.walk import distinct_subterms
from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.codegen.options import KernelPasses
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.engine import added
from freshview.program.terms import Program
from freshview.program.updates import Mode
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load
from tests.differential.sql_cases import SCHEMA
from tests.differential.streams import STATIC, Script, agree
from tests.thin import thin

CASES = [
    "SELECT a, SUM(c) AS t FROM r GROUP BY a ORDER BY t DESC, a LIMIT 2",
    "SELECT a, SUM(b) AS t FROM r GROUP BY a ORDER BY t, a LIMIT 3",
    "SELECT a, SUM(b) AS t FROM r GROUP BY a ORDER BY t DESC NULLS LAST, a DESC LIMIT 2",
    "SELECT a, b, COUNT(*) AS n FROM r GROUP BY a, b ORDER BY n DESC, a, b LIMIT 3",
    "SELECT a, AVG(c) AS m FROM r GROUP BY a ORDER BY m DESC, a LIMIT 2",
    "SELECT a, MAX(c) AS m, SUM(c) AS t FROM r GROUP BY a ORDER BY m, t DESC, a LIMIT 2",
    "SELECT a, SUM(c) AS t FROM r GROUP BY a HAVING COUNT(*) > 1 ORDER BY t DESC, a LIMIT 2",
    "SELECT a, SUM(price) AS t FROM t GROUP BY a ORDER BY t DESC, a LIMIT 2",
    "SELECT name, COUNT(*) AS n FROM t GROUP BY name ORDER BY n DESC, name LIMIT 2",
    "SELECT r.a, SUM(c * d) AS t FROM r, s WHERE r.a = s.a GROUP BY r.a ORDER BY t DESC, 1 LIMIT 2",
    "SELECT a, SUM(w) AS t FROM t GROUP BY a ORDER BY t DESC, a LIMIT 2",
]
DOUBLES = CASES[-1:]


def kernel(program: Program, functions: Functions) -> KernelEngine:
    return kernel_engine(program, functions, Flags(optimize=0))


def is_ordered(sql: str) -> bool:
    """Whether a read takes the first rows off a map."""
    catalog, queries = load(f"{SCHEMA};{sql}")
    options = DeltaOptions(ordered=True)
    program = compile_queries(queries, list(catalog.relations.values()), options)
    [top] = [e for e in distinct_subterms(program.queries[0].term) if isinstance(e, Top)]
    return isinstance(top.body, View)


@pytest.mark.parametrize("sql", CASES)
def test_what_is_kept_in_order(sql: str) -> None:
    """All but sums of doubles, which are not the same bits however they come about."""
    assert is_ordered(sql) == (sql not in DOUBLES)


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("sql", CASES)
def test_first_rows_follow_their_tables(sql: str, mode: Mode) -> None:
    for n, variant in enumerate(STATIC):
        agree(Script(sql), variant, "ordered", mode, seed=(sql, n), batches=10)


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("sql", thin(CASES, 3))
def test_kernels_follow_their_tables(sql: str, mode: Mode) -> None:
    for n in range(3):
        agree(Script(sql), "all change", "ordered", mode, seed=n, batches=25, start=kernel)


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("sql", [CASES[i] for i in (0, 1, 4, 6)])
def test_orders_that_follow_later_are_those_that_follow_at_once(sql: str) -> None:
    """Whenever they are read, from all the records or from a few, and after a snapshot."""
    catalog, queries = load(f"{SCHEMA};{sql}")
    options = DeltaOptions(ordered=True, mode="tuple")
    program = compile_queries(queries, list(catalog.relations.values()), options)
    later, at_once = (
        kernel_engine(
            program, catalog.functions, Flags(optimize=0), passes=KernelPasses(listings=on)
        )
        for on in (True, False)
    )
    engines = (later, at_once)
    rng = random.Random(sql)
    rows: list[tuple[Any, ...]] = []
    name = program.queries[0].name
    summed: dict[Any, Any] = {}
    for step in range(40):
        count = rng.choice((1, 3, 40, 4000 if step % 10 == 3 else 5))
        new = [
            (rng.choice((None, *range(2500))), rng.choice((None, 1, 5)), rng.randrange(9) - 3)
            for _ in range(count)
        ]
        gone = [rows.pop(rng.randrange(len(rows))) for _ in range(min(len(rows), count // 2))]
        rows += new
        changes = [*((row, 1) for row in new), *((row, -1) for row in gone)]
        for engine in engines:
            engine.apply({"r": changes})
        if step == 25:
            snapshot = later.snapshot()
            later.apply({"r": [(row, -1) for row in rows]})
            assert later.read(name) == {}
            later.restore(snapshot)
        if rng.random() < 0.5 or step > 36:
            assert later.read(name) == at_once.read(name)
            assert {m.name: later.contents(m.name) for m in program.maps} == {
                m.name: at_once.contents(m.name) for m in program.maps
            }
        if step > 15 and rng.random() < 0.3:
            summed = added(summed, later.changes(name).items())
            assert summed == at_once.read(name)
