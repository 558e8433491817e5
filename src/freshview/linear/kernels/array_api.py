"""Matrix programs on other arrays than NumPy's: PyTorch, CuPy, or any namespace of the array API.

What is used is little: `asarray`, `full`, `eye`, `matmul`, `concat`, `linalg.inv`, sums, choices
and slices. Changes are still put together by NumPy: they are narrow, and travel to the device once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from freshview.errors import FreshviewError
from freshview.linear.kernels.semiring import Array, Index, Semiring

CHUNK = 1 << 24
"""How many cells a product of a semiring without a matrix product of its own lays out at a time."""

NAMES = {"boolean": ("logical_or", "any"), "min-plus": ("minimum", "min")}
NAMES["max-times"] = ("maximum", "max")
"""The sum of two matrices, and of all along an axis, by semiring."""


@dataclass(frozen=True, eq=False)
class Elsewhere(Semiring):
    """A semiring over the arrays of a namespace `xp`, on one of its devices."""

    xp: Any = np
    device: object = None

    @property
    def skips(self) -> bool:
        """Whether the kernels pass over what is empty: devices multiply it out."""
        return False

    @property
    def _where(self) -> dict[str, object]:
        kind = _first(self.xp, "bool", "bool_") if self.dtype is np.bool_ else self.xp.float64
        return {"dtype": kind, **self._place}

    @property
    def _place(self) -> dict[str, object]:
        return {} if self.device is None else {"device": self.device}

    def _concat(self, parts: list[Array], axis: int) -> Array:
        stacked: Array = _first(self.xp, "concat", "concatenate")(parts, axis=axis)
        return stacked

    def read(self, values: object) -> Array:
        """A matrix of one's own on the device."""
        return self.copy(self.put(values if _is_foreign(values) else super().read(values)))

    def host(self, values: object) -> Array:
        """Values as NumPy has them."""
        return super().host(fetched(values))

    def put(self, values: object) -> Array:
        """Values of NumPy, or of the device itself, on the device."""
        array: Array = self.xp.asarray(values, **self._where)
        return array

    def at(self, a: Array, index: Index) -> Array:
        """Rows, columns or cells by an index of NumPy; only what is asked for travels."""
        if not isinstance(index, tuple):
            return self.host(self._lines(a, index, 0))
        rows, cols = index
        if isinstance(rows, slice):
            return self.host(self._lines(a, cols, 1))
        distinct, where = np.unique(rows, return_inverse=True)
        return self.host(self._lines(a, distinct, 0))[where, cols]

    def _lines(self, a: Array, places: Array, axis: int) -> Array:
        if not len(places):
            return a[:0, :] if axis == 0 else a[:, :0]
        cut = [a[i : i + 1, :] if axis == 0 else a[:, i : i + 1] for i in map(int, places)]
        return self._concat(cut, axis)

    def copy(self, a: Array) -> Array:
        """A copy."""
        for way in ("copy", "clone"):  # NumPy and CuPy, PyTorch; the standard has neither
            if hasattr(a, way):
                array: Array = getattr(a, way)()
                return array
        array = self.xp.asarray(a, copy=True)
        return array

    def owned(self, a: Array, *, shared: bool) -> Array:
        """The array, or a copy where it may share memory with another matrix."""
        return self.copy(a) if shared else a

    def full(self, rows: int, cols: int, value: float) -> Array:
        """The same cell everywhere."""
        array: Array = self.xp.full((rows, cols), value, **self._where)
        return array

    def identity(self, n: int) -> Array:
        """Ones on the diagonal."""
        there: Array = self.xp.eye(n, dtype=self.xp.float64, **self._place)
        if self.is_ring:
            return there
        zero, one = self.full(n, n, self.zero), self.full(n, n, self.one)
        array: Array = self.xp.where(there != 0, one, zero)
        return array

    def added(self, total: Array, a: Array, by: float = 1.0) -> Array:
        """Total + a; of multiples, only +1 and -1."""
        if self.is_ring:
            if by == -1:
                total -= a
            else:
                total += a
            return total
        array: Array = getattr(self.xp, NAMES[self.name][0])(total, a)
        return array

    def on_diagonal(self, total: Array, by: float) -> Array:
        """Total + by * I."""
        eye = self.identity(total.shape[0])
        return self.added(total, by * eye if self.is_ring else eye)

    def beside(self, parts: list[Array]) -> Array:
        """Matrices left to right."""
        return self._concat(parts, 1)

    def above(self, parts: list[Array]) -> Array:
        """Matrices top to bottom."""
        return self._concat(parts, 0)

    def inverse(self, a: Array) -> Array:
        """The inverse; infinite where there is none."""
        refused = getattr(self.xp.linalg, "LinAlgError", np.linalg.LinAlgError)
        try:
            inverse: Array = self.xp.linalg.inv(a)
        except refused:
            return self.full(a.shape[0], a.shape[0], math.inf)
        return inverse

    def norm(self, a: Array) -> float:
        """The largest sum of absolute values in a column."""
        xp = self.xp
        return float(xp.max(xp.sum(xp.abs(a), axis=0))) if all(a.shape) else 0.0

    def length(self, a: Array) -> float:
        """The root of the sum of squares."""
        return math.sqrt(float(self.xp.sum(a * a)))

    def sign(self, a: Array) -> float:
        """The sign of the cell of the largest absolute value."""
        high, low = float(self.xp.max(a)), float(self.xp.min(a))
        return math.copysign(1.0, high if high >= -low else low)

    def equal(self, a: Array, b: Array) -> bool:
        """Whether all cells are the same."""
        return bool(self.xp.all(a == b))

    def is_valid(self, a: Array) -> bool:
        """NaN nowhere, over the reals nothing infinite, and in max-times nothing below its zero."""
        if self.name == "boolean" or not _is_foreign(a):
            return self.name == "boolean" or super().is_valid(a)
        xp = self.xp
        if self.name == "max-times":
            return bool(xp.all(a >= 0)) and bool(xp.all(a < math.inf))
        if self.name == "min-plus":
            return bool(xp.all(a > -math.inf))
        return bool(xp.all(xp.isfinite(a) if self.is_ring else ~xp.isnan(a)))

    def wait(self, a: Array) -> None:
        """Come back when the array is there: a device computes while the program goes on."""
        float(a[0, 0])

    def product(self, a: Array, b: Array) -> Array:
        """A * B."""
        xp = self.xp
        if self.is_ring:
            return a @ b
        if self.name == "boolean":
            single = {"dtype": xp.float32, **self._place}
            some: Array = (xp.asarray(a, **single) @ xp.asarray(b, **single)) > 0.5
            return some
        plus, along = (getattr(xp, name) for name in NAMES[self.name])
        n, m, p = a.shape[0], a.shape[1], b.shape[1]
        height = max(1, min(n, CHUNK // max(1, p)))
        depth = max(1, CHUNK // max(1, height * p))
        rows = []
        for i in range(0, n, height):
            end = min(n, i + height)  # the standard has no slices beyond the end
            total = self.full(end - i, p, self.zero)
            for j in range(0, m, depth):
                there = slice(j, min(m, j + depth))
                left, right = a[i:end, there, None], b[None, there, :]
                best = along(left + right if self.name == "min-plus" else left * right, axis=1)
                total = plus(total, getattr(best, "values", best))  # PyTorch tells where as well
            rows.append(total)
        return self.above(rows) if len(rows) != 1 else rows[0]

    def mirrored(self, a: Array, b: Array) -> Array:
        """A * B; a device gains nothing by computing half of it."""
        return self.product(a, b)

    def accumulate(self, into: Array, left: Array, right: Array) -> Array:
        """Into += left * right', in place if the arrays can."""
        if self.is_ring and hasattr(into, "addmm_"):
            into.addmm_(left, right.T)
            return into
        return self.added(into, self.product(left, right.T))


def _first(xp: object, *names: str) -> Any:
    """What a namespace calls by the first of these names that it has."""
    return getattr(xp, next((n for n in names if hasattr(xp, n)), names[0]))


def fetched(values: object) -> object:
    """Values that NumPy can read: arrays of a device are brought here."""
    for way in ("cpu", "get"):  # PyTorch, CuPy
        if _is_foreign(values) and hasattr(values, way):
            return getattr(values, way)()
    if _is_foreign(values) and not hasattr(values, "__array__"):
        return np.from_dlpack(values)  # type: ignore[arg-type]
    return values


def _is_foreign(values: object) -> bool:
    return hasattr(values, "__dlpack__") and not isinstance(values, np.ndarray)


def elsewhere(ring: Semiring, backend: object, device: object = None) -> Semiring:
    """The semiring over the arrays of a backend: `numpy`, the name of a package, or a namespace."""
    if isinstance(backend, str):
        if backend == "numpy":
            if device not in (None, "cpu"):
                raise FreshviewError(f"NumPy has no device {device!r}", instead="name a backend")
            return ring
        try:
            backend = import_module(backend)
        except ImportError as e:
            raise FreshviewError(
                f"the backend {backend} cannot be imported: {e}",
                instead="install it, or leave `backend` out to compute with NumPy",
            ) from None
    for name in ("asarray", "matmul", "where", "linalg"):
        if not hasattr(backend, name):
            raise FreshviewError(
                f"{getattr(backend, '__name__', backend)!r} has no {name}",
                instead="a backend follows the array API standard: torch, cupy, array_api_strict",
            )
    known = {f: getattr(ring, f) for f in Semiring.__dataclass_fields__}
    return Elsewhere(**known, xp=backend, device=device)
