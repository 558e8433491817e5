"""Arrays that grow in place: addresses are reserved, and memory comes with what is written."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from freshview.theta.local.columns import Array

FIRST_ROOM = 1 << 26
"""Rows that a store has addresses for; one that outgrows them is copied to twice as many."""

LEAST_ROOM = 1 << 10
_PAGE = mmap.PAGESIZE
_LINE = 64
_LINES = count(step=5)
"""In which line of its page an array begins: a row is written to all arrays of a store, and lines
of one place in their pages would drive each other out of the cache."""

_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)


def reserve(dtypes: Sequence[np.dtype[Any]], room: int) -> tuple[list[Array], int]:
    """An array of each type, and for how many rows there are addresses: `room`, or fewer.

    Arrays of Python's objects take their room at once, as it has to be initialized.
    """
    while True:
        try:
            return _reserved(dtypes, room), room
        except (OSError, MemoryError, ValueError, OverflowError):
            if room <= LEAST_ROOM:
                raise MemoryError("no addresses are left for the rows of a join") from None
            room //= 4


def _reserved(dtypes: Sequence[np.dtype[Any]], room: int) -> list[Array]:
    plain = [d for d in dtypes if d.kind != "O"]
    sizes = [-(-room * d.itemsize // _PAGE) * _PAGE + _PAGE for d in plain]
    block = mmap.mmap(-1, sum(sizes), flags=_PRIVATE)
    ends = np.cumsum(sizes).tolist()
    first = next(_LINES)
    views = iter(
        np.frombuffer(block, d, room, end - size + (first + k) * _LINE % _PAGE)
        for k, (d, size, end) in enumerate(zip(plain, sizes, ends, strict=True))
    )
    return [np.empty(room, object) if d.kind == "O" else next(views) for d in dtypes]
