"""Ring payloads in programs: the same text, the same checks, the same engine as for numbers."""

from __future__ import annotations

import pytest

from freshview.algebra import Category, Cofactor, Matrix, Pair
from freshview.calculus.functions import BUILTINS
from freshview.calculus.text import read, show
from freshview.calculus.types import INT, Type, common, product, read_type, ring
from freshview.codegen.kernel.source import emit
from freshview.errors import NotNative, ProgramProblem, TypeProblem
from freshview.program.check import check_program
from freshview.program.terms import Program
from freshview.program.text import read_program, show_program
from freshview.reference.engine.run import Engine
from freshview.reference.oracle.evaluate import Database, evaluate

TEXT = """
CREATE STREAM R(a int, x int);
CREATE STREAM S(a int, c string);
DECLARE MAP V_R[a int] : ring(Cofactor) := Sum[a](R(a, x) * [cofactor: Cofactor]('x', x));
DECLARE MAP V_S[a int] : ring(Cofactor) := Sum[a](S(a, c) * [onehot: Cofactor]('c', c));
DECLARE MAP Q[] : ring(Cofactor) := Sum[](V_R[a] * V_S[a]);
DECLARE QUERY q(model ring(Cofactor) = m) := (m := Q[]);
ON BATCH UPDATE OF R {
  Q[] += Sum[]((DELTA R)(a, x) * [cofactor: Cofactor]('x', x) * V_S[a]);
  V_R[a] += Sum[a]((DELTA R)(a, x) * [cofactor: Cofactor]('x', x));
}
ON BATCH UPDATE OF S {
  Q[] += Sum[]((DELTA S)(a, c) * [onehot: Cofactor]('c', c) * V_R[a]);
  V_S[a] += Sum[a]((DELTA S)(a, c) * [onehot: Cofactor]('c', c));
}
"""


def program() -> Program:
    return read_program(TEXT)


def test_a_program_over_a_ring_prints_and_reads_back() -> None:
    check_program(program())
    assert read_program(show_program(program())) == program()


def test_the_engine_keeps_what_the_definition_says() -> None:
    engine = Engine(program())
    engine.apply("R", [((1, 3), 1), ((1, 4), 1), ((2, 9), 1)])
    engine.apply("S", [((1, "red"), 1), ((1, "blue"), 2)])
    engine.apply("R", [((1, 4), -1)])
    [(model,)] = engine.read("q")
    red, blue = Category("c", "red"), Category("c", "blue")
    assert model.count == 3
    assert model.sums == {"x": 9, red: 1, blue: 2}
    assert model.product("x", blue) == 6  # the sum of x where c is blue
    assert model.product("x", "x") == 27
    db = Database({"R": {(1, 3): 1, (2, 9): 1}, "S": {(1, "red"): 1, (1, "blue"): 2}})
    lifted = "R(a, x) * [cofactor: Cofactor]('x', x) * S(a, c) * [onehot: Cofactor]('c', c)"
    assert evaluate(read(f"Sum[]({lifted})"), db) == {(): model}


def test_a_group_whose_rows_are_gone_is_gone() -> None:
    engine = Engine(program())
    engine.apply("R", [((1, 3), 1)])
    assert engine.contents("V_R") == {(1,): Cofactor.of("x", 3)}
    engine.apply("R", [((1, 3), -1)])
    assert engine.contents("V_R") == {}


def test_payloads_of_maps_that_meet_no_lift_are_counts() -> None:
    text = TEXT.replace(" * [onehot: Cofactor]('c', c)", "")
    with pytest.raises(ProgramProblem, match="there is no function 'g'"):
        check_program(read_program(text.replace("[cofactor: Cofactor]('x', x)", "[g: G](x)")))
    counted = read_program(text.replace("V_S[a int] : ring(Cofactor)", "V_S[a int] : int"))
    check_program(counted)
    engine = Engine(counted)
    engine.apply("S", [((1, "red"), 2)])
    engine.apply("R", [((1, 3), 1)])
    assert engine.contents("Q") == {(): Cofactor.of("x", 3).scaled(2)}


def test_a_ring_of_ones_own_runs_beside_the_others() -> None:
    def shear(x: int) -> Matrix:
        return Matrix.of(((1, x), (0, 1)))

    functions = BUILTINS.with_lift("shear", Matrix, shear)
    term = read("Sum[](R(x, y) * [shear: Matrix](x) * [shear: Matrix](y))")
    actual = evaluate(term, Database({"R": {(1, 2): 1, (3, 4): 2}}), functions=functions)
    assert actual == {(): shear(3) + 2 * shear(7)}


def test_lifts_show_their_ring() -> None:
    text = "Sum[a](R(a, x) * [pair: Pair](x + 1))"
    assert show(read(text)) == text
    assert evaluate(read(text), Database({"R": {(1, 5): 2}})) == {(1,): Pair(2, 12)}


def test_only_whole_numbers_multiply_a_payload() -> None:
    pair = ring("Pair")
    assert product(INT, pair) == product(pair, INT) == common(pair, INT) == pair
    assert read_type(str(pair)) == pair
    for other in (Type("double"), Type("decimal", 2), ring("Cofactor"), Type("string")):
        with pytest.raises(TypeProblem, match="do not go together"):
            product(pair, other)


LISTED = """
CREATE STREAM R(a int, x int);
DECLARE MAP Q[] : ring(Relational) := Sum[](R(a, x) * [listing: Relational]('x', x));
DECLARE QUERY q(rows ring(Relational) = m) := (m := Q[]);
ON BATCH UPDATE OF R { Q[] += Sum[]((DELTA R)(a, x) * [listing: Relational]('x', x)); }
"""


def test_kernels_say_what_they_do_not_hold() -> None:
    with pytest.raises(NotNative, match=r"ring\(Relational\)"):
        emit(read_program(LISTED))
