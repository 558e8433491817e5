"""Every node of loops reads back from its text."""

from __future__ import annotations

from typing import get_args

import pytest

from freshview.calculus.build import const
from freshview.calculus.terms import Const, Expr, Var
from freshview.calculus.text import read as term
from freshview.calculus.types import DATE, INT, STRING, Type, decimal
from freshview.codegen.cpp.ring_types import cofactor_type
from freshview.codegen.layout.terms import Sort, Table
from freshview.codegen.loops import effects as e
from freshview.codegen.loops import parts
from freshview.codegen.loops import terms as t
from freshview.codegen.loops.read import read
from freshview.codegen.loops.text import show
from freshview.codegen.loops.walk import DEFINITIONS, SCOPES
from freshview.errors import SyntaxProblem

A, B = Var("i1.c0"), Var("r2.k1")
SUM, TEST = term("i1.c0 + 2 * r2.p0"), term("{i1.c0 < r2.k1}")
TALLY = (e.Tally((A,)),)
SEARCH = parts.Search("m", (Sort(0), Sort(1, True), Sort(2, False, True)), ((0, A), (1, SUM)))
RANGE = t.Range(SEARCH, "k_1", (t.If((parts.Holds(TEST),), (e.Answer(),)),), (), ("u1", "u2"))
OPEN = t.Range(parts.Search("m", (Sort(0),), ()), "k_1", (), (e.Answer(),))
FETCHES = (
    parts.Fetch("m", (0,), (A,)),
    parts.Fetch("m", (1,), (A,), index=True),
    parts.Fetch("m", (0, 1), (A, B), write=True),
)
TESTS: list[parts.Test] = [
    parts.Holds(TEST),
    parts.Holds(term("{like(x, 'a%')}")),
    parts.Holds(Var("x")),
    parts.There(SUM),
    parts.NotZero(A),
    parts.Same("m", 1, B, A),
    parts.NoNegative("m", 0),
    parts.Fits("y1"),
    parts.Missing("m", (A, B)),
    parts.Missing("m", (), (parts.Fits("y1"), parts.Holds(TEST))),
]
STATEMENTS: list[t.Stmt] = [
    t.Let("x1", SUM),
    t.Let("x1", term("{coalesce(x, 'it''s')}"), exact=True),
    t.Product("v1", (A, term("[cofactor: Cofactor]('x', r2.k0)"))),
    t.Total("t1", cofactor_type(["x"], ["c"]), TALLY),
    t.Total("t1", decimal(2).or_null(), ()),
    t.Collect("tmp1", Table("tmp1", (INT, STRING.or_null()), (DATE,), transient=True), TALLY),
    t.Look("y1", SUM, decimal(2)),
    t.Intern("y1", A),
    t.Probe("g0", "m", (A, B)),
    t.Turn("u1", INT),
    t.RangeSum("q1", RANGE),
    t.RangeSum("q1", RANGE, (0, 2)),
    t.If((*TESTS,), TALLY),
    t.If((parts.Holds(TEST),), TALLY, seldom=True),
    t.If((), ()),
    t.Unless((parts.NoNegative("m", 0),), TALLY),
    t.Find("y1", SUM, Type("decimal", 2, wide=True), TALLY),
    t.Batch("i1", "my table", TALLY),
    t.Batch("i1", "R", TALLY, (parts.Holds(TEST),), True, FETCHES),
    t.Times("", "i1", "insert", TALLY),
    t.Times("sign2", "i1", "either", TALLY),
    t.Get("r1", "m", (A, SUM), TALLY),
    t.Get("r1", "m", (), TALLY, "g0"),
    t.Slice("r1", "m", (0, 2), (A, SUM), TALLY),
    t.Scan("r1", "m", TALLY, FETCHES),
    t.Scan("r1", "m", TALLY, changed="was"),
    t.Scan("r1", "m", TALLY, FETCHES, "is"),
    t.Walk("r1", RANGE, TALLY),
    t.Walk("r1", OPEN, TALLY, grouped=True),
    t.EachGroup("g1", SEARCH, (0, 1), TALLY),
    t.FirstRows("r1", SEARCH, 3, False, "as_sorted", 0, False, TALLY),
    t.FirstRows("r1", SEARCH, 1, True, "last", 1, True, TALLY, "tmp1", (1, 2)),
    t.FirstRows("r1", SEARCH, 1, True, "first", 1, False, TALLY),
    t.FirstOfGroups("r1", "tmp1", (), (), 2, TALLY),
    t.FirstOfGroups(
        "r1", "tmp1", (0, 1), (parts.SortKey(2, True, True), parts.SortKey(3)), 2, TALLY
    ),
    t.At("w1", "m", (A,), (e.Gain("w1", "m", 0, (A,)), e.Assign("w1", "m", 1, (B,)))),
    t.Group(("M[a] += it's;", "N[] +=\n  2;"), TALLY),
    t.Group((), ()),
    e.Yield((A, SUM), (A,)),
    e.Tally((A, SUM, const(-1), term("a * b"), TEST)),
    e.Tally(()),
    e.Tally((const(1),)),
    e.Answer(),
    e.Clear("m"),
    e.Stale(("M", "sum(x)")),
    e.Release(),
    e.Call("refresh"),
    e.Output("q", (A, SUM), (INT, decimal(4)), (A,)),
    e.Output("q", (), (), ()),
    e.Touch("q", (A, SUM)),
    e.Touch("my view", ()),
]


@pytest.mark.parametrize("s", STATEMENTS, ids=lambda s: type(s).__name__)
def test_statement(s: t.Stmt) -> None:
    loops = t.Loops((t.Function("f", "ready", "", (s, s)),))
    assert read(show(loops)) == loops


def test_no_node_is_left_out() -> None:
    inside = {e.Gain, e.Assign}
    assert {type(s) for s in STATEMENTS} | inside == {*DEFINITIONS, *SCOPES, *get_args(e.Effect)}
    assert {type(x) for x in TESTS} == set(get_args(parts.Test))


@pytest.mark.parametrize("kind", ["relation", "ready", "after", "refresh", "read", "find"])
def test_functions(kind: str) -> None:
    loops = t.Loops(
        (
            t.Function("f", kind, "my query", (), (0, 2)),  # type: ignore[arg-type]
            t.Function("g", kind, "", (e.Release(),)),  # type: ignore[arg-type]
        )
    )
    assert read(show(loops)) == loops


def test_wide_constants() -> None:
    price = Const(term("1.50").value, Type("decimal", 2, wide=True))  # type: ignore[union-attr]
    weight: tuple[Expr, ...] = (price, A)
    loops = t.Loops((t.Function("f", "ready", "", (e.Tally(weight),)),))
    assert show(loops).startswith("wide constants\n")
    assert read(show(loops)) == loops


def test_lines() -> None:
    gain = e.Gain("w5", "m_q03", 0, (Var("sign2"), Var("r3.p0")))
    at = t.At("w5", "m_q03", (A, Var("r3.k1")), (gain,))
    loops = t.Loops(
        (t.Function("on_R", "relation", "R", (t.Slice("r3", "m", (0,), (A,), (at,)),)),)
    )
    assert show(loops).splitlines() == [
        "relation on_R of R {",
        "  slice r3 in m by k0 = i1.c0 {",
        "    at w5 in m_q03[i1.c0, r3.k1] {",
        "      gain w5.p0 += sign2 * r3.p0",
        "    }",
        "  }",
        "}",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("on_R { }", "expected one of relation, ready"),
        ("ready f { jump }", "expected a statement but found 'jump'"),
        ("ready f { gain w1.p0 += 1 }", "a payload of a record that stands around"),
        ("ready f { times often i1 { } }", "expected insert, delete or either"),
        ("ready f { if {a > b} tally 1 }", "expected '{'"),
    ],
)
def test_text_that_is_none(text: str, problem: str) -> None:
    with pytest.raises(SyntaxProblem, match=problem):
        read(text)
