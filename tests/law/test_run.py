"""The engine keeps every map equal to its definition, batch by batch and row by row."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from freshview.calculus.terms import Expr
from freshview.errors import TypeProblem
from freshview.program.check import check_program
from freshview.program.terms import Program
from freshview.reference.engine.run import Engine
from freshview.reference.oracle.evaluate import Database, evaluate
from tests.law.examples import examples
from tests.law.programs import recompute
from tests.law.strategies import RELATIONS, deltas, terms, updated

changes = st.lists(
    st.sampled_from(sorted(RELATIONS)).flatmap(lambda name: st.tuples(st.just(name), deltas(name))),
    max_size=4,
)


def program_of(e: Expr, batches: bool) -> Program:
    try:
        return recompute(e, batches=batches)
    except TypeProblem:
        assume(False)
        raise


@examples(300)
@given(terms(), changes, st.booleans())
def test_a_recomputed_view_is_its_definition(
    e: Expr, steps: list[tuple[str, dict]], batches: bool
) -> None:
    program = program_of(e, batches)
    check_program(program)
    engine = Engine(program)
    data: dict[str, dict] = {name: {} for name in RELATIONS}
    assert engine.read("q") == evaluate(e, Database(data))
    for name, change in steps:
        engine.apply(name, change)
        data[name] = updated(data[name], change)
        assert engine.read("q") == evaluate(e, Database(data))


@settings(max_examples=50)
@given(terms(depth=2), changes, changes)
def test_a_snapshot_brings_back_what_was(
    e: Expr, before: list[tuple[str, dict]], after: list[tuple[str, dict]]
) -> None:
    engine = Engine(program_of(e, batches=True))
    engine.load()
    for name, change in before:
        engine.apply(name, change)
    then, seen = engine.snapshot(), engine.read("q")
    for name, change in after:
        engine.apply(name, change)
    engine.restore(then)
    assert engine.read("q") == seen
    assert engine.snapshot() == then
