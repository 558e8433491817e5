"""A budget for planning: what is spent are nodes of the terms that the compiler works on.

Deltas of deltas can grow faster than any query is worth. Past the budget the compiler goes on
with fewer deltas: a map whose delta is too large is recomputed, and once the whole program has
grown too large, the maps that are left are recomputed from base relations. Sizes decide, never
the clock, so that a query has one plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from freshview.calculus.terms import Expr
from freshview.calculus.walk import size

ONE_DELTA = 20_000
"""Nodes of one delta, as it is before it is simplified; workloads stay below 2,000."""

ALL_DELTAS = 120_000
"""Nodes of all the deltas of a program; workloads stay below 15,000."""


def is_too_large(change: Expr, definition: Expr) -> bool:
    """Whether a delta is beyond the budget; what a query spells out itself is not held against it.

    >>> from freshview.calculus.text import read
    >>> is_too_large(read("(DELTA R)(a) * S(a)"), read("R(a) * S(a)"))
    False
    """
    return size(change) > ONE_DELTA + 4 * size(definition)


@dataclass
class Budget:
    """What one compilation has spent: nodes, deltas and how many of them were given up."""

    limit: int = ALL_DELTAS
    nodes: int = 0
    deltas: int = 0
    refused: int = 0

    def allow(self, e: Expr) -> None:
        """Give a query as much more as its own size asks for."""
        self.limit += 20 * size(e)

    def spend(self, change: Expr) -> None:
        """Count a delta."""
        self.deltas += 1
        self.nodes += size(change)

    @property
    def is_spent(self) -> bool:
        """Whether no more deltas are taken."""
        return self.nodes > self.limit

    def refusal(self, change: Expr, definition: Expr) -> str:
        """Why a delta is not taken, or nothing; one that is taken is counted."""
        if is_too_large(change, definition):
            self.refused += 1
            return f"its delta has {size(change):,} nodes, more than planning may take"
        if self.is_spent:
            self.refused += 1
            return f"the deltas taken so far have {self.nodes:,} nodes, all that planning may take"
        self.spend(change)
        return ""
