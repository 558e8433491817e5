"""What loops may not do, each once: the error names the function and the statement."""

from __future__ import annotations

import pytest

from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.terms import View
from freshview.calculus.types import DATE, DOUBLE, INT, STRING, TIMESTAMP, decimal
from freshview.codegen.layout.text import read as read_layout
from freshview.codegen.loops.check import check
from freshview.codegen.loops.effects import (
    Gain,
    Release,
)
from freshview.codegen.loops.read import read
from freshview.codegen.loops.terms import (
    At,
    Collect,
    Function,
    Loops,
)
from freshview.errors import ProgramProblem
from freshview.program.terms import Program

A, B = Column("a", INT), Column("b", STRING)
PROGRAM = Program(
    (Relation("R", (A, B)), Relation("S", (A,))),
    (),
    (),
    (Query("q", (A,), ("a",), View("M", ("a",))),),
)
LAYOUT = read_layout("""
    table m [int, string] : [int, decimal(2)]
      index k1
      order k0, k1 text
    table n [int] : [int]
    table v [int] : [cofactor(x)]
    table o [double] : [double]
    table host [int, int] : [int]
      index k0
    table guest [int] : [int]
      home host by k0
    transient tmp0 [int] : [int]
    map M in n p0 [k0]
    deferred M
""")

GOOD = {
    "a batch": "batch i of R where {i.c0 > 3} { fetch slice m by k1 = i.c1 let s = i.count }",
    "times": "batch i of R { times either i as s { at w in n[i.c0] { gain w.p0 += s } } }",
    "a slice": "slice r in m by k1 = 'a' { at w in n[r.k0] { gain w.p0 += r.p0 } }",
    "a probe": "probe g in n[3] get r in n[3] from g { total t : int { tally r.p0 } }",
    "a range": "sum s of k in m sorted k0, k1 text { from { if {k.k0 > 3} { answer } } } "
    "let x = s.p1",
    "groups": "turn u : int turn w : int groups g by k0 in m sorted k0, k1 text { "
    "walk r of k in m sorted k0, k1 text known k0 = g.k0 turns u, w { "
    "to { total t : int { tally k.k0 } if {t < 3} { answer } } "
    "do { at y in n[r.k0] { gain y.p0 += r.p0 } } } }",
    "a transient table": "collect tmp0 [int] : [int] { scan r in n { "
    "at w in tmp0[r.k0] { gain w.p0 += () } } } "
    "choose 1 r in tmp0 by k0 { at w in n[r.k0] { gain w.p0 += r.n } }",
    "first rows": "first 1 of p0 r in m sorted k0, k1 text known k0 = 3 { "
    "at w in n[r.k0] { gain w.p0 += r.n } }",
    "a look": "look y : int = 3 if fits y and missing n[y] { clear n }",
    "a find": "find y : int = 1.5 { get r in n[y] { call after } }",
    "what is put off": "stale M release",
    "rings": "scan r in v { product p = 2 * r.p0 at w in host[r.k0, 1] { gain w.p0 += 2 } }",
    "numbers as doubles": "at w in o[3] { gain w.p0 += 1.50 }",
    "rows that may change": "batch i of R { touch q[] at w in n[i.c0] { gain w.p0 += 1 } }",
}


def function(body: str) -> Loops:
    loops = read(f"relation on_R of R {{ {body} }} after after {{ }}")
    check(Loops(loops.functions[1:]), LAYOUT, PROGRAM)
    return loops


@pytest.mark.parametrize("body", GOOD.values(), ids=GOOD)
def test_good(body: str) -> None:
    check(function(body), LAYOUT, PROGRAM)


BAD = {
    # names
    "let x = y": "'y' is read before anything binds it",
    "if {i.c0 > 3} { }": "'i' is read before anything binds it",
    "total t : int { let x = 1 } let y = x": "'x' is read before anything binds it",
    "scan r in n { let x = r.k1 }": "the row 'r' has no column k1",
    "scan r in n { let x = r.n }": "the row 'r' has no column n",
    "groups g by k0 in m sorted k0, k1 text { let x = g.p0 }": "the row 'g' has no column p0",
    "let x = 1 let x = 2": "let x = 2`: the name is defined twice",
    # tables and indexes
    "scan r in nowhere { }": "there is no table 'nowhere'",
    "at w in nowhere[1] { }": "there is no table 'nowhere'",
    "slice r in n by k0 = 3 { }": "'n' has no such index",
    "walk r of k in m sorted k1 text { do { } }": "'m' has no such order",
    "groups g by k1 in m sorted k0, k1 text { }": "does not begin with those columns",
    "groups g by k0 in m sorted k0, k1 text known k1 = 'a' { }": "does not begin with",
    "if nonnegative p0 of n { }": "nobody counts the negative numbers of 'n'",
    "if nonnegative p2 of m { }": "'m' has no payload column p2",
    "get r in m[3] { }": "2 keys of 'm' are asked for",
    "if same k1 of n : 3 = 3 { }": "'n' has no key column k1",
    "scan r in tmp0 { }": "'tmp0' is read before it has its rows",
    "at w in tmp0[1] { }": "'tmp0' gets rows only where it is collected",
    "collect tmp0 [int, int] : [int] { }": "the layout has no such table 'tmp0'",
    "batch i of R { fetch slice n by k0 = i.c0 }": "'n' has no such index to fetch",
    "let x = 1 batch i of R { fetch n by k0 = x }": "depends on the row alone",
    # types
    "let x = {1 < 'a'}": "int and string do not go together",
    "get r in n['a'] { }": "string does not become int without loss",
    "at w in n[1] { gain w.p0 += 1.5 }": r"decimal\(1\) does not become int without loss",
    "scan r in o { total t : int { tally r.p0 } }": "double does not become int",
    "find y : date = 3 { }": "int is never date",
    "intern y = 3": "int is not text",
    "at w in n[1] { gain w.p1 += 1 }": "'n' has no payload column p1",
    "first 1 of p1 r in m sorted k0, k1 text { }": "p1 of 'm' does not count rows",
    # where statements may stand
    "yield [1] += 1": "nobody has said where the row goes",
    "tally 1": "there is no total around",
    "answer": "no condition of a range is asked here",
    "sum s of k in m sorted k0, k1 text { from { scan r in n { answer } } }": "no condition of a",
    "batch i of S { }": "rows of 'S' come to their own function only",
    "batch i of R { scan r in n { times insert i { } } }": "right in the loop over a batch",
    "batch i of R where fits y { }": "chosen here by conditions on their values",
    "output q(3 : int) += 1": "put out by its own functions only",
    "call on_R": "there is no function 'on_R' to call",
    "stale N": "the map 'N' is not put off",
    "touch p[]": "there is no query 'p'",
    "touch q[3]": "rows of 'q' are found by 0 keys",
    "if fits y { }": "nobody has looked for 'y'",
    "probe g in n[3] get r in n[4] from g { }": "'g' is not a probe of that record",
    "walk r of k in m sorted k0, k1 text turns u, w { do { } }": "turns of a range are two",
    "first 1 of p0 r in m sorted k0, k1 text known k0 = 3, k1 = 'a' { }": "none is the first",
    # writes while records are at hand
    "scan r in n { at w in n[1] { } }": "'n' is written while records of 'n' are at hand",
    "get r in n[1] { clear n }": "'n' is written while records of 'n' are at hand",
    "probe g in n[1] at w in n[1] { }": "'n' is written while",
    "slice r in host by k0 = 1 { at w in guest[1] { } }": "'guest' is written while",
    "clear guest": "'guest' lies in another table",
}


@pytest.mark.parametrize(("body", "problem"), BAD.items())
def test_bad(body: str, problem: str) -> None:
    with pytest.raises(ProgramProblem, match=rf"function 'on_R', `.*{problem}"):
        check(function(body), LAYOUT, PROGRAM)


def test_output() -> None:
    for body, problem in {
        "output q(3 : int, 4 : int) += 1": "a row of 'q' has 1 columns",
        "output q('a' : string) += 1": "string does not become int",
        "output q(3 : int) += 1.5": "counted by whole numbers",
    }.items():
        with pytest.raises(ProgramProblem, match=problem):
            check(read(f"read read_q of q {{ {body} }}"), LAYOUT, PROGRAM)
    check(read("find find_q of q by c0 { output q(key.c0 : int) += 1 }"), LAYOUT, PROGRAM)


def test_touch() -> None:
    find = "find find_q of q by c0 { output q(key.c0 : int) += 1 }"
    for body, problem in {
        "ready f { touch q[] }": "found by 1 keys",
        "ready f { touch q['a'] }": "string does not become int",
        "read read_q of q { touch q[3] }": "what reads a query does not change it",
    }.items():
        with pytest.raises(ProgramProblem, match=problem):
            check(read(f"{find} {body}"), LAYOUT, PROGRAM)
    check(read(f"{find} ready f {{ touch q[3] }}"), LAYOUT, PROGRAM)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ready f { } ready f { }", "two functions 'f'"),
        ("relation f of T { }", "no relation 'T'"),
        ("read f of r { }", "no query 'r'"),
    ],
)
def test_functions(text: str, problem: str) -> None:
    with pytest.raises(ProgramProblem, match=problem):
        check(read(text), LAYOUT, PROGRAM)


def test_a_record_of_another_table() -> None:
    body = (At("w", "n", (View("n", ()),), ()),)  # not reached: the gain stands outside
    gain = Gain("w", "n", 0, ())
    loops = Loops((Function("f", "ready", "", (gain, *body)),))
    with pytest.raises(ProgramProblem, match="'w' is not a record of 'n' that is written here"):
        check(loops, LAYOUT, PROGRAM)


def test_a_collected_table_that_lasts() -> None:
    loops = Loops((Function("f", "ready", "", (Collect("n", LAYOUT.tables["n"], (Release(),)),)),))
    with pytest.raises(ProgramProblem, match="is transient, and no index is said"):
        check(loops, LAYOUT, PROGRAM)


def test_types_that_a_kernel_converts() -> None:
    from freshview.codegen.loops.visible import converts

    assert converts(DATE, TIMESTAMP)
    assert not converts(TIMESTAMP, DATE)
    assert converts(INT, decimal(2))
    assert not converts(decimal(3), decimal(2))
    assert converts(decimal(3), DOUBLE)
    assert not converts(STRING, DOUBLE)
