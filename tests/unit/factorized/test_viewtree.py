"""View trees: the worked examples of F-IVM 2018, and which views updates need."""

from __future__ import annotations

from typing import Any

import pytest

from freshview.algebra import Cofactor
from freshview.calculus.build import const
from freshview.calculus.terms import Apply, Var
from freshview.calculus.text import show
from freshview.factorized.compile import compile_joins
from freshview.factorized.materialize import materialized
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.terms import view_name
from freshview.factorized.viewtree import compact, definition, view_tree
from freshview.program.check import check_program
from freshview.program.text import read_program, show_program
from tests.unit.factorized.fixture import ORDER, filled, join, lift, relations

COUNT = {"Q": join()}
MODES = ("batch", "tuple")


def options(mode: str = "batch") -> ViewTreeOptions:
    return ViewTreeOptions(mode=mode, orders={"Q": ORDER})


def test_the_tree_has_a_view_a_variable() -> None:
    tree = view_tree(join(), ORDER)
    assert show(definition(tree)) == (
        "Sum[](Sum[A](R(A, B)) * Sum[A](Sum[A, C](S(A, C, E)) * Sum[C](T(C, D))))"
    )


def kept(updated: str) -> set[str]:
    tree = view_tree(join(), ORDER)
    return {view_name(t) for t in materialized(tree, frozenset(updated))}


ROOT, V_ST, V_R, V_S, V_T = "V_RST_at_A", "V_ST_at_C", "V_R_at_B", "V_S_at_E", "V_T_at_D"


@pytest.mark.parametrize(
    ("updated", "views"),
    [
        ("", {ROOT}),
        ("T", {ROOT, V_S, V_R}),  # Ex. 4.2
        ("RST", {ROOT, V_S, V_R, V_ST, V_T}),  # Ex. 4.2, and Ex. 1.1: every view
        ("R", {ROOT, V_ST}),  # Ex. 1.1
        ("S", {ROOT, V_R, V_T}),  # Ex. 1.1
    ],
)
def test_views_are_kept_beside_what_changes(updated: str, views: set[str]) -> None:
    assert kept(updated) == views


@pytest.mark.parametrize("mode", MODES)
def test_count_is_ten_then_fifteen(mode: str) -> None:
    program = compile_joins(COUNT, relations(), options(mode))
    check_program(program)
    assert read_program(show_program(program)) == program
    engine = filled(program)
    assert engine.rows("Q") == [(10,)]
    assert engine.contents("V_T_at_D") == {(1,): 1, (2,): 2, (3,): 1}
    assert engine.contents("V_S_at_E") == {(1, 1): 2, (1, 2): 1, (2, 2): 1}
    assert engine.contents("V_ST_at_C") == {(1,): 4, (2,): 2}
    engine.apply("T", [((1, 1), -1), ((2, 2), 3)])
    assert engine.contents("V_T_at_D") == {(2,): 5, (3,): 1}
    assert engine.contents("V_ST_at_C") == {(1,): 5, (2,): 5}
    assert engine.rows("Q") == [(15,)]


def test_a_batch_statement_follows_the_delta_tree() -> None:
    program = compile_joins(COUNT, relations(), options())
    [trigger] = [t for t in program.triggers if t.relation == "T"]
    assert {s.target.name: show(s.term) for s in trigger.statements} == {
        "Q": "Sum[](Sum[A](Sum[C]((DELTA T)(C, D)) * V_S_at_E[A, C]) * V_R_at_B[A])",
        "V_ST_at_C": "Sum[A](Sum[C]((DELTA T)(C, D)) * V_S_at_E[A, C])",
        "V_T_at_D": "Sum[C]((DELTA T)(C, D))",
    }


def test_a_row_needs_no_sums_where_one_view_meets_it() -> None:
    program = compile_joins(COUNT, relations(), options("tuple"))
    [trigger] = [t for t in program.triggers if (t.event, t.relation) == ("delete", "S")]
    assert {s.target.name: show(s.term) for s in trigger.statements} == {
        "Q": "-V_R_at_B[d_a] * V_T_at_D[d_c]",
        "V_ST_at_C": "-V_T_at_D[d_c]",
        "V_S_at_E": "-1",
    }


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("static", ["S", "ST", "RT", "RS", "R"])
def test_static_tables_are_joined_when_they_are_loaded(static: str, mode: str) -> None:
    program = compile_joins(COUNT, relations(static), options(mode))
    check_program(program)
    assert filled(program).rows("Q") == [(10,)]
    updated = set("RST") - set(static)
    assert {t.relation for t in program.triggers} - {""} == updated
    names = {m.name for m in program.maps}
    assert names == kept("".join(updated)) - {ROOT} | {"Q"}


def test_every_view_is_static_when_every_table_is() -> None:
    program = compile_joins(COUNT, relations("RST"), options())
    check_program(program)
    assert [m.name for m in program.maps] == ["Q"]
    assert filled(program).rows("Q") == [(10,)]


def test_free_variables_stay() -> None:
    program = compile_joins({"Q": join("CA", [Var("D")])}, relations(), options())
    check_program(program)
    assert {r[:2]: r[2] for r in filled(program).rows("Q")} == {
        (1, 1): 4,  # twice two rows of R and S, D is 1
        (2, 1): 10,  # two rows of R, D is 2 + 3
        (2, 2): 5,
    }


def test_functions_of_variables_on_two_branches_meet_at_the_view_above_both() -> None:
    natural = join("", [Apply("greatest", (Var("B"), Var("D")))])
    tree = view_tree(natural, ORDER)
    assert show(definition(tree)) == (
        "Sum[](R(A, B) * Sum[A, D](Sum[A, C](S(A, C, E)) * T(C, D)) * {greatest(B, D)})"
    )
    program = compile_joins({"Q": natural}, relations(), options())
    check_program(program)
    # B and D of the ten joined rows: (1,1)x2 (2,1)x2 (1,2) (1,3) (2,2) (2,3) (3,2) (3,3)
    assert filled(program).rows("Q") == [(1 * 2 + 2 * 2 + 2 + 3 + 2 + 3 + 3 + 3,)]


def test_a_ring_pays_for_all_models_at_once() -> None:
    """Ex. 6.3: V_ST[a2] of the degree-5 cofactor ring, the rows and columns of the text mended."""
    natural = join("", lift("cofactor", "Cofactor", "ABCDE"))
    engine = filled(compile_joins({"Q": natural}, relations(), options()))
    c2, d2, d3, e4 = 2, 2, 3, 4
    assert engine.contents("V_ST_at_C")[(2,)] == Cofactor(
        2,
        {"C": 2 * c2, "D": d2 + d3, "E": 2 * e4},
        {
            ("C", "C"): 2 * c2**2,
            ("C", "D"): c2 * (d2 + d3),
            ("C", "E"): 2 * c2 * e4,
            ("D", "D"): d2**2 + d3**2,
            ("D", "E"): (d2 + d3) * e4,
            ("E", "E"): 2 * e4**2,
        },
    )
    [(whole,)] = engine.rows("Q")
    assert whole.count == 10


def test_average_is_one_pass() -> None:
    """RingAvg: COUNT and SUM(A) of the join in one payload."""
    natural = join("", [Apply("pair", (Var("A"),), "Pair")])
    [(pair,)] = filled(compile_joins({"Q": natural}, relations(), options())).rows("Q")
    assert (pair.count, pair.sum) == (10, 8 * 1 + 2 * 2)


def test_a_chain_of_views_is_one() -> None:
    """Valeanu 2018, 4.9: F, which only R has, is summed out together with B."""
    tree = compact(view_tree(join(), ORDER))
    assert tree == view_tree(join(), ORDER)  # nothing to do: every view has two children or a leaf
    wide: Any = view_tree(join(), ORDER).children[0]
    assert compact(type(wide)("B", ("A",), (wide,), (const(2),))).children == wide.children
