"""What the statements of a batch have in common is computed once."""

from __future__ import annotations

from freshview.calculus.terms import View
from freshview.calculus.text import read, show
from freshview.codegen.kernel.source import emit
from freshview.codegen.lower.stage import stage
from freshview.codegen.options import KernelPasses
from freshview.program.terms import Statement
from tests.native.test_cofactor import program

LOW = "Sum[a, b]((DELTA R)(a, b, x) * V1[b])"
HIGH = f"Sum[a]({LOW} * W[a, b])"


def statement(target: str, term: str) -> Statement:
    view = read(target)
    assert isinstance(view, View)
    return Statement(view, "+=", read(term))


def test_a_level_reads_the_one_below_it() -> None:
    statements = [
        statement("Q[]", f"Sum[]({HIGH} * U[a])"),
        statement("V2[a]", HIGH),
        statement("V0[c, d]", "Sum[c, d]((DELTA R)(c, d, y) * V1[d])"),
    ]
    tables, staged = stage(statements)
    assert [(t.name, show(t.term)) for t in tables] == [
        ("level0", LOW),
        ("level1", "Sum[a](level0[a, b] * W[a, b])"),
    ]
    assert [show(s.term) for s in staged] == [
        "Sum[](level1[a] * U[a])",
        "level1[a]",
        "level0[c, d]",
    ]


def test_what_stands_once_is_left_where_it_is() -> None:
    statements = [statement("V2[a]", HIGH)]
    assert stage(statements) == ([], statements)


def test_kernels_of_cofactors_go_level_by_level() -> None:
    p = program("", "ABCDE")
    assert "level0" in emit(p)
    assert "level0" not in emit(p, passes=KernelPasses(stage=False))


def test_a_sum_that_meets_rows_of_its_own_becomes_a_table() -> None:
    left, right = "Sum[a]((DELTA R)(a, b) * V1[b, a])", "Sum[d](Aside[c] * V2[c, d])"
    tables, [staged] = stage([statement("Q[a, d]", f"{left} * {right}")], shared=False)
    assert [show(t.term) for t in tables] == [left, right]
    assert show(staged.term) == "level0[a] * level1[d]"


def test_what_is_looked_up_stays_where_it_is() -> None:
    for term in (
        "Sum[a](Sum[a, b]((DELTA R)(a, b, x) * V1[b]) * W[a, b])",  # nothing is bound beside it
        "Sum[a, c]((DELTA R)(a, b) * Sum[a, c](V1[a, x] * V2[x, c]))",  # found by what comes
        "Sum[a, c](Sum[a, b]((DELTA R)(a, b, x)) * W[b, c])",  # no join inside
    ):
        tables, [staged] = stage([statement("Q[a]", term)], shared=False)
        assert tables == []
        assert show(staged.term) == term


def test_a_sum_over_what_an_earlier_statement_writes_stays_in_its_place() -> None:
    part = "Sum[a, b](Part[a, x] * V1[x, b])"
    statements = [
        statement("V[a, c]", f"{part} * W[c]"),
        statement("Part[a, b]", "(DELTA R)(a, b)"),
        statement("Q[a, c]", f"{part} * W[c]"),
    ]
    tables, (first, _, last) = stage(statements, shared=False)
    assert [show(t.term) for t in tables] == [part]
    assert show(first.term) == "level0[a, b] * W[c]"
    assert show(last.term) == f"{part} * W[c]"


def test_a_shared_sum_over_what_an_earlier_statement_writes_is_computed_where_it_stands() -> None:
    statements = [
        statement("V1[b]", "Sum[b]((DELTA R)(a, b, x))"),
        statement("Q[]", f"Sum[]({HIGH} * U[a])"),
        statement("V2[a]", HIGH),
    ]
    assert stage(statements) == ([], statements)
