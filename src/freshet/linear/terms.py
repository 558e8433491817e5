"""The language of matrices on one screen: the core of Lago, and what its sugar comes to.

A term denotes a matrix over a semiring: the reals, or Booleans, or distances ... Only the reals
have inverses and multiples. A transpose stands on a variable or an inverse; products and sums are
flat, so that associativity and the order of a sum need no rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from freshet.linear.sizes import Size


@dataclass(frozen=True, slots=True)
class Var:
    """A matrix by its name: an input, a view, or what a `Let` binds."""

    name: str


@dataclass(frozen=True, slots=True)
class Zero:
    """Nothing but the zero of the semiring."""

    rows: Size
    cols: Size


@dataclass(frozen=True, slots=True)
class Ones:
    """Nothing but the one of the semiring."""

    rows: Size
    cols: Size


@dataclass(frozen=True, slots=True)
class Identity:
    """Ones on the diagonal, zeros beside it."""

    size: Size


@dataclass(frozen=True, slots=True)
class Scale:
    """A multiple of a matrix."""

    by: float
    body: Expr


@dataclass(frozen=True, slots=True)
class Add:
    """The sum of two matrices or more."""

    terms: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Mul:
    """The product of two matrices or more; `cost.chain` tells in which order it is computed."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Transpose:
    """Rows for columns."""

    body: Expr


@dataclass(frozen=True, slots=True)
class Inverse:
    """The inverse of a square matrix."""

    body: Expr


@dataclass(frozen=True, slots=True)
class Beside:
    """[A, B]: matrices of equally many rows, left to right."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Above:
    """[A; B]: matrices of equally many columns, top to bottom."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Let:
    """A name for a matrix inside a term."""

    name: str
    value: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Iterate:
    """`count` times from `start` on: x becomes the body, in which `name` is x."""

    count: int
    start: Expr
    name: str
    body: Expr


Expr: TypeAlias = (
    Var
    | Zero
    | Ones
    | Identity
    | Scale
    | Add
    | Mul
    | Transpose
    | Inverse
    | Beside
    | Above
    | Let
    | Iterate
)


@dataclass(frozen=True, slots=True)
class Input:
    """A matrix that is given; `traits` tell what is known of it, and stays so."""

    name: str
    rows: Size
    cols: Size
    dynamic: bool = True
    traits: frozenset[str] = frozenset()


TRAITS = ("symmetric", "diagonal", "lower", "upper")


@dataclass(frozen=True, slots=True)
class Statement:
    """A name for a matrix that a program computes; `line` is where its text stands, if anywhere."""

    name: str
    term: Expr
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Source:
    """A program as it is written: inputs, statements in order, and which of them are wanted."""

    inputs: tuple[Input, ...]
    statements: tuple[Statement, ...]
    outputs: tuple[str, ...]
    semiring: str = "real"
