"""How full the matrices of a maintained program are, and what an update brings.

Inputs are counted when they are bound, and again now and then as updates fill them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, log2

from freshview.linear.compile.normal import Normal
from freshview.linear.cost.density import Densities, densities
from freshview.linear.kernels.semiring import Array, Semiring

RECOUNT = 64
"""After how many updates inputs are counted again; then after twice as many, and so on."""


@dataclass(frozen=True)
class Fill:
    """How full the matrices of a program are, and the two factors of an update."""

    semiring: str
    known: Densities
    left: float
    right: float


def rounded(share: float) -> float:
    """A density rounded up to a power of two, so that there are few of them.

    >>> rounded(0.3), rounded(0.0), rounded(1.0)
    (0.5, 0.0, 1.0)
    """
    return min(1.0, 2.0 ** ceil(log2(share))) if share else 0.0


class Counted:
    """The densities of a program's inputs, and those that its views are expected to have."""

    def __init__(
        self, program: Normal, values: Mapping[str, Array], ring: Semiring, sizes: dict[str, float]
    ) -> None:
        self.program, self.ring, self.sizes = program, ring, sizes
        self.next = RECOUNT
        self.known = self._count(values)

    def _count(self, values: Mapping[str, Array]) -> dict[str, float]:
        inputs = {i.name: self.ring.density(values[i.name]) for i in self.program.inputs}
        return densities(self.program.statements, self.program.scope, inputs, self.sizes)

    def recount(self, updates: int, values: Mapping[str, Array]) -> bool:
        """Count again if it is time to; whether anything is about twice as full, or half."""
        if updates < self.next:
            return False
        self.next *= 2
        before, self.known = self.known, self._count(values)
        return any(rounded(self.known[n]) != rounded(d) for n, d in before.items())

    def fill(self, name: str, factors: tuple[Array, Array] | None = None) -> Fill:
        """How full all is for an update of an input; without factors, rows as full as its own."""
        if factors is None:
            meta = self.program.scope[name]
            rows, cols = meta.rows.at(self.sizes), meta.cols.at(self.sizes)
            left, right = 1 / max(1.0, rows), max(self.known[name], 1 / max(1.0, cols))
        else:
            left, right = map(self.ring.density, factors)
        return Fill(self.ring.name, self.known, rounded(left), rounded(right))
