"""The running example of F-IVM 2018 (Fig. 2): Q = COUNT over R(A,B), S(A,C,E), T(C,D)."""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.build import const
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Apply, Expr, Var
from freshview.calculus.types import INT
from freshview.factorized.order import read_order
from freshview.factorized.terms import Join, natural_join
from freshview.program.terms import Program
from freshview.reference.engine.run import Engine

ORDER = read_order("A - {B, C - {D, E}}")
COLUMNS = {"R": "AB", "S": "ACE", "T": "CD"}

# a1 is 1, b2 is 2 ... : the third digit tells nothing apart that its column does not.
ROWS = {
    "R": [(1, 1), (1, 2), (2, 3), (3, 4)],
    "S": [(1, 1, 1), (1, 1, 2), (1, 2, 3), (2, 2, 4)],
    "T": [(1, 1), (2, 2), (2, 3), (3, 4)],
}


def relations(static: str = "") -> tuple[Relation, ...]:
    """R, S and T; those named in `static` never change."""
    return tuple(
        Relation(name, tuple(Column(c, INT) for c in columns), name in static)
        for name, columns in COLUMNS.items()
    )


def join(keys: str = "", factors: Iterable[Expr] = ()) -> Join:
    """The natural join of the three."""
    return natural_join(relations(), tuple(keys), tuple(factors))


def lift(fn: str, ring: str, names: str) -> list[Expr]:
    """One lifting function a variable, with the variable's name as first argument."""
    return [Apply(fn, (const(v), Var(v)), ring) for v in names]


def filled(program: Program) -> Engine:
    """An engine with the rows of the figure, static ones loaded first."""
    engine = Engine(program)
    static = {r.name for r in program.relations if r.static}
    engine.load({name: rows for name, rows in ROWS.items() if name in static})
    for name, rows in ROWS.items():
        if name not in static:
            engine.apply(name, [(row, 1) for row in rows])
    return engine
