"""Matrices as users give them: numbers that a semiring can hold, or a refusal with their name."""

from __future__ import annotations

from typing import Any

import numpy as np

from freshview.errors import FreshviewError
from freshview.linear.kernels.semiring import Array, Semiring

KINDS = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "time spans"}
"""The kinds of NumPy that are not cells of any semiring, in words."""


class BadUpdate(FreshviewError):
    """A matrix, or an update of one, that does not fit."""


def cells_of(name: str, values: object, ring: Semiring) -> Any:
    """The values as an array of real numbers, here or on a device; anything else is refused.

    A sparse matrix of SciPy becomes dense: what it does not store is the semiring's zero.
    """
    if hasattr(values, "tocoo"):
        return _dense(name, values, ring)
    if hasattr(values, "__dlpack__") and not isinstance(values, np.ndarray):
        if "complex" in str(getattr(values, "dtype", "")):
            raise _refused(name, KINDS["c"])
        return values
    try:
        array = np.asarray(values)
    except ValueError:
        raise BadUpdate(
            f"the rows of {name} are not equally long", instead="give a full matrix"
        ) from None
    return _real(name, array, ring)


def _real(name: str, array: Array, ring: Semiring) -> Array:
    kind = array.dtype.kind
    if kind in KINDS:
        raise _refused(name, KINDS[kind])
    if kind == "O":
        array = _converted(name, array)
    elif kind not in "biuf":
        raise _refused(name, f"values of the type {array.dtype}")
    if ring.name == "boolean" and array.dtype.kind == "f" and np.isnan(array).any():
        raise BadUpdate(f"a value for {name} is not a number", instead="give true or false")
    return array


def _converted(name: str, array: Array) -> Array:
    """Objects, such as decimals and fractions, as doubles."""
    for x in array.flat:
        if isinstance(x, str | bytes | complex | np.complexfloating):
            raise _refused(name, KINDS["c" if not isinstance(x, str | bytes) else "U"])
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _refused(name, "objects that are not numbers") from None


def _dense(name: str, values: Any, ring: Semiring) -> Array:
    stored = values.tocoo(copy=True)
    stored.sum_duplicates()
    cells = _real(name, np.asarray(stored.data), ring)
    matrix = np.full(stored.shape, ring.zero, dtype=ring.dtype)
    matrix[tuple(stored.coords)] = cells
    return matrix


def _refused(name: str, what: str) -> BadUpdate:
    return BadUpdate(f"{name} is given {what}", instead="give real numbers")


def check_cells(name: str, values: Array, ring: Semiring) -> None:
    """Numbers are those of the semiring: never NaN, over the reals nothing infinite."""
    if not ring.is_valid(values):
        what = "infinite or not a number" if ring.is_ring else "not a number"
        if ring.name == "max-times":
            what = "negative, infinite or not a number"
        if ring.name == "min-plus":
            what = "minus infinity or not a number"
        raise BadUpdate(f"a value for {name} is {what}")
