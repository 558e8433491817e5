"""How much larger an input was than it is: what came and went leaves its rounding in the views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from freshview.linear.execute.semiring import Array

RATIO = 16.0
"""How many times as large an input may have been before the views are looked at."""


@dataclass
class _Size:
    peak: float
    low: float
    high: float


@dataclass
class Swell:
    """The lengths of inputs, between bounds that every update widens by its own length.

    Only where the bounds leave open whether an input has shrunk is its length computed.
    """

    sizes: dict[str, _Size] = field(default_factory=dict)

    def begin(self, name: str, length: Callable[[], float]) -> None:
        """Note how long an input is before its first update."""
        if name not in self.sizes:
            now = length()
            self.sizes[name] = _Size(now, now, now)

    def shrunk(self, name: str, left: Array, right: Array, length: Callable[[], float]) -> bool:
        """Whether an input that was updated by left * right' is now far below what it has been."""
        size = self.sizes[name]
        with np.errstate(over="ignore"):
            change = float(np.linalg.norm(left)) * float(np.linalg.norm(right))
        size.low -= change
        size.high += change
        if size.low * RATIO >= max(size.peak, size.high):
            return False
        now = size.low = size.high = length()
        size.peak, before = max(size.peak, now), size.peak
        if before <= RATIO * now:
            return False
        size.peak = now
        return True
