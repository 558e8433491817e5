"""The materialization rules one by one, on the smallest query that shows each."""

from __future__ import annotations

import pytest

from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.scope import outs
from freshview.calculus.text import read, show
from freshview.calculus.types import INT
from freshview.ivm.compile import compile_queries
from freshview.ivm.cyclic import is_cyclic
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Program

RELATIONS = {"R": "ab", "S": "bc", "T": "cd", "U": "a", "V": "xy"}


def program(text: str, *, static: str = "", **options: object) -> Program:
    e = read(text)
    names = tuple(sorted(outs(e)))
    query = Query("Q", tuple(Column(v, INT) for v in names), names, e)
    relations = [
        Relation(n, tuple(Column(c, INT) for c in columns), n in static)
        for n, columns in RELATIONS.items()
        if f"{n}(" in text
    ]
    return compile_queries([query], relations, DeltaOptions(**options))  # type: ignore[arg-type]


def statements(p: Program, event: str, relation: str) -> list[str]:
    [trigger] = [t for t in p.triggers if (t.event, t.relation) == (event, relation)]
    return [f"{show(s.target)} {s.op} {show(s.term)}" for s in trigger.statements]


def test_decomposition_splits_what_only_trigger_variables_join() -> None:
    p = program("Sum[](R(a, b) * S(b, c) * T(c, d))", mode="tuple")
    assert "Q[] += Q_S[d_b] * Q_S_2[d_c]" in statements(p, "insert", "S")


def test_expansion_makes_two_views_of_a_difference() -> None:
    p = program("Sum[](U(a) * V(x, y) * (a - y))", mode="tuple")
    assert {len(m.keys) for m in p.maps} == {0}


def test_input_variables_stay_outside_and_their_partners_are_keys() -> None:
    p = program("Sum[](R(a, b) * V(x, y) * {b < x})", mode="tuple")
    assert "Q[] += Sum[](Q_R[x] * {d_b < x})" in statements(p, "insert", "R")


def test_a_nested_query_is_kept_whole_while_the_update_leaves_it_alone() -> None:
    p = program("Sum[](U(a) * R(a, b) * (x := Sum[b](S(b, c) * c)) * {b < x})", mode="tuple")
    assert "Q[] += Q_U[d_a]" in statements(p, "insert", "U")
    assert any("R(a, b)" in show(m.definition) and "S(b" in show(m.definition) for m in p.maps[1:])


def test_what_is_recomputed_is_put_together_from_maps_that_are_not() -> None:
    text = (
        "Sum[a](R(a, b) * (n := Sum[b](S(b, c))) * {n = 0} * (t := Sum[](T(e, d) * d)) * {a < t})"
    )
    p = program(text, mode="tuple")
    assert "Q[a] := Sum[a]((t := Q_R_2[]) * Q_T[a] * {a < t})" in statements(p, "insert", "T")
    assert all(s.op == "+=" for t in p.triggers for s in t.statements if s.target.name != "Q")


def test_re_evaluation_keeps_nested_queries_apart() -> None:
    text = "Sum[a](R(a, b) * (n := Sum[b](S(b, c))) * {n = 0})"
    p = program(text, mode="tuple", depth=0)
    assert not any("n :=" in show(m.definition) for m in p.maps[1:])


def test_equal_definitions_share_a_map_up_to_names() -> None:
    p = program("Sum[](R(a, b) * R(c, b))", mode="tuple")
    assert len(p.maps) == 2


def test_a_static_table_has_no_trigger_and_is_joined_at_the_start() -> None:
    p = program("Sum[a](R(a, b) * S(b, c) * T(c, d) * {d < 5})", static="ST", mode="tuple")
    assert {t.relation for t in p.triggers} == {"", "R"}
    [ready] = [t for t in p.triggers if t.event == "ready"]
    assert [s.op for s in ready.statements] == [":="]


def test_a_view_that_is_not_empty_over_no_rows_is_filled_at_the_start() -> None:
    p = program("Sum[a](U(a) * (n := Sum[a](R(a, b))) * {n = 0})", static="U")
    assert any(t.event == "ready" for t in p.triggers)


def test_a_comparison_does_not_multiply_two_keyed_parts() -> None:
    p = program("Sum[a, d](R(a, b) * S(b, c) * T(c, d) * V(x, y) * {y <> d} * {x = a})")
    assert all(not ({"V", "T"} <= {*_names(show(m.definition))}) for m in p.maps[1:])


def _names(text: str) -> str:
    return "".join(n for n in RELATIONS if f"{n}(" in text)


def test_a_domain_reaches_through_a_join() -> None:
    p = program("U(a) * Exists(Sum[a](R(a, b) * S(b, c)))")
    assert all(s.op == "+=" for t in p.triggers for s in t.statements)


@pytest.mark.parametrize(("depth", "maps"), [(0, 4), (1, 4), (None, 6)])
def test_depth_ends_with_base_relations(depth: int | None, maps: int) -> None:
    p = program("Sum[b](R(a, b) * S(b, c) * T(c, d))", depth=depth)
    assert len(p.maps) == maps


def test_projected_base_relations_keep_the_columns_in_use() -> None:
    p = program("Sum[](R(a, b) * S(b, c))", depth=1, project=True)
    assert all(len(m.keys) <= 1 for m in p.maps)


def test_a_square_of_edges_is_cyclic_and_a_path_is_not() -> None:
    square = [read(f"R({x}, {y})") for x, y in ("ab", "bc", "cd", "da")]
    assert is_cyclic(square)  # type: ignore[arg-type]
    assert not is_cyclic(square[:3])  # type: ignore[arg-type]
