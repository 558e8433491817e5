"""What a term takes (Lago, figure 5.9): products, inverses, and cells that are written.

A transpose costs nothing, since BLAS reads a matrix either way. A product is computed in the order
that dynamic programming finds cheapest, at the sizes that are assumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import mul as times
from typing import Literal, assert_never

from freshview.linear.cost.density import Densities, density, multiplied
from freshview.linear.language.meta import Scope, infer, shape
from freshview.linear.language.show import Tree
from freshview.linear.language.sizes import ONE, Size, size, total
from freshview.linear.language.terms import (
    Add,
    Expr,
    Filled,
    Identity,
    Inverse,
    Iterate,
    Let,
    Mul,
    Scale,
    Stack,
    Transpose,
    Until,
    Var,
)

COLD, WARM = 64, 16
"""How many rounds an iteration to a tolerance is taken to need: from its start, and afterwards."""

Sizes = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work, the sizes along it, and how often it is done.

    A product of n x m by m x p runs along n, m and p; an inverse along n three times. `filled` are
    the densities of the two sides of a product.
    """

    kind: Literal["product", "inverse", "cells"]
    along: tuple[Size, ...]
    times: int = 1
    filled: tuple[float, float] = (1.0, 1.0)

    @property
    def operations(self) -> Size:
        """How many multiplications or additions."""
        return reduce(times, self.along, ONE) * self.times


def traffic(w: Work, sizes: Sizes) -> Size:
    """How many cells travel if large matrices are spread over machines (LINVIEW, 6.5).

    The smaller side of a product is sent to where the other one lies; the result comes back if it
    is narrower than that. An inverse is computed in one place.
    """
    if w.kind == "cells":
        return size(0)
    n, m, p = w.along
    small, large = sorted((n * m, m * p), key=lambda s: s.at(sizes))
    result = n * p
    back = w.kind == "inverse" or result.at(sizes) < large.at(sizes)
    return (small + result if back else small) * w.times


def chain(
    dims: Sequence[Size], sizes: Sizes, filled: Sequence[float] = ()
) -> tuple[tuple[Work, ...], Tree]:
    """The cheapest order of a product of matrices dims[0] x dims[1], dims[1] x dims[2], ...

    The order depends on sizes alone; `filled`, the densities of the matrices, goes into the work.

    >>> from freshview.linear.language.sizes import size
    >>> n, k = size("n"), size("k")
    >>> products, order = chain([n, k, n, k], {"n": 100, "k": 1})
    >>> [str(w.operations) for w in products], order
    (['k^2*n', 'k^2*n'], (0, (1, 2)))
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

    def tree(i: int, j: int) -> tuple[tuple[Work, ...], Tree, float]:
        if i == j:
            return (), i, filled[i] if filled else 1.0
        s = best[i, j][1]
        (a, left, da), (b, right, db) = tree(i, s), tree(s + 1, j)
        last = Work("product", (dims[i], dims[s + 1], dims[j + 1]), filled=(da, db))
        return (*a, *b, last), (left, right), multiplied(da, db, at[s + 1])

    return tree(0, count - 1)[:2]


def dims(factors: Sequence[Expr], scope: Scope) -> list[Size]:
    """The sizes along a product: its rows, then the columns of every factor."""
    shapes = [shape(f, scope) for f in factors]
    return [shapes[0][0], *(cols for _, cols in shapes)]


def work(e: Expr, scope: Scope, sizes: Sizes, known: Densities | None = None) -> list[Work]:
    """What it takes to compute a term; `known` are the densities of matrices, if any are."""

    def inside(*parts: Expr) -> list[Work]:
        return [w for p in parts for w in work(p, scope, sizes, known)]

    def cells(often: int = 1) -> Work:
        return Work("cells", shape(e, scope), often)

    def repeated(rounds: int, start: Expr, name: str, body: Expr) -> list[Work]:
        inner = {**scope, name: infer(start, scope)}
        again = [replace(w, times=w.times * rounds) for w in work(body, inner, sizes, known)]
        return [*inside(start), *again]

    match e:
        case Var() | Filled() | Identity():
            return []
        case Transpose(body):
            return inside(body)
        case Scale(_, body):
            return [*inside(body), cells()]
        case Inverse(body):
            return [*inside(body), Work("inverse", (infer(body, scope).rows,) * 3)]
        case Add(terms):
            return [*inside(*terms), cells(len(terms) - 1)]
        case Stack(parts):
            return [*inside(*parts), cells()]
        case Mul(factors):
            filled = [density(f, scope, known, sizes) for f in factors] if known else ()
            return [*inside(*factors), *chain(dims(factors, scope), sizes, filled)[0]]
        case Let(name, value, body):
            return repeated(1, value, name, body)
        case Iterate(count, start, name, body):
            return repeated(count, start, name, body)
        case Until(_, start, name, body):
            return repeated(WARM if e.warm else COLD, start, name, body)
        case _:
            assert_never(e)


def cost(e: Expr, scope: Scope, sizes: Sizes) -> Size:
    """How many operations a term takes."""
    return total(w.operations for w in work(e, scope, sizes))
