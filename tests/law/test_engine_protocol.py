"""The contract of engines: whatever runs a program does the same behind the same calls."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from freshview.calculus.functions import Functions
from freshview.codegen.library import engine as engine_module
from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.codegen.loops.interpret.engine import Interpreter
from freshview.codegen.pipeline import plan_kernel
from freshview.distributed import simulate
from freshview.distributed.compile import distribute
from freshview.distributed.simulate import Simulation
from freshview.errors import BadRow, BadValue, FreshviewError, Overflow, SnapshotProblem, StateLost
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import Mode
from freshview.program.engine import Batch, ProgramEngine
from freshview.program.terms import Program
from freshview.reference.engine.engine import ReferenceEngine
from freshview.reference.engine.statements import compile_statement
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load
from tests.differential.harness import STRATEGIES, Start, grouped, rows, same
from tests.differential.streams import random_stream, schema

AnyEngine = ProgramEngine[Any]

SCRIPTS = {
    "groups": "SELECT r.a, COUNT(*) AS n, SUM(r.c * s.d) AS total FROM r, s WHERE r.a = s.a "
    "GROUP BY r.a",
    "total": "SELECT SUM(c) AS total, COUNT(*) AS n FROM r",
    "extremes": "SELECT r.a, MIN(s.d) AS low, MAX(r.b) AS high FROM r, s WHERE r.a = s.a "
    "GROUP BY r.a",
    "types": "SELECT name, day, SUM(price) AS price, SUM(w) AS w FROM t GROUP BY name, day",
    "static": "SELECT u.f, SUM(r.c) AS c FROM r, u WHERE r.a = u.a GROUP BY u.f",
    "nested": "SELECT a, c FROM r WHERE c > (SELECT SUM(d) FROM s) OR NOT EXISTS "
    "(SELECT 1 FROM s WHERE s.a = r.a)",
    "bag": "SELECT r.a, s.d FROM r LEFT JOIN s ON r.a = s.a",
}
OTHER = "SELECT a, SUM(c * c) AS other FROM r GROUP BY a"


def interpreter(program: Program, functions: Functions) -> Interpreter:
    plan = plan_kernel(program, functions)
    return Interpreter(plan.program, plan.layout, plan.loops, functions)


def kernel(program: Program, functions: Functions) -> KernelEngine:
    return kernel_engine(program, functions, Flags(optimize=0))


def simulation(program: Program, functions: Functions) -> Simulation:
    return Simulation(distribute(program, functions=functions), 3, functions)


WITHOUT = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
ENGINES = [
    pytest.param(ReferenceEngine, id="reference"),
    pytest.param(kernel, id="kernel", marks=[pytest.mark.native, WITHOUT]),
    pytest.param(interpreter, id="loops"),
    pytest.param(simulation, id="simulation"),
]
MODES: tuple[Mode, ...] = ("batch", "tuple")


@dataclass(frozen=True)
class Case:
    """A program with one query, the rows of its static tables, and batches that it reads."""

    program: Program
    functions: Functions
    tables: dict[str, Any]
    batches: list[Batch]

    @property
    def query(self) -> str:
        return self.program.queries[0].name

    def start(self, make: Start) -> AnyEngine:
        engine = make(self.program, self.functions)
        engine.load(self.tables)
        return engine


@cache
def case(sql: str, mode: Mode) -> Case:
    catalog, queries = load(sql, catalog=schema(), default_name="query")
    relations = list(catalog.relations.values())
    options = replace(STRATEGIES["higher-order"], mode=mode)
    program = compile_queries(queries, relations, options, catalog.functions)
    stream = random_stream(catalog, random.Random(sql), 8)
    read = {t.relation for t in program.triggers} | {r.name for r in program.relations if r.static}
    tables = {n: [row for row, _ in rows] for n, rows in grouped(list(stream.static)) if n in read}
    batches = [dict(grouped([e for e in batch if e[0] in read])) for batch in stream.batches]
    return Case(program, catalog.functions, tables, [b for b in batches if b])


def cases() -> Iterator[Any]:
    for name, sql in SCRIPTS.items():
        for engine in ENGINES:
            for mode in MODES if engine.id != "simulation" else MODES[:1]:
                marks = engine.marks
                yield pytest.param(
                    engine.values[0], sql, mode, id=f"{engine.id}-{name}-{mode}", marks=marks
                )


def added(total: Counter[Any], delta: dict[Any, Any]) -> Counter[Any]:
    for row, m in delta.items():
        assert m, f"{row} did not change"
        total[row] += m
    return Counter({row: m for row, m in total.items() if m})


@pytest.mark.parametrize(("make", "sql", "mode"), list(cases()))
def test_rows_and_changes_follow_every_batch(make: Start, sql: str, mode: Mode) -> None:
    c = case(sql, mode)
    engine, reference = c.start(make), c.start(ReferenceEngine)
    summed: Counter[Any] = Counter()
    for number, batch in enumerate([{}, *c.batches]):
        if batch:
            engine.apply(batch)
            reference.apply(batch)
        wanted, actual = rows(reference, c.query), rows(engine, c.query)
        assert same(actual, wanted), f"batch {number}: {actual - wanted} != {wanted - actual}"
        if number % 3 != 1:  # some answers are of two batches
            summed = added(summed, engine.changes(c.query))
            assert summed == engine.read(c.query)
            assert engine.changes(c.query) == {}


@pytest.mark.parametrize(("make", "sql", "mode"), list(cases()))
def test_a_new_engine_goes_on_from_a_snapshot(make: Start, sql: str, mode: Mode) -> None:
    c = case(sql, mode)
    engine, half = c.start(make), len(c.batches) // 2
    for batch in c.batches[:half]:
        engine.apply(batch)
    then, snapshot = engine.read(c.query), engine.snapshot()
    other = make(c.program, c.functions)
    other.restore(snapshot)
    assert other.read(c.query) == then
    assert other.changes(c.query) == then, "nothing was told of it so far"
    for batch in c.batches[half:]:
        engine.apply(batch)
        other.apply(batch)
        assert other.read(c.query) == engine.read(c.query)
    summed = added(Counter(then), other.changes(c.query))
    assert summed == other.read(c.query)
    engine.restore(snapshot)
    assert engine.read(c.query) == then, "later changes have touched the snapshot"


GOOD: Batch = {"r": [((1, 2, 3), 1), ((2, 2, 5), 1)], "s": [((1, 4, None), 2), ((2, 1, 1), 1)]}
REFUSED: dict[str, Batch] = {
    "a text": {"r": [((1, 2, 9), 1)], "s": [((1, "four", 0), 1)]},
    "null": {"s": [((1, 9, 0), 1)], "r": [((1, 2, 3), 1), ((1, 2, None), 1)]},
    "too short": {"s": [((1, 9, 0), 1)], "r": [((1, 2), 1)]},
    "unknown": {"r": [((1, 2, 9), 1)], "nowhere": [((1,), 1)]},
    "too large": {"s": [((1, 2, 0), 1)], "r": [((1, 1, 2**62), 1)]},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("make", ENGINES)
def test_a_refused_batch_changes_nothing(make: Start, name: str, mode: Mode) -> None:
    if make is simulation and (mode == "tuple" or name == "too large"):
        pytest.skip("it runs batches, over numbers of any size")
    c = case(SCRIPTS["groups"], mode)
    engine = c.start(make)
    engine.apply(GOOD)
    shown = engine.changes(c.query)
    engine.apply({"r": [((1, 0, 7), 1)]})
    then, before = engine.read(c.query), engine.snapshot()
    with pytest.raises((Overflow, BadRow) if name == "too large" else FreshviewError):
        engine.apply(REFUSED[name])
    assert engine.read(c.query) == then
    assert added(Counter(shown), engine.changes(c.query)) == then
    for snapshot in (before, engine.snapshot()):
        other = make(c.program, c.functions)
        other.restore(snapshot)
        assert other.read(c.query) == then
        for each in (other, engine):  # whatever is left of the batch would show now
            each.apply({"r": [((1, 0, 1), 1)], "s": [((2, 0, 2), 1), ((1, 4, None), -1)]})
        assert other.read(c.query) == engine.read(c.query)
        engine.restore(before)


CAST = (
    "SELECT r.a, SUM(r.c + CAST(t.name AS BIGINT)) AS total FROM r, t WHERE r.a = t.a GROUP BY r.a"
)


@pytest.mark.parametrize("make", ENGINES)
def test_a_value_without_an_answer_changes_nothing(make: Start) -> None:
    """It shows only while triggers run, when those of another relation have run already."""
    c = case(CAST, "batch")
    engine = make(c.program, c.functions)
    product, other = ((1, 1, "5", None, None, 0.5, None), (2, 1, "five", None, None, 0.5, None))
    engine.apply({"r": [((1, 2, 3), 1)], "t": [(product, 1)]})
    then = engine.changes(c.query)
    assert then == {(1, 8): 1}
    for relations in (("r", "t"), ("t", "r")):
        batch: dict[str, Any] = {"r": [((1, 2, 4), 1)], "t": [(other, 1)]}
        with pytest.raises(BadValue, match="five"):
            engine.apply({name: batch[name] for name in relations})
        assert engine.read(c.query) == then
        assert engine.changes(c.query) == {}
    engine.apply({"r": [((1, 0, 1), 1)]})
    assert engine.changes(c.query) == {(1, 8): -1, (1, 14): 1}


TURNED: Batch = {
    "r": [((2, 1, -(2**62)), 1), ((3, 1, 2**62), 1)],
    "s": [((1, 2), 1)],
}
"""Rows that leave the range of a sum if they go in the order that they came, and one too short."""


@WITHOUT
@pytest.mark.native
def test_a_kernel_goes_back_by_the_way_that_it_came() -> None:
    c = case(SCRIPTS["total"], "tuple")
    engine = kernel(c.program, c.functions)
    engine.apply({"r": [((1, 1, 2**62), 1)]})
    with pytest.raises(BadRow):
        engine.apply(TURNED)
    assert not engine.instance.wrapped
    assert engine.read(c.query) == {(2**62, 1): 1}


@WITHOUT
@pytest.mark.native
@pytest.mark.parametrize("wide", [False, True])
def test_a_kernel_wraps_on_the_way_back(monkeypatch: pytest.MonkeyPatch, wide: bool) -> None:
    """In another order than they came, rows leave the range; where that loses digits it is told."""
    monkeypatch.setattr(KernelEngine, "_mixes_widths", lambda engine: wide)
    monkeypatch.setattr(
        engine_module._Part,
        "take_back",
        lambda part, instance: instance.apply_rows(part.relation, part.rows, part.counts, -1),
    )
    c = case(SCRIPTS["total"], "tuple")
    engine = kernel(c.program, c.functions)
    engine.apply({"r": [((1, 1, 2**62), 1)]})
    with pytest.raises(StateLost if wide else BadRow):
        engine.apply(TURNED)
    assert engine.instance.wrapped
    assert engine.read(c.query) == {(2**62, 1): 1}


def test_a_simulation_that_fails_anywhere_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    c = case(SCRIPTS["groups"], "batch")
    engine = simulation(c.program, c.functions)
    engine.apply(GOOD)
    before, written = engine.snapshot(), 0

    def failing(*args: Any) -> Any:
        nonlocal left
        left -= 1
        if not left:
            raise FreshviewError("a statement failed")
        return compile_statement(*args)

    monkeypatch.setattr(simulate, "compile_statement", failing)
    for place in range(1, 1000):
        left = place
        try:
            engine.apply(GOOD)
        except FreshviewError:
            assert engine.snapshot() == before, f"statement {place}"
            written = place
        else:
            break
    assert written > 10
    assert engine.snapshot() != before


@pytest.mark.parametrize("make", ENGINES)
def test_a_snapshot_of_another_program_is_refused(make: Start) -> None:
    c, other = case(SCRIPTS["groups"], "batch"), case(OTHER, "batch")
    engine, stranger = c.start(make), other.start(make)
    engine.apply(GOOD)
    then = engine.read(c.query)
    with pytest.raises(SnapshotProblem, match="this is a snapshot of another program"):
        engine.restore(stranger.snapshot())
    assert engine.read(c.query) == then
