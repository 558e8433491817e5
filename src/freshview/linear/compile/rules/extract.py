"""A * B + A * C => A * (B + C): a common first or last factor comes out."""

from __future__ import annotations

from collections.abc import Iterator

from freshview.linear.language.build import add, identity, mul, scale, split
from freshview.linear.language.meta import Scope, shape
from freshview.linear.language.terms import Add, Expr


def extract(e: Expr, scope: Scope) -> Iterator[Expr]:
    """A * B + A * C => A * (B + C), and from the other side, two terms of a sum at a time."""
    if not isinstance(e, Add):
        return
    for i, a in enumerate(e.terms):
        for j in range(i + 1, len(e.terms)):
            for merged in _merge(a, e.terms[j], scope):
                yield add(*e.terms[:i], merged, *e.terms[i + 1 : j], *e.terms[j + 1 :])


def _merge(a: Expr, b: Expr, scope: Scope) -> Iterator[Expr]:
    (x, left), (y, right) = split(a), split(b)
    if left[0] == right[0]:
        rest = add(_rest(x, left[1:], scope, left[0], 1), _rest(y, right[1:], scope, right[0], 1))
        yield mul(left[0], rest)
    if left[-1] == right[-1]:
        rest = add(
            _rest(x, left[:-1], scope, left[-1], 0), _rest(y, right[:-1], scope, right[-1], 0)
        )
        yield mul(rest, left[-1])


def _rest(by: float, factors: tuple[Expr, ...], scope: Scope, beside: Expr, side: int) -> Expr:
    if not factors:
        return scale(by, identity(shape(beside, scope)[side]))
    return scale(by, mul(*factors))
