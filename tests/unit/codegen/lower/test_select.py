"""Tests that choose the rows of a batch before anything else is done."""

from __future__ import annotations

import pytest

from freshview.calculus.text import read, show
from freshview.codegen.lower.select import shared_tests
from freshview.codegen.kernel.source import emit
from freshview.codegen.options import KernelPasses
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


def test_a_loop_without_branches_chooses_rows() -> None:
    c = case("tpch_papers", "q06")
    program = compiled(c, DeltaOptions(mode="tuple"))
    text = emit(program, c.catalog.functions)
    assert "chosen += ((c10 < i32(9131ll)) & (c10 >= i32(8766ll)) & (c4 < i64(2400ll))" in text
    assert "chosen" not in emit(program, c.catalog.functions, KernelPasses(select=False))


def test_look_ups_by_the_row_are_shared() -> None:
    c = case("tpch_papers", "q18")
    program = compiled(c, DeltaOptions(mode="tuple"))
    text = emit(program, c.catalog.functions)
    trigger = text[text.index("static void on_Lineitem") : text.index("static void on_Orders")]
    look_up = "find(e.arena, Rec_m_q18_Lineitem_2::Key{c0})"
    assert trigger.count(look_up) == 2  # for an insertion, and for a deletion
    alone = emit(program, c.catalog.functions, KernelPasses(share=False))
    assert alone.count(look_up) > 20
