"""The language of matrices on one screen: the core of Lago, and what its sugar comes to.

A term denotes a matrix over a semiring: the reals, or Booleans, or distances ... Only the reals
have inverses and multiples. A transpose stands on a variable or an inverse; products and sums are
flat, so that associativity and the order of a sum need no rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from freshview.linear.language.sizes import Size


@dataclass(frozen=True, slots=True)
class Var:
    """A matrix by its name: an input, a view, or what a `Let` binds."""

    name: str


@dataclass(frozen=True, slots=True)
class Filled:
    """The same cell everywhere."""

    rows: Size
    cols: Size


class Zero(Filled):
    """Nothing but the zero of the semiring."""

    __slots__ = ()


class Ones(Filled):
    """Nothing but the one of the semiring."""

    __slots__ = ()


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
class Unary:
    """A matrix made of one other."""

    body: Expr


class Transpose(Unary):
    """Rows for columns."""

    __slots__ = ()


class Inverse(Unary):
    """The inverse of a square matrix."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Stack:
    """Matrices put together."""

    parts: tuple[Expr, ...]


class Beside(Stack):
    """[A, B]: matrices of equally many rows, left to right."""

    __slots__ = ()


class Above(Stack):
    """[A; B]: matrices of equally many columns, top to bottom."""

    __slots__ = ()


class Binder:
    """A term that gives a name to a matrix inside it."""

    __slots__ = ()
    name: str


@dataclass(frozen=True, slots=True)
class Let(Binder):
    """A name for a matrix inside a term."""

    name: str
    value: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Iterate(Binder):
    """`count` times from `start` on: x becomes the body, in which `name` is x."""

    count: int
    start: Expr
    name: str
    body: Expr


@dataclass(frozen=True, slots=True)
class Until(Binder):
    """From `start` on, x becomes the body, until that changes it no more than `tolerance` tells.

    With `unit`, x is divided by its length after every round. `warm` says that `start` is an old
    result, from which few rounds are to be expected.
    """

    tolerance: float
    start: Expr
    name: str
    body: Expr
    unit: bool = False
    warm: bool = field(default=False, compare=False)


Leaf: TypeAlias = Var | Zero | Ones | Identity
Expr: TypeAlias = (
    Leaf | Scale | Add | Mul | Transpose | Inverse | Beside | Above | Let | Iterate | Until
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
