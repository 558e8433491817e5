"""Tests that choose the rows of a batch before anything else is done."""

from __future__ import annotations

import pytest

from freshview.calculus.text import read, show
from freshview.codegen.kernel.source import emit
from freshview.codegen.loops.parts import Holds
from freshview.codegen.loops.terms import Batch, If
from freshview.codegen.loops.walk import statements
from freshview.codegen.lower.select import shared_tests
from freshview.codegen.options import KernelPasses
from freshview.codegen.pipeline import plan_kernel
from freshview.ivm.options import DeltaOptions
from tests.differential.harness import case, compiled


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        (["{a > 3} * R(a, x)", "{a > 3} * b"], ["{a > 3}"]),
        (["{a > 3} * R(a, x)", "b"], []),
        (["{x > 3} * R(a, x)"], []),
        (["R(a, x) * ({like(b, 'x%')} * S(x) + T(x) * {like(b, 'x%')})"], ["{like(b, 'x%')}"]),
        (["Exists(R(a, b) + {a > 3}) - Exists(R(a, b))"], ["{a > 3}"]),
        (["Exists(R(a, b) + {a > 3}) - R(a, b)"], []),
        (["Sum[](R(x, a) * {a > 3})"], []),  # this `a` is its own
        (["(x := {a > 3}) * R(b, x)"], []),
    ],
)
def test_shared_tests(terms: list[str], expected: list[str]) -> None:
    row = frozenset(("a", "b"))
    assert [show(t) for t in shared_tests([read(t) for t in terms], row)] == expected


def test_shared_tests_choose_the_rows_of_a_batch() -> None:
    c = case("tpch_papers", "q06")
    program = compiled(c, DeltaOptions(mode="tuple"))
    loops = plan_kernel(program, c.catalog.functions).loops
    [batch] = [s for f in loops.functions for s in f.body if isinstance(s, Batch) and s.body]
    tests = [show(t.value) for t in batch.tests if isinstance(t, Holds)]
    assert f"{{{batch.row}.c4 < 24}}" in tests
    assert len(tests) == 5
    assert not any(isinstance(s, If) for s in statements(batch.body))
    plain = plan_kernel(program, c.catalog.functions, KernelPasses(select=False)).loops
    assert all(not s.tests for f in plain.functions for s in f.body if isinstance(s, Batch))


def test_tests_of_the_same_column_are_made_together() -> None:
    c = case("tpch_papers", "q06")
    text = emit(compiled(c, DeltaOptions(mode="tuple")), c.catalog.functions)
    marks = [line for line in text.splitlines() if " mark<" in line]
    assert ["mark<true>" in line for line in marks] == [True, False, False]
    assert [line.count("(shipdate_1 ") + line.count("(discount_1 ") for line in marks] == [2, 2, 0]


def test_texts_are_told_apart_by_their_sizes_before_they_are_compared() -> None:
    c = case("tpch_papers", "q19")
    text = emit(compiled(c, DeltaOptions(mode="tuple")), c.catalog.functions)
    marks = [line.strip() for line in text.splitlines() if " mark_sizes<" in line]
    assert any("<true>" in line and "all_shipmode + from, 3, 7);" in line for line in marks)
    assert any("<false>" in line and "all_shipinstruct + from, 17);" in line for line in marks)
