"""How Boolean matrices lie in memory: by rows or by columns, as their products read them.

A product with a few columns is a union of columns of its left matrix, one with a few rows a union
of rows of the right one (`bits`): cells that lie one after the other are read eight at a time, the
others one by one. What is wide is packed on the way, which takes next to nothing beside the unions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from freshet.linear.bits import WORD
from freshet.linear.cost import Sizes, chain, dims
from freshet.linear.meta import Scope, infer
from freshet.linear.semiring import Array
from freshet.linear.show import Tree
from freshet.linear.terms import Expr, Mul, Transpose, Var
from freshet.linear.trigger import Trigger
from freshet.linear.walk import free, subterms


def by_columns(triggers: Iterable[Trigger], views: Iterable[str], sizes: Sizes) -> frozenset[str]:
    """The views of which the triggers read columns more often than they read or write rows."""
    reads: Counter[str] = Counter()
    for t in triggers:
        at = {**t.sizes, **sizes}
        reads.subtract(u.view for u in t.updates)
        for s in (*t.assignments, *t.again):
            for e in subterms(s.term):
                if isinstance(e, Mul) and free(e) <= t.scope.keys():
                    order = chain(dims(e.factors, t.scope), at)[1]
                    _count(e.factors, order, t.scope, at, reads)
    return frozenset(v for v in views if reads[v] > 0)


def laid(a: Array, *, columns: bool) -> Array:
    """The same matrix, by columns or by rows; itself if it lies so."""
    return np.asfortranarray(a) if columns else np.ascontiguousarray(a)


def _count(
    factors: tuple[Expr, ...], order: Tree, scope: Scope, sizes: Sizes, reads: Counter[str]
) -> tuple[float, float]:
    """Count each read of columns, less each one of rows; the rows and columns of a product."""
    if isinstance(order, int):
        m = infer(factors[order], scope)
        return m.rows.at(sizes), m.cols.at(sizes)
    left, right = order
    (n, _), (_, p) = (_count(factors, side, scope, sizes, reads) for side in order)
    if p <= min(n, WORD) and isinstance(left, int):
        _read(factors[left], 1, reads)
    elif n <= WORD and isinstance(right, int):
        _read(factors[right], -1, reads)
    return n, p


def _read(e: Expr, by: int, reads: Counter[str]) -> None:
    match e:
        case Var(name):
            reads[name] += by
        case Transpose(Var(name)):
            reads[name] -= by
