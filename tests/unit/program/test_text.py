"""The text of a program as a person sees it, and what is said of text that cannot be read."""

from __future__ import annotations

import pytest

from freshview.calculus.pretty_print import show_term
from freshview.calculus.text import read
from freshview.errors import SyntaxProblem, TypeProblem
from freshview.program.terms import Program
from freshview.program.text import read_program, show_program

TEXT = """\
-- notes -------------------------------------------------------------------------------------------
-- depth 1, as asked

-- relations ---------------------------------------------------------------------------------------
CREATE STREAM R(a int, b decimal(2)?) KEY (a);
CREATE TABLE T(a int, 'the name' string);

-- maps --------------------------------------------------------------------------------------------
DECLARE MAP Q[a int] : decimal(2) := Sum[a](R(a, b) * b);
DECLARE MAP C[p int][a int] : int := Sum[a](R(a, b) * {b < p})
  FILL Q[a] * {a < p};

-- queries -----------------------------------------------------------------------------------------
DECLARE QUERY q('sum(b)' decimal(2) = t, a int = a) := Exists(Q[a]) * (t := Q[a])
  ORDER BY t desc nulls first, a;

-- triggers ----------------------------------------------------------------------------------------
ON + R(r_a, r_b) {
  C[p][r_a] += {r_b < p};
  Q[r_a] += r_b;
}
ON BATCH UPDATE OF R {
  Q[a] += Sum[a](
      (DELTA R)(a, b) * T(a, a_rather_long_name_of_a_variable) *
      Exists(T(a, another_rather_long_name_of_a_variable)) * b);
}
ON SYSTEM READY {
  Q[a] := Sum[a](T(a, n));
}
"""


def test_a_program_is_laid_out_like_this() -> None:
    program = read_program(TEXT)
    noted = Program(
        program.relations,
        program.maps,
        program.triggers,
        program.queries,
        ("depth 1, as asked",),
    )
    assert show_program(noted) == TEXT


def test_an_empty_program_is_an_empty_text() -> None:
    empty = Program((), (), (), ())
    assert show_program(empty) == ""
    assert read_program("-- nothing\n") == empty


def test_long_terms_are_broken_at_their_operators() -> None:
    e = read("(x := Sum[](R(a, b) * {b < 3} * 'a * b + c' + S(b))) * Top[; x; 1](T(x)) - U(x)")
    assert show_term(e, 2, 30) == (
        "(x :=\n"
        "      Sum[](\n"
        "        R(a, b) * {b < 3} *\n"
        "          'a * b + c'\n"
        "        + S(b))) *\n"
        "    Top[; x; 1](T(x))\n"
        "  - U(x)"
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("CREATE VIEW V", "m3:1:8: expected STREAM or TABLE but found 'VIEW'"),
        (
            "DECLARE TABLE",
            "m3:1:1: expected CREATE, DECLARE MAP, DECLARE VIEW, DECLARE QUERY or ON",
        ),
        ("\nON * R", "m3:2:4: expected [+], -, BATCH UPDATE OF or SYSTEM READY but found '[*]'"),
        ("ON + R(a) { M[a] = 1; }", "m3:1:18: expected [+]= or := but found '='"),
        ("ON + R(a) { M[a] += 1 }", "m3:1:23: expected ';' but found '}'"),
        ("CREATE STREAM R(a int", "m3:1:22: expected ',' but found 'the end of the text'"),
    ],
)
def test_complaints_name_the_place(text: str, complaint: str) -> None:
    with pytest.raises(SyntaxProblem, match=complaint):
        read_program(text, "m3")


def test_an_unknown_type() -> None:
    with pytest.raises(TypeProblem, match="'text' is not a type; use one of int"):
        read_program("CREATE STREAM R(a text);")
