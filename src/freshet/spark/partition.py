"""The worker of a row: a hash that every process and every run agrees on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from zlib import crc32

from freshet.calculus.types import Value

_STEP = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_NULL = 0x5BD1E995


def worker(values: Sequence[Value], workers: int) -> int:
    """The worker among `workers` that keeps the rows with these values in the key columns.

    Values that compare as equal name the same worker whatever their types are: numbers are hashed
    as doubles, dates as midnight.

    >>> worker((1, "a"), 7) == worker((1.0, "a"), 7) == worker((Decimal("1.00"), "a"), 7)
    True
    >>> worker((date(2024, 1, 2),), 1000) == worker((datetime(2024, 1, 2),), 1000)
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
            return _NULL
        case str():
            return crc32(value.encode())
        case datetime():
            return crc32(value.isoformat().encode())
        case date():
            return _code(datetime.combine(value, time()))
        case int() | float() | Decimal():
            return hash(float(value)) & _MASK  # Python hashes numbers alike in every process
