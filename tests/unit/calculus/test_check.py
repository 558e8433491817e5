"""What is said of terms that are not well formed."""

from __future__ import annotations

import pytest

from freshview.calculus.build import const
from freshview.calculus.check import Schema, check_bound, infer
from freshview.calculus.terms import Apply, Cmp, Rel, Top, Var
from freshview.calculus.text import read
from freshview.calculus.types import DATE, DOUBLE, INT, STRING, decimal
from freshview.errors import (
    FreshviewError,
    ProgramProblem,
    TypeProblem,
    UnboundVariable,
    UnknownName,
)

SCHEMA = Schema(
    {"R": (INT, decimal(2)), "S": (STRING.or_null(), DATE)},
    {"M": ((INT, INT), DOUBLE)},
)


@pytest.mark.parametrize(
    ("text", "problem", "complaint"),
    [
        ("Q(a)", UnknownName, "there is no relation 'Q'; declare it first"),
        ("Q[a]", UnknownName, "there is no map 'Q'; declare it first"),
        ("R(a)", TypeProblem, "'R' has 2 columns, 1 are given"),
        ("R(a, b) * S(a, c)", TypeProblem, "int and string do not go together; cast one of them"),
        ("S(a, b) * {a < b}", TypeProblem, "string and date do not go together"),
        ("S(a, b) * {abs(a, b)}", TypeProblem, "function 'abs' takes 1 arguments, 2 are given"),
        ("{nosuch(1)}", UnknownName, "there is no function 'nosuch'"),
        ("S(a, b) * (x := a + 1)", TypeProblem, "string and int do not go together"),
        ("x", UnboundVariable, "variable 'x' has no type: nothing binds it"),
    ],
)
def test_inference_refuses(text: str, problem: type[FreshviewError], complaint: str) -> None:
    with pytest.raises(problem, match=complaint):
        infer(read(text), SCHEMA)


@pytest.mark.parametrize(
    ("text", "payload", "types"),
    [
        ("R(a, b) * b * b", "decimal(4)", {"a": "int", "b": "decimal(2)"}),
        ("S(a, b)", "int", {"a": "string?", "b": "date"}),
        ("S(a, b) * (a := 'x')", "int", {"a": "string?", "b": "date"}),
        ("M[a, b] * R(a, b)", "double", {"a": "int", "b": "decimal(2)"}),
        ("Sum[a](R(a, b) * b) + R(a, c) * (c := 0)", "decimal(2)", {"a": "int"}),
        (
            "(x := Sum[](R(a, b) * b)) * (y := {div(x, 2)})",
            "int",
            {"x": "decimal(2)", "y": "double?"},
        ),
        ("R(a, b) * (n := null)", "int", {"a": "int", "b": "decimal(2)", "n": "null?"}),
    ],
)
def test_inference_finds(text: str, payload: str, types: dict[str, str]) -> None:
    actual, bound = infer(read(text), SCHEMA)
    assert str(actual) == payload
    assert {v: str(t) for v, t in bound.items()} == types


def test_a_comparison_takes_values() -> None:
    with pytest.raises(ProgramProblem, match="'<' compares a relation; lift it to a variable"):
        check_bound(Cmp("<", Rel("R", ()), const(1)))
    with pytest.raises(ProgramProblem, match="function 'abs' is given a relation"):
        check_bound(Apply("abs", (Rel("R", ()),)))


def test_top_orders_by_what_it_binds() -> None:
    with pytest.raises(ProgramProblem, match=r"Top orders by \['z'\], which its body lacks"):
        check_bound(read("Top[; z; 1](R(a, b))"))


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ProgramProblem):
        check_bound(Top((), (), -1, Rel("R", ("a",))))


def test_an_unbound_variable_is_named() -> None:
    with pytest.raises(UnboundVariable, match="variable 'x' is read before anything binds it"):
        check_bound(Var("x"))
    check_bound(Var("x"), frozenset({"x"}))
