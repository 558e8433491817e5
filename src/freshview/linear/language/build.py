"""Smart constructors: flat sums and products, one multiple in front, transposes at the leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from freshview.linear.language.sizes import Size, size
from freshview.linear.language.terms import (
    Above,
    Add,
    Beside,
    Expr,
    Identity,
    Inverse,
    Iterate,
    Let,
    Mul,
    Ones,
    Scale,
    Transpose,
    Until,
    Var,
    Zero,
)


def scale(by: float, e: Expr) -> Expr:
    """A multiple; multiples of multiples are one, and a multiple by 1 is none.

    >>> scale(2, scale(0.5, Var("A")))
    Var(name='A')
    """
    if isinstance(e, Scale):
        return scale(by * e.by, e.body)
    if by == 1:
        return e
    return Scale(float(by), e)


def neg(e: Expr) -> Expr:
    """-A."""
    return scale(-1.0, e)


def add(*terms: Expr) -> Expr:
    """A + B + ..., flat.

    >>> add(Var("A"), add(Var("B"), Var("C"))) == Add((Var("A"), Var("B"), Var("C")))
    True
    """
    flat: list[Expr] = []
    for t in terms:
        flat.extend(t.terms if isinstance(t, Add) else (t,))
    return flat[0] if len(flat) == 1 else Add(tuple(flat))


def mul(*factors: Expr) -> Expr:
    """A * B * ..., flat, the multiples of the factors in front of it.

    >>> mul(Var("A"), scale(3, mul(Var("B"), Var("C"))))
    Scale(by=3.0, body=Mul(factors=(Var(name='A'), Var(name='B'), Var(name='C'))))
    """
    flat: list[Expr] = []
    by = 1.0
    for f in factors:
        if isinstance(f, Scale):
            by *= f.by
            f = f.body
        flat.extend(f.factors if isinstance(f, Mul) else (f,))
    return scale(by, flat[0] if len(flat) == 1 else Mul(tuple(flat)))


def transpose(e: Expr) -> Expr:
    """A', carried down to variables: (A * B)' = B' * A', (A + B)' = A' + B', [A, B]' = [A'; B'].

    >>> transpose(mul(Var("A"), transpose(Var("B"))))
    Mul(factors=(Var(name='B'), Transpose(body=Var(name='A'))))
    """
    match e:
        case Var():
            return Transpose(e)
        case Transpose(body):
            return body
        case Identity():
            return e
        case Zero(rows, cols):
            return Zero(cols, rows)
        case Ones(rows, cols):
            return Ones(cols, rows)
        case Scale(by, body):
            return scale(by, transpose(body))
        case Add(terms):
            return add(*(transpose(t) for t in terms))
        case Mul(factors):
            return mul(*(transpose(f) for f in reversed(factors)))
        case Inverse(body):
            return inverse(transpose(body))
        case Beside(parts):
            return above(*(transpose(p) for p in parts))
        case Above(parts):
            return beside(*(transpose(p) for p in parts))
        case Let(name, value, body):
            return Let(name, value, transpose(body))
        case Iterate() | Until():
            return Transpose(e)
        case _:
            assert_never(e)


def inverse(e: Expr) -> Expr:
    """The inverse; that of an inverse is the matrix again, and an identity is its own."""
    match e:
        case Inverse(body):
            return body
        case Identity():
            return e
        case Scale(by, body) if by:
            return scale(1.0 / by, inverse(body))
        case _:
            return Inverse(e)


def beside(*parts: Expr) -> Expr:
    """[A, B, ...], flat."""
    return _stacked(Beside, parts)


def above(*parts: Expr) -> Expr:
    """[A; B; ...], flat."""
    return _stacked(Above, parts)


def _stacked(kind: type[Beside] | type[Above], parts: tuple[Expr, ...]) -> Expr:
    flat: list[Expr] = []
    for p in parts:
        flat.extend(p.parts if isinstance(p, kind) else (p,))
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def identity(n: Size | int | str) -> Expr:
    """Ones on the diagonal."""
    return Identity(size(n))


def fill(rows: Size | int | str, cols: Size | int | str, by: float = 1.0) -> Expr:
    """The same number everywhere."""
    return scale(by, Ones(size(rows), size(cols)))


def diag(n: Size | int | str, by: float) -> Expr:
    """The same number all along the diagonal."""
    return scale(by, identity(n))


def zeros(rows: Size | int | str, cols: Size | int | str) -> Expr:
    """The zero of the semiring everywhere."""
    return Zero(size(rows), size(cols))


def split(e: Expr) -> tuple[float, tuple[Expr, ...]]:
    """The multiple in front of a product, and its factors."""
    by, body = (e.by, e.body) if isinstance(e, Scale) else (1.0, e)
    return by, body.factors if isinstance(body, Mul) else (body,)


CONSTRUCTORS: dict[type, Callable[..., Expr]] = {
    Add: add,
    Mul: mul,
    Transpose: transpose,
    Inverse: inverse,
    Beside: beside,
    Above: above,
}
"""The constructors of the nodes that consist of their subterms alone."""
