"""Rings of one's own in view trees: those that do not commute keep the order of the query."""

from __future__ import annotations

import pytest

from freshview.algebra import Cofactor, Matrix
from freshview.calculus.build import const
from freshview.calculus.functions import BUILTINS
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Apply, Expr, Rel, Var
from freshview.calculus.types import INT
from freshview.factorized.compile import compile_joins
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.order import read_order
from freshview.factorized.readout import NotFactorized
from freshview.factorized.terms import Join
from freshview.program.check import check_program
from freshview.reference.engine.run import Engine


def shear(x: int) -> Matrix:
    return Matrix.of(((1, x), (0, 1)))


def tilt(x: int) -> Matrix:
    return Matrix.of(((1, 0), (x, 1)))


FUNCTIONS = BUILTINS.with_lift("shear", Matrix, shear).with_lift("tilt", Matrix, tilt)
RELATIONS = (
    Relation("R", (Column("k", INT), Column("x", INT))),
    Relation("S", (Column("k", INT), Column("y", INT))),
)
ATOMS = (Rel("R", ("k", "x")), Rel("S", ("k", "y")))


def lifted(fn: str, v: str) -> Expr:
    return Apply(fn, (Var(v),), "Matrix")


@pytest.mark.parametrize("mode", ["batch", "tuple"])
def test_matrices_multiply_in_the_order_of_the_query(mode: str) -> None:
    join = Join(("k",), ATOMS, (lifted("shear", "x"), lifted("tilt", "y")))
    options = ViewTreeOptions(mode=mode, orders={"Q": read_order("k - {x, y}")})
    program = compile_joins({"Q": join}, RELATIONS, options, FUNCTIONS)
    check_program(program, FUNCTIONS)
    engine = Engine(program, FUNCTIONS)
    engine.apply("S", [((1, 2), 1), ((1, 3), 1)])  # the second factor changes before the first
    engine.apply("R", [((1, 5), 1), ((1, 6), 1)])
    engine.apply("S", [((1, 3), -1)])
    engine.apply("S", [((1, 4), 2)])
    want = (shear(5) + shear(6)) * (tilt(2) + 2 * tilt(4))
    assert engine.rows("Q") == [(1, want)]
    assert (tilt(2) + 2 * tilt(4)) * (shear(5) + shear(6)) != want


def test_an_order_that_turns_matrices_around_is_refused() -> None:
    join = Join((), ATOMS[:1], (lifted("shear", "k"), lifted("tilt", "x")))
    with pytest.raises(NotFactorized, match="the ring Matrix does not commute"):
        compile_joins(
            {"Q": join}, RELATIONS, ViewTreeOptions(orders={"Q": read_order("k - x")}), FUNCTIONS
        )
    turned = ViewTreeOptions(orders={"Q": read_order("x - k")})
    engine = Engine(compile_joins({"Q": join}, RELATIONS, turned, FUNCTIONS), FUNCTIONS)
    engine.apply("R", [((2, 3), 1), ((4, 5), 1)])
    assert engine.rows("Q") == [(shear(2) * tilt(3) + shear(4) * tilt(5),)]


def test_categories_group_inside_the_payload() -> None:
    lifts = (
        Apply("onehot", (const("k"), Var("k")), "Cofactor"),
        Apply("cofactor", (const("x"), Var("x")), "Cofactor"),
    )
    engine = Engine(compile_joins({"Q": Join((), ATOMS, lifts)}, RELATIONS))
    engine.apply("R", [((1, 5), 1), ((1, 6), 1), ((2, 7), 1)])
    engine.apply("S", [((1, 0), 1), ((2, 0), 3)])
    [(model,)] = engine.rows("Q")
    assert isinstance(model, Cofactor)
    assert {s.value: model.product(s, "x") for s in model.slots() if not isinstance(s, str)} == {
        1: 11,
        2: 21,
    }
