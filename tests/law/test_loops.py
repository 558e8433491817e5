"""Loops mean what the program means: interpreted, they give the reference engine's rows.

For the usual passes and with each of them switched one at a time; texts read back, checkers find
nothing. `python -m tests.law.loops_many sql 0 2000` runs many more programs.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from freshview.calculus.terms import Expr
from freshview.codegen.library.compiler import find_compiler
from freshview.errors import NotNative, TypeProblem
from freshview.ivm.options import Mode
from tests.differential import harness
from tests.law.examples import examples
from tests.law.loops import PASSES, Case, agree, kernel_agrees
from tests.law.loops_many import KINDS
from tests.law.programs import recompute
from tests.law.strategies import RELATIONS, deltas, terms
from tests.thin import full, only, thin

changes = st.lists(
    st.sampled_from(sorted(RELATIONS)).flatmap(lambda name: st.tuples(st.just(name), deltas(name))),
    max_size=3,
)


@examples(200)
@given(terms(), changes, st.booleans(), st.sampled_from(sorted(PASSES)))
def test_random_terms(e: Expr, steps: list[tuple[str, dict]], batches: bool, passes: str) -> None:
    try:
        program = recompute(e, batches=batches)
        agree(Case(program, [[step] for step in steps]), ("usual", passes))
    except (TypeProblem, NotNative):
        assume(False)


FAILED = (("world", 26), ("sql", 100413), ("caches", 100000))
"""Seeds of a text that did not read back (constants of both widths stood in it), of a map that
lost a row where declared keys are relied on (its old row of a key was written after the new one),
and of a view cache whose key had the name of a parameter, so that it was filled for one value."""


@pytest.mark.parametrize(
    ("kind", "seed"), [*thin([(kind, s) for s in range(60) for kind in KINDS], 24), *FAILED]
)
def test_random_views(kind: str, seed: int) -> None:
    try:
        agree(KINDS[kind](seed))
    except NotNative as e:
        pytest.skip(str(e))


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize(
    ("kind", "seed"), [("caches", 100007), full(("caches", 100028)), ("world", 100354)]
)
def test_kernels_that_once_took_null_for_a_value(kind: str, seed: int) -> None:
    """A view cache asked with NULL, and rows that were told though their view leaves NULL out."""
    kernel_agrees(KINDS[kind](seed), "usual")


MODES: tuple[Mode, ...] = ("batch", "tuple")
QUICK = ("q03", "q18a", "vwap", "mst", "axf", "mddb1", "d34", "r_units", "h_sum")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("workload", "name"), only(harness.cases(), lambda case: case[1] in QUICK))
def test_workload(workload: str, name: str, mode: Mode) -> None:
    c = harness.case(workload, name)
    program = harness.compiled(c, replace(harness.STRATEGIES["higher-order"], mode=mode))
    stream = c.workload.stream(seed=21, batches=4, max_size=30, live=60)
    batches = [harness.grouped(batch) for batch in stream]
    case = Case(program, batches, c.workload.tables(seed=21), c.catalog.functions)
    agree(case, ("usual", "keys"))


@pytest.mark.full
@pytest.mark.parametrize("turned", PASSES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("workload", "name"), harness.cases())
def test_workload_by_every_pass(workload: str, name: str, mode: Mode, turned: str) -> None:
    c = harness.case(workload, name)
    program = harness.compiled(c, replace(harness.STRATEGIES["higher-order"], mode=mode))
    stream = c.workload.stream(seed=22, batches=5, max_size=60, live=100)
    batches = [harness.grouped(batch) for batch in stream]
    agree(Case(program, batches, c.workload.tables(seed=22), c.catalog.functions), (turned,))
