"""Programs without derived maps mean the same, by the reference engine and DuckDB."""

from __future__ import annotations

import pytest

from freshview.calculus.functions import Functions
from freshview.codegen.layout.derive import derive
from freshview.ivm.options import DeltaOptions, Mode
from freshview.program.check import check_program
from freshview.program.terms import Program
from freshview.reference.engine.engine import ReferenceEngine
from tests.differential import harness

CASES = [
    *(("tpch_papers", name) for name in ("q03", "q04", "q09", "q10", "q15", "q17a", "q18")),
    *(("tpch", name) for name in ("q04", "q18", "q20")),
]


def without_derived(program: Program, functions: Functions) -> ReferenceEngine:
    return _smaller(program, functions, derive(program))


def factorised(program: Program, functions: Functions) -> ReferenceEngine:
    return _smaller(program, functions, derive(program, factorise=True))


def _smaller(program: Program, functions: Functions, smaller: Program) -> ReferenceEngine:
    assert len(smaller.maps) < len(program.maps)
    check_program(smaller, functions)
    return ReferenceEngine(smaller, functions)


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize(("workload", "name"), CASES)
def test_views_stay_the_same(workload: str, name: str, mode: Mode) -> None:
    c = harness.case(workload, name)
    options = DeltaOptions(mode=mode)
    harness.agree(c, options, seed=7, batches=12, max_size=30, live=60, start=without_derived)


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize(("workload", "name"), [("tpch_papers", "q03"), ("tpch_papers", "q10")])
def test_factorised_views_stay_the_same(workload: str, name: str, mode: Mode) -> None:
    c = harness.case(workload, name)
    harness.agree(
        c, DeltaOptions(mode=mode), seed=8, batches=12, max_size=30, live=60, start=factorised
    )
