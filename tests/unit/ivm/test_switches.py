"""The switches of the papers' compilers, each on the smallest query that shows it."""

from __future__ import annotations

import pytest

from freshview.calculus.text import show
from freshview.program.terms import Program
from tests.unit.ivm.test_materialize import program, statements

PATH = "Sum[](R(a, b) * S(b, c) * T(c, d))"
BELOW = "Sum[](U(a) * (x := Sum[](R(c, b) * b)) * {a < x})"
"""The nested query is not correlated: the rule of thumb recomputes when R changes."""

BESIDE = "Sum[](U(a) * (x := Sum[a](V(a, y) * R(b, c))) * {3 < x})"
"""A change of R binds no a, which V does."""


def definitions(p: Program) -> list[str]:
    return [show(m.definition) for m in p.maps]


def recomputes(p: Program) -> set[tuple[str, str]]:
    """The maps that are recomputed, and for which relation."""
    return {(s.target.name, t.relation) for t in p.triggers for s in t.statements if s.op == ":="}


def test_depth_0_re_evaluates_over_base_relations() -> None:
    p = program(PATH, depth=0)
    assert recomputes(p) == {("Q", "R"), ("Q", "S"), ("Q", "T")}
    assert definitions(p)[1:] == ["R(a, b)", "S(b, c)", "T(c, d)"]


def test_depth_1_joins_a_change_with_base_relations() -> None:
    p = program(PATH, depth=1)
    assert recomputes(p) == set()
    assert sorted(definitions(p)[1:]) == ["R(a, b)", "S(b, c)", "T(c, d)"]


def test_depth_2_keeps_the_maps_of_first_deltas() -> None:
    p = program(PATH, depth=2)
    assert "Sum[b](S(b, c) * T(c, d))" in definitions(p)
    assert "S(b, c)" in definitions(p)
    assert "T(c, d)" in definitions(p)
    assert "T(c, d)" not in definitions(program(PATH))


def test_without_decomposition_a_delta_is_one_map() -> None:
    p = program(PATH, mode="tuple", decompose=False)
    assert statements(p, "insert", "S")[0] == "Q[] += Q_S[d_b, d_c]"
    assert "Sum[b, c](R(a, b) * T(c, d))" in definitions(p)
    assert "Sum[b, c](R(a, b) * T(c, d))" not in definitions(program(PATH, mode="tuple"))


def test_without_decomposition_a_test_stays_with_the_parts_that_it_compares() -> None:
    text = "Sum[a, d](R(a, b) * S(b, c) * T(c, d) * V(x, y) * {y <> d} * {x = a})"
    assert any("T(" in d and "V(" in d for d in definitions(program(text, decompose=False))[1:])
    assert not any("T(" in d and "V(" in d for d in definitions(program(text))[1:])


def test_always_update_takes_the_delta_that_the_rule_of_thumb_does_not() -> None:
    assert recomputes(program(BELOW)) == {("Q", "R")}
    p = program(BELOW, always_update=True)
    assert recomputes(p) == set()
    assert p.notes == ()
    assert any(s.startswith("Q[] += Sum[](Q_R[a] * (") for s in statements(p, "batch", "R"))


def test_a_relation_of_low_cardinality_bounds_a_change() -> None:
    assert recomputes(program(BESIDE)) == {("Q", "R")}
    p = program(BESIDE, low_cardinality=frozenset("V"))
    assert recomputes(p) == set()
    assert "U(a) * Exists(Sum[a](V(a, y)))" in definitions(p)


def test_a_domain_is_joined_with_relations_of_low_cardinality() -> None:
    text = "Sum[](U(a) * (x := Sum[a](R(a, b) * V(b, y))) * {3 < x})"
    joined = "Q[] += Sum[](Exists(Sum[a](Exists((DELTA R)(a, b_d)) * Q_R_2[b_d])) * "
    p = program(text, low_cardinality=frozenset("V"))
    assert statements(p, "batch", "R")[0].startswith(joined)
    plain = "Q[] += Sum[](Exists(Sum[a](Exists((DELTA R)(a, b_d)))) * "
    assert statements(program(text), "batch", "R")[0].startswith(plain)


@pytest.mark.parametrize("mode", ["batch", "tuple"])
def test_a_pair_is_recomputed_from_maps_that_are_not(mode: str) -> None:
    p = program("Sum[a](R(a, b) * S(b, c))", mode=mode, recompute=frozenset({("Q", "S")}))
    assert recomputes(p) == {("Q", "S")}
    events = ("batch",) if mode == "batch" else ("insert", "delete")
    for event in events:
        assert statements(p, event, "S")[-1] == "Q[a] := Sum[a](Q_S[a, b] * Q_R[b])"
    assert p.notes == ("Q is recomputed when S changes: a switch asks for it",)


def test_a_pair_is_incremented_against_the_rule_of_thumb() -> None:
    assert recomputes(program(BELOW, increment=frozenset({("Q", "R")}))) == set()


def test_a_stored_relation_is_never_recomputed() -> None:
    p = program("Sum[a](R(a, b))", recompute=frozenset({("Q", "R")}))
    assert recomputes(p) == set()
