"""How terms look, and what is said of text that cannot be read."""

from __future__ import annotations

import pytest

from freshview.calculus.build import add, const, mul, neg
from freshview.calculus.terms import Cmp, Rel, Var
from freshview.calculus.text import read, show
from freshview.errors import SyntaxProblem


@pytest.mark.parametrize(
    "text",
    [
        "Sum[a](R(a, b) * S(b, c) * {b < c})",
        "R(a) - S(a) + (-2) * T(a)",
        "Sum[](R(a, b) * [f: Ring](a, b + 1) * [g: Ring](b))",
        "-R(a)",
        "(x + y) * R(x)",
        "(x := Sum[](R(y) * y)) * {x > 3}",
        "(DELTA R)(a, b) * M[a] * C[a][b] * O[]",
        "Exists(R(a)) * Top[a; b desc nulls first, c; 3](S(a, b, c))",
        "{like(s, 'it''s %')} * {d < date '2020-01-31'} * {(a = b) = (-2)}",
        "{or((a = 1), not(b), null, true)}",
    ],
)
def test_a_term_looks_as_it_is_written(text: str) -> None:
    assert show(read(text)) == text


def test_signs() -> None:
    r, x = Rel("R", ("x",)), Var("x")
    assert show(add(r, neg(mul(r, x)))) == "R(x) - R(x) * x"
    assert show(Cmp("<", add(x, const(1)), neg(x))) == "{(x + 1) < (-x)}"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("R(a) R(b)", "<text>:1:6: 'R' is left over after the term"),
        ("R(a,, b)", "<text>:1:5: expected a name but found ','"),
        ("R(a) *\n  * S", "<text>:2:3: expected a term but found '[*]'"),
        ("{a < }", "<text>:1:6: expected a term but found '}'"),
        ("Sum[a](R(a)", "<text>:1:12: expected '[)]' but found 'the end of the text'"),
        ("R(a) @ S(b)", "<text>:1:6: cannot read '@'"),
    ],
)
def test_complaints_name_the_place(text: str, complaint: str) -> None:
    with pytest.raises(SyntaxProblem, match=complaint):
        read(text)
