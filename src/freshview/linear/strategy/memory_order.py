"""How Boolean matrices lie in memory: by rows or by columns, as their products read them.

A product with a few columns is a union of columns of its left matrix, one with a few rows a union
of rows of the right one, if the narrow side names few (`kernels.boolean`). Cells that lie one after
the other are read many at a time, the others one by one. Wide matrices are packed on the way, which
takes next to nothing beside the unions, and where ways are counted BLAS reads either order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from freshview.linear.compile.trigger import Trigger
from freshview.linear.cost.density import Densities, density, multiplied
from freshview.linear.cost.operations import Sizes, chain, dims
from freshview.linear.kernels.boolean import NAMED, WORD
from freshview.linear.kernels.semiring import Array
from freshview.linear.language.meta import Scope, infer
from freshview.linear.language.show import Tree
from freshview.linear.language.terms import Expr, Mul, Transpose, Var
from freshview.linear.language.walk import free, subterms
from freshview.linear.strategy.fill import Fill
from freshview.linear.strategy.sparse_cost import assigned


def by_columns(
    triggers: Iterable[tuple[Trigger, Fill]], views: Iterable[str], sizes: Sizes
) -> frozenset[str]:
    """The views of which the triggers read columns more often than they read or write rows."""
    reads: Counter[str] = Counter()
    for t, fill in triggers:
        at = {**t.sizes, **sizes}
        count = _Count(t.scope, at, assigned(t, at, fill), reads)
        reads.subtract(u.view for u in t.updates)
        for s in (*t.assignments, *t.again):
            for e in subterms(s.term):
                if isinstance(e, Mul) and free(e) <= t.scope.keys():
                    count.product(e.factors, chain(dims(e.factors, t.scope), at)[1])
    return frozenset(v for v in views if reads[v] > 0)


def in_memory_order(a: Array, *, columns: bool) -> Array:
    """The same matrix, by columns or by rows; itself if it lies so."""
    return np.asfortranarray(a) if columns else np.ascontiguousarray(a)


@dataclass
class _Count:
    """Reads of columns, less those of rows."""

    scope: Scope
    sizes: Sizes
    known: Densities
    reads: Counter[str]

    def product(self, factors: tuple[Expr, ...], order: Tree) -> tuple[float, float, float]:
        """Count what a product reads; its rows, its columns, and how full it is."""
        if isinstance(order, int):
            e = factors[order]
            m = infer(e, self.scope)
            share = density(e, self.scope, self.known, self.sizes)
            return m.rows.at(self.sizes), m.cols.at(self.sizes), share
        left, right = order
        (n, inner, a), (_, p, b) = (self.product(factors, side) for side in order)
        if p <= min(n, WORD):
            if isinstance(left, int) and NAMED * b <= 1:
                self.read(factors[left], 1)
        elif n <= WORD and isinstance(right, int) and NAMED * a <= 1:
            self.read(factors[right], -1)
        return n, p, multiplied(a, b, inner)

    def read(self, e: Expr, by: int) -> None:
        match e:
            case Var(name):
                self.reads[name] += by
            case Transpose(Var(name)):
                self.reads[name] -= by
