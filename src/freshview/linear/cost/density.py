"""How full a matrix is: the share of its cells that may differ from zero, where that is known.

Unlike the rest of what is known of a matrix, this depends on values: on those of the inputs, which
are counted, and on the sizes. Cells are taken to be independent, so that the density of a product
is an expectation; correlated ones (a few full rows) make it emptier, not fuller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from freshview.linear.language.meta import Scope, bound, infer
from freshview.linear.language.terms import (
    Add,
    Expr,
    Identity,
    Inverse,
    Iterate,
    Let,
    Mul,
    Ones,
    Scale,
    Stack,
    Statement,
    Transpose,
    Until,
    Var,
    Zero,
)

Densities = Mapping[str, float]


def multiplied(a: float, b: float, inner: float) -> float:
    """The density of a product over an inner size: how likely some pair along it meets.

    >>> multiplied(0.5, 0.5, 2), multiplied(1.0, 0.25, 1), multiplied(1.0, 1.0, 9)
    (0.4375, 0.25, 1.0)
    """
    return any_of(a * b, inner)


def any_of(share: float, cells: float) -> float:
    """How likely one of several cells is there: the share of the lines that are not empty."""
    return 1.0 - float((1.0 - min(share, 1.0)) ** cells)


def density(e: Expr, scope: Scope, known: Densities, sizes: Mapping[str, float]) -> float:
    """The density of a term; a matrix that nothing is known of is full."""
    match e:
        case Var(name):
            return known.get(name, 1.0)
        case Zero():
            return 0.0
        case Ones():
            return 1.0
        case Identity(n):
            return 1.0 / max(1.0, n.at(sizes))
        case Scale(_, body) | Transpose(body):
            return density(body, scope, known, sizes)
        case Inverse():
            return _by_form(e, scope, sizes)
        case Add(terms):
            parts = sum(density(t, scope, known, sizes) for t in terms)
            return min(parts, _by_form(e, scope, sizes))
        case Mul((first, *rest)):
            share = density(first, scope, known, sizes)
            for f in rest:
                inner = infer(f, scope).rows.at(sizes)
                share = multiplied(share, density(f, scope, known, sizes), inner)
            return min(share, _by_form(e, scope, sizes))
        case Mul():
            return 1.0
        case Stack(parts):
            return _stacked(parts, scope, known, sizes)
        case Let(name, value, body):
            inside = {**known, name: density(value, scope, known, sizes)}
            return density(body, {**scope, name: infer(value, scope)}, inside, sizes)
        case Iterate(count, start, name, body):
            x = density(start, scope, known, sizes)
            inner_scope = {**scope, name: bound(e, infer(start, scope))}
            for _ in range(count):
                before, x = x, density(body, inner_scope, {**known, name: x}, sizes)
                if x == before:
                    break
            return x
        case Until():
            return 1.0  # nobody knows how many rounds fill it
        case _:
            assert_never(e)


def densities(
    statements: Iterable[Statement], scope: Scope, known: Densities, sizes: Mapping[str, float]
) -> dict[str, float]:
    """The densities of what is known and of what statements make of it, in order."""
    by_name = dict(known)
    for s in statements:
        by_name[s.name] = density(s.term, scope, by_name, sizes)
    return by_name


def _by_form(e: Expr, scope: Scope, sizes: Mapping[str, float]) -> float:
    """What the form leaves: a diagonal, a triangle, or everything."""
    m = infer(e, scope)
    n = max(1.0, m.rows.at(sizes))
    if m.diagonal:
        return 1.0 / n
    return (n + 1) / (2 * n) if m.lower or m.upper else 1.0


def _stacked(
    parts: tuple[Expr, ...], scope: Scope, known: Densities, sizes: Mapping[str, float]
) -> float:
    metas = [infer(p, scope) for p in parts]
    cells = [m.rows.at(sizes) * m.cols.at(sizes) for m in metas]
    there = sum(c * density(p, scope, known, sizes) for c, p in zip(cells, parts, strict=True))
    return there / max(1.0, sum(cells))
