"""Arrays that grow in place: addresses are reserved, and memory comes with what is written.

Past a cap they lie in a file that has no name: what is in memory is the system's copy of some of
its pages, which is given back after each batch.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from freshview.errors import FreshviewWarning
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


@dataclass(frozen=True, slots=True)
class Spill:
    """Past how many bytes of rows a joiner keeps them in files, and in which folder."""

    after: int
    folder: Path

    def __str__(self) -> str:
        return (
            f"a joiner with more than {self.after:,} bytes keeps numbers and times in files of "
            f"{self.folder}; indexes, texts and decimals stay in memory"
        )

    @classmethod
    def of(cls, after: int | None, folder: str | Path | None) -> Spill | None:
        """What a user asks for; by default files lie where temporary ones do."""
        return None if after is None else cls(after, Path(folder or tempfile.gettempdir()))


@dataclass(frozen=True, slots=True)
class Reserved:
    """An array of each type, and for how many rows there are addresses.

    Arrays of Python's objects take their room at once, as it has to be initialized; they stay in
    memory.
    """

    arrays: list[Array]
    room: int
    block: mmap.mmap
    is_file: bool

    def give_back(self) -> None:
        """Give back the memory of what the file has."""
        if self.is_file:
            self.block.madvise(mmap.MADV_DONTNEED)


def reserve(dtypes: Sequence[np.dtype[Any]], room: int) -> Reserved:
    """Arrays in memory, for `room` rows or for fewer."""
    while True:
        try:
            return _reserved(dtypes, room, None)
        except (OSError, MemoryError, ValueError, OverflowError):
            if room <= LEAST_ROOM:
                raise MemoryError("no addresses are left for the rows of a join") from None
            room //= 4


def reserve_in(folder: Path, dtypes: Sequence[np.dtype[Any]], room: int) -> Reserved:
    """Arrays in a file of a folder; in memory, with a warning, where the disk has no room."""
    try:
        return _reserved(dtypes, room, folder)
    except OSError as e:
        why = "the disk is full" if e.errno == errno.ENOSPC else str(e)
        message = f"rows of a join stay in memory instead of a file in {folder}: {why}"
        warnings.warn(message, FreshviewWarning, stacklevel=2)
        return reserve(dtypes, room)


def _reserved(dtypes: Sequence[np.dtype[Any]], room: int, folder: Path | None) -> Reserved:
    plain = [d for d in dtypes if d.kind != "O"]
    sizes = [-(-room * d.itemsize // _PAGE) * _PAGE + _PAGE for d in plain]
    block = _in_memory(sum(sizes)) if folder is None else _in_file(sum(sizes), folder)
    ends = np.cumsum(sizes).tolist()
    first = next(_LINES)
    views = iter(
        np.frombuffer(block, d, room, end - size + (first + k) * _LINE % _PAGE)
        for k, (d, size, end) in enumerate(zip(plain, sizes, ends, strict=True))
    )
    arrays = [np.empty(room, object) if d.kind == "O" else next(views) for d in dtypes]
    return Reserved(arrays, room, block, folder is not None)


def _in_memory(size: int) -> mmap.mmap:
    return mmap.mmap(-1, size, flags=_PRIVATE)


def _in_file(size: int, folder: Path) -> mmap.mmap:
    """A part of the disk, taken at once: a page without a place would end the process later."""
    with tempfile.TemporaryFile(prefix="freshview-rows-", dir=folder) as file:
        os.posix_fallocate(file.fileno(), 0, size)
        return mmap.mmap(file.fileno(), size)
