"""How many operations a trigger takes where the kernels pass over what is empty.

The costs of triggers are polynomials and count every cell. Over the semirings whose products skip
empty rows and cells that is far too much for matrices that are mostly empty: here the same work is
counted at the densities that are known, case by case as `kernels` decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from freshview.linear.compile.trigger import Dense, Trigger, Update
from freshview.linear.cost.density import Densities, any_of, densities, density, multiplied
from freshview.linear.cost.operations import Sizes, Work, work
from freshview.linear.kernels.boolean import FULL, NAMED, WORD
from freshview.linear.kernels.semiring import EMPTY, SPARSE
from freshview.linear.language.meta import infer
from freshview.linear.strategy.fill import Fill

UNION = 8 * FULL / WORD
"""What a cell of a union of packed rows takes, in the operations of a product by BLAS."""


@dataclass(frozen=True, slots=True)
class SparseOperationsModel:
    """Triggers by the operations that the kernels do not skip."""

    sizes: Sizes
    fill: Fill

    def cost(self, plan: Trigger, /) -> float:
        """Operations of one run.

        What is computed anew finds the input as full as the update leaves it; the views among the
        assignments are as full as they were before it.
        """
        sizes, fill = self.sizes, self.fill
        before = assigned(plan, sizes, fill)
        added = multiplied(fill.left, fill.right, plan.rank.at(sizes))
        share = min(1.0, fill.known.get(plan.input, 1.0) + added)
        after = densities(plan.again, plan.scope, {**fill.known, plan.input: share}, sizes)
        every = [w for s in plan.assignments for w in work(s.term, plan.scope, sizes, before)]
        every += [w for s in plan.again for w in work(s.term, plan.scope, sizes, after)]
        spent = sum(operations(w, sizes, fill.semiring) for w in every)
        return spent + sum(_update(plan, u, sizes, before) for u in plan.updates)


def assigned(t: Trigger, sizes: Sizes, fill: Fill) -> dict[str, float]:
    """The densities of all that a trigger reads and assigns."""
    known = {**fill.known, t.left: fill.left, t.right: fill.right}
    return densities(t.assignments, t.scope, known, sizes)


def operations(w: Work, sizes: Sizes, semiring: str) -> float:
    """Operations of a piece of work."""
    at = [s.at(sizes) for s in w.along]
    if w.kind != "product":
        return w.times * prod(at)
    n, m, p = at
    a, b = w.filled
    looked = 0.0
    if m >= SPARSE and 4 * p <= m:
        looked += m * p
        there = any_of(b, p)
        if 4 * there <= 1:
            return w.times * (looked + _product(n, there * m, p, a, _among(b, there), semiring))
    if m >= SPARSE and 4 * n <= m:
        looked += n * m
        there = any_of(a, n)
        if 4 * there <= 1:
            return w.times * (looked + _product(n, there * m, p, _among(a, there), b, semiring))
    return w.times * (looked + _product(n, m, p, a, b, semiring))


def _among(share: float, there: float) -> float:
    """A density among the lines that are not empty."""
    return min(1.0, share / there) if there else 0.0


def _product(n: float, m: float, p: float, a: float, b: float, semiring: str) -> float:
    whole = n * m * p
    if semiring == "boolean":
        if p <= n and p <= WORD:
            return whole * b if NAMED * b <= 1 else whole
        if n <= WORD:
            return whole * a if NAMED * a <= 1 else whole
        unions = UNION * a * whole
        return n * m + m * p + unions if unions <= whole else whole
    if semiring != "real" and min(n, m, p) >= SPARSE and EMPTY * a <= 1:
        return n * m + a * whole
    return whole


def _update(t: Trigger, u: Update, sizes: Sizes, known: Densities) -> float:
    """A view += a change: a factored one touches only rows, or else columns, that change."""
    m = t.scope[u.view]
    n, p = m.rows.at(sizes), m.cols.at(sizes)
    if isinstance(u.change, Dense):
        return n * p
    rank = infer(u.change.left, t.scope).cols.at(sizes)
    sides = (u.change.left, u.change.right)
    rows, cols = (any_of(density(e, t.scope, known, sizes), rank) for e in sides)
    share = (rows if 2 * rows <= 1 else 1.0) * (cols if 4 * cols <= 1 else 1.0)
    return (n + p) * rank + share * n * p * rank
