"""The semirings over which matrix programs run, on NumPy arrays.

Only the reals can take back what was added. In the others + is a choice (or, min, max), so that a
delta can only improve a matrix, and what gets worse is computed anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from freshet.errors import UnknownName
from freshet.linear.bits import some

Array: TypeAlias = NDArray[Any]

PANEL = 1 << 15
"""How many cells of an update are computed at a time: few enough to stay in the cache."""

SPARSE = 64
"""From which size on it pays to look whether a narrow matrix is mostly empty."""


@dataclass(frozen=True)
class Semiring:
    """Sum and product of matrices, with the zero and one of their cells."""

    name: str
    dtype: Any
    zero: Any
    one: Any
    plus: np.ufunc
    multiply: Callable[[Array, Array], Array]
    times: np.ufunc
    is_ring: bool = False

    def read(self, values: object) -> Array:
        """A matrix of one's own: rows and columns, of the semiring's cells."""
        found: Array = np.array(values, dtype=self.dtype, order="C", ndmin=2, copy=True)
        return found

    def identity(self, n: int) -> Array:
        """Ones on the diagonal."""
        made = np.full((n, n), self.zero, dtype=self.dtype)
        np.fill_diagonal(made, self.one)
        return made

    def product(self, a: Array, b: Array) -> Array:
        """A * B; where one side is narrow and mostly empty, only what is there is multiplied."""
        inner = a.shape[1]
        if inner >= SPARSE and b.shape[1] * 4 <= inner:
            there = self._there(b)
            if 4 * len(there) <= inner:
                return self.multiply(a[:, there], b[there])
        if inner >= SPARSE and a.shape[0] * 4 <= inner:
            there = self._there(a.T)
            if 4 * len(there) <= inner:
                return self.multiply(a[:, there], b[there])
        return self.multiply(a, b)

    def _there(self, a: Array) -> Array:
        """The rows of a narrow matrix that are not empty."""
        found: Array = np.flatnonzero((a != self.zero).any(axis=1))
        return found

    def accumulate(self, into: Array, left: Array, right: Array) -> None:
        """Into += left * right' in place: only rows and columns that change, a panel at a time."""
        rows, cols = self._there(left), self._there(right)
        if 2 * len(rows) <= len(left):
            if not len(rows):
                return
            changed = into[rows]
            self.accumulate(changed, np.ascontiguousarray(left[rows]), right)
            into[rows] = changed
        elif 4 * len(cols) <= len(right):
            if len(cols):
                some = self.multiply(left, np.ascontiguousarray(right[cols]).T)
                into[:, cols] = self.plus(into[:, cols], some)
        else:
            self._add(into, left, np.ascontiguousarray(right.T))

    def _add(self, into: Array, left: Array, turned: Array) -> None:
        """Into += left * turned by panels of rows: what is added stays in the cache."""
        height = max(1, PANEL // max(1, into.shape[1]))
        room = np.empty((height, into.shape[1]), dtype=self.dtype)
        for i in range(0, into.shape[0], height):
            panel = into[i : i + height]
            part = room[: len(panel)]
            if left.shape[1] == 1:
                self.times(left[i : i + height], turned, out=part)
            elif self.is_ring:
                np.matmul(left[i : i + height], turned, out=part)
            else:
                part = self.multiply(left[i : i + height], turned)
            self.plus(panel, part, out=panel)


def _times(plus: np.ufunc, times: np.ufunc, zero: float) -> Callable[[Array, Array], Array]:
    """The product of matrices by a loop over the smallest of their three sizes."""

    def multiply(a: Array, b: Array) -> Array:
        n, m, p = a.shape[0], a.shape[1], b.shape[1]
        if m == 0:
            return np.full((n, p), zero)
        out = np.empty((n, p))
        if m <= min(n, p):
            height = max(1, PANEL // p)
            room = np.empty((height, p))
            for i in range(0, n, height):
                rows, panel = a[i : i + height], out[i : i + height]
                part = room[: len(panel)]
                times(rows[:, :1], b[:1], out=panel)
                for j in range(1, m):
                    times(rows[:, j : j + 1], b[j : j + 1], out=part)
                    plus(panel, part, out=panel)
        elif p <= n:
            room = np.empty((n, m))
            for j in range(p):
                times(a, b[:, j], out=room)
                plus.reduce(room, axis=1, out=out[:, j])
        else:
            turned = np.ascontiguousarray(b.T)
            room = np.empty((p, m))
            for i in range(n):
                times(turned, a[i], out=room)
                plus.reduce(room, axis=1, out=out[i])
        return out

    return multiply


REAL = Semiring("real", np.float64, 0.0, 1.0, np.add, np.matmul, np.multiply, is_ring=True)
BOOLEAN = Semiring("boolean", np.bool_, False, True, np.logical_or, some, np.logical_and)
MIN_PLUS = Semiring(
    "min-plus", np.float64, np.inf, 0.0, np.minimum, _times(np.minimum, np.add, np.inf), np.add
)
MAX_TIMES = Semiring(
    "max-times", np.float64, 0.0, 1.0, np.maximum, _times(np.maximum, np.multiply, 0.0), np.multiply
)
SEMIRINGS = {s.name: s for s in (REAL, BOOLEAN, MIN_PLUS, MAX_TIMES)}


def semiring(name: str) -> Semiring:
    """A semiring by its name."""
    if name not in SEMIRINGS:
        raise UnknownName(
            f"there is no semiring {name!r}", instead=f"use one of {', '.join(SEMIRINGS)}"
        )
    return SEMIRINGS[name]
