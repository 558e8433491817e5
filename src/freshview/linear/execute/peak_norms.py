"""How much larger an input was than it is: what came and went leaves its rounding in the views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from freshview.linear.execute.changes import Move
from freshview.linear.kernels.semiring import Array, Semiring

RATIO = 16.0
"""How many times as large an input may have been before the views are looked at."""


@dataclass
class _Norm:
    peak: float
    low: float
    high: float


@dataclass
class PeakNorms:
    """The lengths of inputs, between bounds that every update widens by its own length.

    Only where the bounds leave open whether an input has shrunk is its length computed.
    """

    norms: dict[str, _Norm] = field(default_factory=dict)

    def begin(self, moves: Iterable[Move], values: Mapping[str, Array], ring: Semiring) -> None:
        """Note how long inputs are before their first update."""
        for m in moves:
            if m.name not in self.norms:
                now = ring.length(values[m.name])
                self.norms[m.name] = _Norm(now, now, now)

    def shrunk(self, moves: Iterable[Move], values: Mapping[str, Array], ring: Semiring) -> bool:
        """Whether an input that was updated is now far below what it has been."""
        shrunk = {m.name: self._shrunk(m, values[m.name], ring) for m in moves}
        return any(shrunk.values())

    def _shrunk(self, m: Move, value: Array, ring: Semiring) -> bool:
        norm = self.norms[m.name]
        with np.errstate(over="ignore"):
            change = float(np.linalg.norm(m.left)) * float(np.linalg.norm(m.right))
        norm.low -= change
        norm.high += change
        if norm.low * RATIO >= max(norm.peak, norm.high):
            return False
        now = norm.low = norm.high = ring.length(value)
        norm.peak, before = max(norm.peak, now), norm.peak
        if before <= RATIO * now:
            return False
        norm.peak = now
        return True
