"""What a term costs: operations counted as in Lago's figure 5.9, an inverse as n^3.

A transpose costs nothing, since BLAS reads a matrix either way. A product is computed in the order
that dynamic programming finds cheapest, at the sizes that are assumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from freshet.linear.meta import Scope, infer, shape
from freshet.linear.show import Tree
from freshet.linear.sizes import NOTHING, Size, total
from freshet.linear.terms import (
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
    Var,
    Zero,
)

Sizes = Mapping[str, float]


def chain(dims: Sequence[Size], sizes: Sizes) -> tuple[Size, Tree]:
    """The cheapest order of a product of matrices dims[0] x dims[1], dims[1] x dims[2], ...

    >>> from freshet.linear.sizes import size
    >>> n, k = size("n"), size("k")
    >>> order = chain([n, k, n, k], {"n": 100, "k": 1})
    >>> str(order[0]), order[1]
    ('2*k^2*n', (0, (1, 2)))
    """
    count = len(dims) - 1
    at = [d.at(sizes) for d in dims]
    best: dict[tuple[int, int], tuple[float, int]] = {(i, i): (0.0, i) for i in range(count)}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            best[i, j] = min(
                (best[i, s][0] + best[s + 1, j][0] + at[i] * at[s + 1] * at[j + 1], s)
                for s in range(i, j)
            )

    def tree(i: int, j: int) -> tuple[Size, Tree]:
        if i == j:
            return NOTHING, i
        s = best[i, j][1]
        (a, left), (b, right) = tree(i, s), tree(s + 1, j)
        return a + b + dims[i] * dims[s + 1] * dims[j + 1], (left, right)

    return tree(0, count - 1)


def dims(factors: Sequence[Expr], scope: Scope) -> list[Size]:
    """The sizes along a product: its rows, then the columns of every factor."""
    shapes = [shape(f, scope) for f in factors]
    return [shapes[0][0], *(cols for _, cols in shapes)]


def cost(e: Expr, scope: Scope, sizes: Sizes) -> Size:
    """How many operations a term takes."""
    match e:
        case Var() | Zero() | Ones() | Identity():
            return NOTHING
        case Transpose(body):
            return cost(body, scope, sizes)
        case Scale(_, body):
            return cost(body, scope, sizes) + _cells(e, scope)
        case Inverse(body):
            n = infer(body, scope).rows
            return cost(body, scope, sizes) + n * n * n
        case Add(terms):
            inside = total(cost(t, scope, sizes) for t in terms)
            return inside + _cells(e, scope) * (len(terms) - 1)
        case Mul(factors):
            inside = total(cost(f, scope, sizes) for f in factors)
            return inside + chain(dims(factors, scope), sizes)[0]
        case Beside(parts) | Above(parts):
            return total(cost(p, scope, sizes) for p in parts) + _cells(e, scope)
        case Let(name, value, body):
            inner = {**scope, name: infer(value, scope)}
            return cost(value, scope, sizes) + cost(body, inner, sizes)
        case Iterate(count, start, name, body):
            inner = {**scope, name: infer(start, scope)}
            return cost(start, scope, sizes) + cost(body, inner, sizes) * count
        case _:
            assert_never(e)


def _cells(e: Expr, scope: Scope) -> Size:
    rows, cols = shape(e, scope)
    return rows * cols
