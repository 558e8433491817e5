"""Values of two columns made comparable, and hashes that equal values share."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from freshview.calculus.types import NUMERIC, Kind
from freshview.errors import TypeProblem
from freshview.theta.keys import mix
from freshview.theta.local.columns import Array, Column
from freshview.theta.terms import Hashes

DAY = 86_400_000_000
"""Microseconds of a day."""


def common_kind(r: Kind, s: Kind) -> Kind:
    """The kind in which values of both are compared, as SQL compares them.

    >>> common_kind("int", "double"), common_kind("decimal", "int"), common_kind("date", "date")
    ('double', 'decimal', 'date')
    """
    if r == s:
        return r
    if r in NUMERIC and s in NUMERIC:
        return "double" if "double" in (r, s) else "decimal"
    if {r, s} == {"date", "timestamp"}:
        return "timestamp"
    raise TypeProblem(f"a {r} cannot be compared with a {s}", instead="cast one of the columns")


def as_kind(column: Column, kind: Kind) -> Array:
    """The values of a column in a kind that it can be compared in."""
    if column.kind == kind:
        return column.values
    if kind == "double":
        return column.values.astype(np.float64)
    if kind == "timestamp":
        return column.values * DAY
    return column.values.astype(object)  # integers beside decimals


def hash_values(values: Array, kind: Kind) -> Hashes:
    """A hash of each value, the same in every process; equal values have equal hashes.

    >>> one, two = np.array([1, 2]), np.array([2, 1])
    >>> (hash_values(one, "int") == hash_values(two, "int")[::-1]).all()
    np.True_
    """
    match kind:
        case "double":
            return mix((values + 0.0).view(np.uint64))  # there is one zero
        case "string":
            return np.fromiter(map(_text_hash, values.tolist()), np.uint64, len(values))
        case "decimal":  # Python's hash of a number follows its value, not its digits
            numbers = (hash(v) & 0xFFFFFFFFFFFFFFFF for v in values.tolist())
            return mix(np.fromiter(numbers, np.uint64, len(values)))
        case _:
            return mix(values.astype(np.int64).view(np.uint64))


def hash_rows(columns: list[Column]) -> Hashes:
    """A hash of whole rows, NULLs included."""
    total = np.zeros(len(columns[0].values), np.uint64)
    for c in columns:
        one = np.where(c.valid, hash_values(c.values, c.kind), np.uint64(0x6E756C6C))
        total = combine(total, one)
    return total


def combine(left: Hashes, right: Hashes) -> Hashes:
    """A hash of two hashes, in their order."""
    with np.errstate(over="ignore"):
        return mix(left * np.uint64(0x9E3779B97F4A7C15) + right)


def _text_hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
