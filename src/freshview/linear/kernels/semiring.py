"""The semirings over which matrix programs run, on NumPy arrays.

Only the reals can take back what was added. In the others + is a choice (or, min, max), so that a
delta can only improve a matrix, and what gets worse is computed anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from freshview.errors import UnknownName
from freshview.linear.kernels.add_product import PANEL, add_product
from freshview.linear.kernels.boolean import some

Array: TypeAlias = NDArray[Any]
Index: TypeAlias = Any
"""An index of NumPy: slices, numbers or arrays of them, of rows or of rows and columns."""

SPARSE = 64
"""From which size on it pays to look whether a narrow matrix is mostly empty."""

EMPTY = 16
"""How many times as many cells as are there a matrix has that is taken to be mostly empty."""

SCARCE = 64
"""The same for Boolean matrices whose product is made whole although it is symmetric."""

WIDE = 1 << 11
"""How many columns of a product of a semiring are computed at a time."""

BLOCKS = 8
"""Of how many blocks of rows a symmetric product is made: 9/16 of its cells are multiplied out."""


@dataclass(frozen=True)
class Semiring:
    """Sum and product of matrices, with the zero and one of their cells."""

    name: str
    dtype: DTypeLike
    zero: float
    one: float
    plus: np.ufunc
    multiply: Callable[[Array, Array], Array]
    times: np.ufunc
    is_ring: bool = False

    @property
    def skips(self) -> bool:
        """Whether the kernels pass over what is empty."""
        return True

    def read(self, values: object) -> Array:
        """A matrix of one's own: rows and columns, of the semiring's cells."""
        array: Array = np.array(values, dtype=self.dtype, order="C", ndmin=2, copy=True)
        return array

    def host(self, values: object) -> Array:
        """Values as NumPy has them, not necessarily a copy."""
        array: Array = np.asarray(values, dtype=self.dtype)
        return array

    def put(self, values: Array) -> Array:
        """Values of NumPy as this semiring computes with them."""
        return values

    def at(self, a: Array, index: Index) -> Array:
        """Rows, columns or cells by an index of NumPy."""
        part: Array = a[index]
        return part

    def copy(self, a: Array) -> Array:
        """A copy, row by row."""
        return np.array(a, order="C", copy=True)

    def owned(self, a: Array, *, shared: bool) -> Array:
        """The array row by row, or a copy where it may share memory with another matrix."""
        return self.copy(a) if shared or a.base is not None else np.ascontiguousarray(a)

    def full(self, rows: int, cols: int, value: float) -> Array:
        """The same cell everywhere."""
        return np.full((rows, cols), value, dtype=self.dtype)

    def identity(self, n: int) -> Array:
        """Ones on the diagonal."""
        matrix = self.full(n, n, self.zero)
        np.fill_diagonal(matrix, self.one)
        return matrix

    def added(self, total: Array, a: Array, by: float = 1.0) -> Array:
        """Total + a, in place if that can be; of multiples, only +1 and -1."""
        np.subtract(total, a, out=total) if by == -1 else self.plus(total, a, out=total)
        return total

    def on_diagonal(self, total: Array, by: float) -> Array:
        """Total + by * I, in place if that can be."""
        i = np.arange(total.shape[0])
        total[i, i] = self.plus(total[i, i], by)
        return total

    def beside(self, parts: list[Array]) -> Array:
        """Matrices left to right."""
        return np.hstack(parts)

    def above(self, parts: list[Array]) -> Array:
        """Matrices top to bottom."""
        return np.vstack(parts)

    def inverse(self, a: Array) -> Array:
        """The inverse; infinite where there is none."""
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            return self.full(len(a), len(a), np.inf)

    def norm(self, a: Array) -> float:
        """The largest sum of absolute values in a column."""
        return float(np.abs(a).sum(axis=0).max(initial=0.0))

    def length(self, a: Array) -> float:
        """The root of the sum of squares; infinite where that is out of range."""
        with np.errstate(over="ignore"):
            return float(np.linalg.norm(a))

    def sign(self, a: Array) -> float:
        """The sign of the cell of the largest absolute value."""
        return float(np.sign(a.flat[np.abs(a).argmax()]))

    def equal(self, a: Array, b: Array) -> bool:
        """Whether all cells are the same."""
        return bool(np.array_equal(a, b))

    def is_valid(self, a: Array) -> bool:
        """NaN nowhere, over the reals nothing infinite, and in max-times nothing below its zero.

        What is infinite the other way than the zero is none: with the zero it has no product.
        """
        if self.name == "max-times":
            return bool((a >= 0).all() and (a < np.inf).all())
        if self.name == "min-plus":
            return bool((a > -np.inf).all())
        return bool((np.isfinite(a) if self.is_ring else ~np.isnan(a)).all())

    def density(self, a: Array) -> float:
        """The share of cells that differ from zero."""
        return float(np.count_nonzero(a != self.zero)) / max(1, a.size)

    def wait(self, a: Array) -> None:
        """Come back when the array is there; arrays of NumPy are."""

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

    def mirrored(self, a: Array, b: Array) -> Array:
        """A * B where that is known to be symmetric: half of it is computed, in blocks of rows."""
        n = a.shape[0]
        scarce = self.dtype is np.bool_ and SCARCE * np.count_nonzero(a) <= a.size
        if n < BLOCKS * SPARSE or scarce:  # unions of a few packed rows cost less than packing
            return self.product(a, b)
        product = np.empty((n, n), dtype=self.dtype)
        ends = [n * i // BLOCKS for i in range(BLOCKS + 1)]
        for first, end in pairwise(ends):
            product[first:end, first:] = self.product(a[first:end], b[:, first:])
            product[end:, first:end] = product[first:end, end:].T
        return product

    def _there(self, a: Array) -> Array:
        """The rows of a narrow matrix that are not empty."""
        rows: Array = np.flatnonzero((a != self.zero).any(axis=1))
        return rows

    def accumulate(self, into: Array, left: Array, right: Array) -> Array:
        """Into += left * right' in place: only rows and columns that change."""
        rows, cols = self._there(left), self._there(right)
        if 2 * len(rows) <= len(left):
            if len(rows):
                changed = into[rows]
                self.accumulate(changed, np.ascontiguousarray(left[rows]), right)
                into[rows] = changed
        elif 4 * len(cols) <= len(right):
            if len(cols):
                some = self.multiply(left, np.ascontiguousarray(right[cols]).T)
                into[:, cols] = self.plus(into[:, cols], some)
        elif self.is_ring:
            add_product(into, left, right)
        else:
            self._add(into, left, np.ascontiguousarray(right.T))
        return into

    def _add(self, into: Array, left: Array, turned: Array) -> None:
        """Into += left * turned by panels of rows: what is added stays in the cache."""
        height = max(1, PANEL // max(1, into.shape[1]))
        for i in range(0, into.shape[0], height):
            panel = into[i : i + height]
            if left.shape[1] == 1:
                part = self.times(left[i : i + height], turned)
            else:
                part = self.multiply(left[i : i + height], turned)
            self.plus(panel, part, out=panel)


def _times(plus: np.ufunc, times: np.ufunc, zero: float) -> Callable[[Array, Array], Array]:
    """The product of matrices by a loop over the smallest of their three sizes.

    Where the left one is mostly empty, by its rows: each chooses among the rows that it names.
    """

    def multiply(a: Array, b: Array) -> Array:
        n, m, p = a.shape[0], a.shape[1], b.shape[1]
        if m == 0:
            return np.full((n, p), zero)
        if min(n, m, p) >= SPARSE:
            there = a != zero
            if EMPTY * np.count_nonzero(there) <= a.size:
                return _by_rows(a, b, there)
        out = np.empty((n, p))
        if m <= min(n, p):
            _by_panels(a, b, out)
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

    def _by_panels(a: Array, b: Array, out: Array) -> None:
        """Blocks of rows and columns that stay in the cache while all of the inner size passes."""
        n, m, p = a.shape[0], a.shape[1], b.shape[1]
        width = min(p, WIDE)
        height = max(1, PANEL // width)
        room = np.empty((height, width))
        for k in range(0, p, width):
            across = np.ascontiguousarray(b[:, k : k + width])
            for i in range(0, n, height):
                rows, panel = a[i : i + height], out[i : i + height, k : k + width]
                best = np.empty(panel.shape)
                part = room[: panel.shape[0], : panel.shape[1]]
                times(rows[:, :1], across[:1], out=best)
                for j in range(1, m):
                    times(rows[:, j : j + 1], across[j : j + 1], out=part)
                    plus(best, part, out=best)
                panel[:] = best

    def _by_rows(a: Array, b: Array, there: Array) -> Array:
        out = np.full((a.shape[0], b.shape[1]), zero)
        _, cols = np.nonzero(there)
        ends = np.cumsum(there.sum(axis=1))
        for i, named in enumerate(np.split(cols, ends[:-1])):
            if len(named):
                plus.reduce(times(a[i, named][:, None], b[named]), axis=0, out=out[i])
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
