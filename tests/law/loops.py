"""Loops interpreted beside the reference engine: the same rows after every batch, by every pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from freshview.calculus.functions import BUILTINS, Functions
from freshview.codegen.kernel.source import emit
from freshview.codegen.layout import text as layout_text
from freshview.codegen.layout.check import check as check_layout
from freshview.codegen.layout.terms import Layout
from freshview.codegen.library.compiler import Flags
from freshview.codegen.loops.check import check
from freshview.codegen.loops.interpret.engine import Interpreter
from freshview.codegen.loops.read import read
from freshview.codegen.loops.terms import Loops
from freshview.codegen.loops.text import show
from freshview.codegen.options import KernelPasses
from freshview.codegen.pipeline import PASSES as STEPS
from freshview.codegen.pipeline import Draft, plan_kernel
from freshview.errors import FreshviewError, ProgramProblem
from freshview.program.engine import added
from freshview.program.terms import Map, Program
from freshview.reference.engine.engine import ReferenceEngine
from freshview.runtime.compile.kernel_engine import kernel_engine
from tests.differential.harness import rows as rows_of
from tests.differential.harness import same

Batches = Iterable[Sequence[tuple[str, Any]]]
"""Batches of changes: relations, each with its rows and how often they come."""

USUAL = KernelPasses()
SKIPPED = ("share_lookups", "mark_stale", "merge_tests")
"""Passes without a switch of their own."""

PASSES: dict[str, KernelPasses] = {
    "usual": USUAL,
    **{
        f.name: replace(USUAL, **{f.name: not getattr(USUAL, f.name)})
        for f in fields(USUAL)
        if f.name != "skip"
    },
    **{s.name: replace(USUAL, skip=frozenset([s.name])) for s in STEPS if s.name in SKIPPED},
}
"""The usual passes, and these with one of them turned off, or on if it is off."""


@dataclass(frozen=True)
class Case:
    """A program, the rows of its static tables, and batches of changes."""

    program: Program
    batches: Batches
    static: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    functions: Functions = BUILTINS


def plans(case: Case, names: Iterable[str] = PASSES) -> Iterator[tuple[str, Draft]]:
    """The plans that differ, by the names of the passes.

    All are well formed, or of a program that C++ cannot be written of: NotNative.
    """
    seen: list[tuple[Loops, Layout]] = []
    for name in names:
        plan = plan_kernel(case.program, case.functions, PASSES[name])
        if (plan.loops, plan.layout) in seen:
            continue
        seen.append((plan.loops, plan.layout))
        try:
            well_formed(plan, case.functions)
        except ProgramProblem as problem:
            _refuse_without_kernel(case, name)
            raise problem
        yield name, plan


def _refuse_without_kernel(case: Case, passes: str) -> None:
    """Raise NotNative where no kernel is written of a program; broken loops break that, too."""
    try:
        emit(case.program, case.functions, PASSES[passes])
    except (KeyError, ValueError, AssertionError, TypeError):
        return


def well_formed(plan: Draft, functions: Functions) -> None:
    """The text of a plan reads back, and its checkers find nothing."""
    check_layout(plan.layout)
    check(plan.loops, plan.layout, plan.program, functions)
    assert read(show(plan.loops)) == plan.loops
    assert layout_text.read(layout_text.show(plan.layout)) == plan.layout


def agree(case: Case, names: Iterable[str] = PASSES) -> int:
    """Queries and maps of every plan are those of the reference engine; how many plans there were.

    What the reference engine refuses, the loops refuse, or the query that would show it.
    """
    reference = ReferenceEngine(case.program, case.functions)
    engines = {
        name: Interpreter(plan.program, plan.layout, plan.loops, case.functions)
        for name, plan in plans(case, names)
    }
    for engine in (reference, *engines.values()):
        engine.load(case.static)
    summed: dict[str, Any] = {}
    for number, batch in enumerate(((), *case.batches)):
        for relation, changes in batch:
            refused = _refuses(reference, relation, changes)
            for name, engine in engines.items():
                also = _refuses(engine, relation, changes)
                assert also == refused or refused, f"{name}, batch {number}: refused {changes}"
        _same_rows(reference, engines, number)
        for name, engine in engines.items():
            _changes_add_up(engine, case.program, summed, f"{name}, batch {number}")
    return len(engines)


def _changes_add_up(engine: Any, program: Program, summed: dict[str, Any], where: str) -> None:
    """What an engine has told of a query since the beginning is the query, after every batch.

    `summed` has it, by engines (which `where` begins with) and queries.
    """
    for q in program.queries:
        of = f"{where.partition(',')[0]} {q.name}"
        delta = engine.changes(q.name)
        assert all(delta.values()), f"{where}: {q.name} has rows that did not change: {delta}"
        summed[of] = added(summed.get(of, {}), delta.items())
        rows = engine.read(q.name)
        assert summed[of] == rows, _difference(f"changes of {q.name}", where, 0, summed[of], rows)


def kernel_agrees(case: Case, passes: str) -> None:
    """Queries of the kernel are those of the reference engine, sums of doubles but for rounding."""
    reference = ReferenceEngine(case.program, case.functions)
    kernel = kernel_engine(case.program, case.functions, Flags(optimize=0), passes=PASSES[passes])
    for engine in (reference, kernel):
        engine.load(case.static)
    summed: dict[str, Any] = {}
    for number, batch in enumerate(((), *case.batches)):
        for relation, changes in batch:
            assert _refuses(kernel, relation, changes) == _refuses(reference, relation, changes)
        for q in case.program.queries:
            there = Counter({row: n for row, n in rows_of(reference, q.name).items() if n > 0})
            rows = rows_of(kernel, q.name)
            assert same(rows, there), _difference(q.name, f"{passes}, kernel", number, rows, there)
        _changes_add_up(kernel, case.program, summed, f"{passes}, batch {number}")


def _refuses(engine: Any, relation: str, changes: Any) -> bool:
    try:
        engine.apply({relation: changes})
    except FreshviewError:
        return True
    return False


def _same_rows(reference: ReferenceEngine, engines: Mapping[str, Interpreter], number: int) -> None:
    for q in reference.engine.program.queries:
        expected = {row: n for row, n in reference.read(q.name).items() if n > 0}
        for name, engine in engines.items():
            rows = engine.read(q.name)
            assert rows == expected, _difference(f"query {q.name}", name, number, rows, expected)
            _same_lookups(engine, q.name, expected, f"{name}, batch {number}")
    for m in _compared_maps(reference.engine.program):
        expected = reference.contents(m.name)
        for name, engine in engines.items():
            if m.name in engine.layout.places:
                rows = engine.contents(m.name)
                wanted = expected
                if m.inputs:
                    rows, wanted = _asked_of_both(reference, engine, m)
                assert rows == wanted, _difference(f"map {m.name}", name, number, rows, wanted)


def _compared_maps(program: Program) -> list[Map]:
    """Not those that tell which row of a batch came last: engines take rows in their own order."""
    by_row = any(t.event != "batch" for t in program.triggers)
    return [m for m in program.maps if not (by_row and m.is_change)]


def _asked_of_both(reference: ReferenceEngine, engine: Interpreter, m: Map) -> tuple[Any, Any]:
    """The rows of a cache for what both were asked: engines test conditions in their own order."""
    copies = reference.engine.stores.caches[m.name].stores
    asked = copies.keys() & engine.contents(f"{m.name}_asked").keys()
    n = len(m.inputs)
    both = (engine.contents(m.name), reference.contents(m.name))
    one, other = ({r: x for r, x in rows.items() if r[:n] in asked} for rows in both)
    return one, other


def _same_lookups(engine: Interpreter, query: str, expected: Any, where: str) -> None:
    """The rows of each key are those of the whole answer that have it."""
    columns = engine.lookup_columns(query)
    for row in list(expected)[:3] if columns else ():
        key = {j: row[j] for j in columns}
        wanted = {r: n for r, n in expected.items() if all(r[j] == x for j, x in key.items())}
        assert engine.find(query, key) == wanted, f"{where}: rows of {key} in {query}"


def _difference(what: str, passes: str, number: int, rows: Any, expected: Any) -> str:
    more = {row: n for row, n in rows.items() if expected.get(row) != n}
    less = {row: n for row, n in expected.items() if rows.get(row) != n}
    return f"{what}, passes '{passes}', batch {number}: {more} instead of {less}"
