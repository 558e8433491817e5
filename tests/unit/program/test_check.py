"""Every rule of a well-formed program, broken once."""

from __future__ import annotations

import pytest

from freshview.errors import ProgramProblem
from freshview.program.check import check_program
from freshview.program.text import read_program

GOOD = """
CREATE STREAM R(a int, b int);
CREATE STREAM S(b int, c decimal(2)?);
CREATE TABLE T(c int);
DECLARE MAP Q[a int] : decimal(2) := Sum[a](R(a, b) * S(b, c) * c);
DECLARE MAP MS[b int] : decimal(2) := Sum[b](S(b, c) * c);
DECLARE MAP MR[a int, b int] : int := R(a, b);
DECLARE MAP N[] : int := Sum[](T(c));
DECLARE MAP C[p int][a int] : int := Sum[a](R(a, b) * {b < p}) FILL Sum[a](MR[a, b] * {b < p});
DECLARE QUERY q(a int = a, total decimal(2) = t) := Exists(Q[a]) * (t := Q[a]) ORDER BY t;
ON + R(x, y) { Q[x] += MS[y]; C[p][x] += {y < p}; MR[x, y] += 1; }
ON - R(x, y) { Q[x] += -MS[y]; C[p][x] += -{y < p}; MR[x, y] += -1; }
ON BATCH UPDATE OF S {
  Q[a] += Sum[a]((DELTA S)(b, c) * c * MR[a, b]);
  MS[b] += Sum[b]((DELTA S)(b, c) * c);
}
ON SYSTEM READY { N[] := Sum[](T(c)); }
"""


def test_a_good_program_passes() -> None:
    check_program(read_program(GOOD))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("CREATE TABLE T", "CREATE TABLE R", "relation 'R' is declared 2 times"),
        ("MAP MS[b", "MAP Q[b", "map 'Q' is declared 2 times"),
        ("ON - R", "ON + R", "a trigger on . R stands 2 times"),
        ("Sum[](T(c));\nDECLARE MAP C", "Sum[](X(c));\nDECLARE MAP C", "there is no relation 'X'"),
        ("Q[x] += MS[y]", "Q[x] += MX[y]", "there is no map 'MX'"),
        ("Q[x] += MS[y]", "QX[x] += MS[y]", "the statement on 'QX': there is no such map"),
        ("MAP Q[a int]", "MAP Q[b int]", "map 'Q': it has keys 'b', its term binds 'a'"),
        (
            "MAP Q[a int] : decimal(2)",
            "MAP Q[a int] : int",
            "map 'Q': its payload is declared int, but its term gives decimal",
        ),
        ("MAP Q[a int]", "MAP Q[a string]", "map 'Q': int and string do not go together"),
        (" FILL Sum[a](MR[a, b] * {b < p})", "", "map 'C': a view cache needs a term that fills"),
        ("FILL Sum[a](MR[a, b]", "FILL Sum[a](R(a, b)", "it reads the stream 'R'"),
        ("ON + R(x, y)", "ON + X(x, y)", "on . X: there is no relation 'X'; declare it"),
        ("ON + R(x, y)", "ON + T(x, y)", "on . T: 'T' is a static table"),
        ("ON + R(x, y)", "ON + R(x, y, z)", "on . R: it needs 2 parameters, 3 are given"),
        ("ON + R(x, y)", "ON + R(x, x)", "two of its parameters have one name"),
        ("Q[x] += MS[y]", "Q[x, y] += MS[y]", "the map has 1 keys, 2 are given"),
        ("Q[x] += MS[y]", "Q[x] += MS[z]", "its term also binds 'z'; add up over them"),
        ("Q[x] += MS[y]", "Q[x] += z", "variable 'z' is read before anything binds it"),
        ("Q[x] += MS[y]", "Q[z] += MS[y]", "its keys 'z' are bound by nothing"),
        ("Q[x] += MS[y]", "Q[x] += S(y, z)", "it reads the stream 'S', which is not stored"),
        ("Q[x] += MS[y]", "Q[x] += (DELTA R)(x, y)", "reads the batch of 'R', which is not off"),
        ("Q[x] += MS[y]", "Q[x] += 0.001 * MS[y]", r"declared decimal\(2\), but its term gives"),
        ("Q[x] += MS[y]", "MS[y] += 1; Q[x] += MS[y]", r"'Q \+=' reads 'MS' after the change"),
        (
            "C[p][x] += {y < p}; MR[x, y] += 1; }",
            "MR[x, y] += 1; C[p][x] += {y < p} * C[p][x]; }",
            r"'C \+=' reads 'MR' after the change was made there; move it up",
        ),
        ("Q[x] += MS[y]", "Q[a] := Sum[a](MR[a, b])", "'Q :=' reads 'MR' before the change is"),
        ("Q[x] += MS[y]; ", "", "map 'Q' reads 'R', but nothing writes it on insert of 'R'"),
        ("N[] := Sum[](T(c));", "", "map 'N' reads static tables only, but no ready trigger"),
        ("(a int = a, total", "(a int = z, total", "query 'q': nothing binds its column 'a'"),
        ("(a int = a, total", "(a string = a, total", "query 'q': int and string do not go"),
        ("ORDER BY t", "ORDER BY x", "query 'q': it is ordered by 'x', which it does not show"),
        (":= Exists(Q[a])", ":= R(a, b)", "query 'q': it reads the stream 'R'"),
    ],
)
def test_a_bad_program_is_refused(old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    with pytest.raises(ProgramProblem, match=complaint):
        check_program(read_program(GOOD.replace(old, new, 1)))


def test_a_stream_without_triggers() -> None:
    program = read_program("CREATE STREAM R(a int); DECLARE MAP M[a int] : int := R(a);")
    with pytest.raises(ProgramProblem, match="map 'M' reads 'R', but nothing writes it on change"):
        check_program(program)


def test_a_map_defined_by_maps_follows_their_relations() -> None:
    text = (
        "CREATE STREAM R(a int); DECLARE MAP M[a int] : int := R(a);"
        "DECLARE MAP N[] : int := Sum[](M[a]); ON + R(x) { M[x] += 1; }"
    )
    with pytest.raises(ProgramProblem, match="map 'N' reads 'R', but nothing writes it on insert"):
        check_program(read_program(text))
