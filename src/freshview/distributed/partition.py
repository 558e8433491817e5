"""The worker of a row: a hash that every process and every run agrees on.

`spark/batches/partition.py` computes the same for whole columns.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from zlib import crc32

from freshview.calculus.types import Value

STEP = 0x9E3779B97F4A7C15
STEP_2 = 0xD6E8FEB86659FD93
MASK = (1 << 64) - 1
NULL = 0x5BD1E995
_START = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


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
        mixed ^= _code(value)
        mixed ^= mixed >> 32  # small numbers as doubles differ in their high bits alone
        mixed = (mixed * STEP) & MASK
        mixed ^= mixed >> 29
        mixed = (mixed * STEP_2) & MASK
        mixed ^= mixed >> 32
    return mixed % workers


def _code(value: Value) -> int:
    match value:
        case None:
            return NULL
        case str():
            return crc32(value.encode())
        case datetime():
            return ((value - _START) // _MICROSECOND) & MASK
        case date():
            return _code(datetime.combine(value, time()))
        case int() | float() | Decimal():
            return bits(float(value))


def bits(number: float) -> int:
    """The 64 bits of a double; both zeros are the same.

    >>> bits(-0.0) == bits(0.0) == 0
    True
    """
    return int.from_bytes(struct.pack("<d", number + 0.0), "little")
