"""The worker of a row: a hash that every process and every run agrees on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from zlib import crc32

from freshet.calculus.types import Value

_STEP = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def worker(values: Sequence[Value], workers: int) -> int:
    """The worker among `workers` that keeps the rows with these values in the key columns.

    Values that are equal name the same worker whatever their types are: 1, 1.0 and 1.00 join.

    >>> worker((1, "a"), 7) == worker((1.0, "a"), 7) == worker((Decimal("1.00"), "a"), 7)
    True
    """
    mixed = 0
    for value in values:
        mixed = ((mixed ^ _code(value)) * _STEP) & _MASK
        mixed ^= mixed >> 29
    return mixed % workers


def _code(value: Value) -> int:
    match value:
        case None:
            return 0x5BD1E995
        case str():
            return crc32(value.encode())
        case datetime():
            return crc32(value.isoformat().encode())
        case date():
            return value.toordinal()
        case int() | float() | Decimal():
            return hash(value) & _MASK  # of numbers: the same in every process, equal if they are
