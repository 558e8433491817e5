"""Rows one by one: functions in C++ that join a row at once, of which Python learns later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias
from weakref import ReferenceType, ref

import numpy as np

from freshview.calculus.rows import Row
from freshview.calculus.types import Value
from freshview.errors import FreshviewError
from freshview.theta.local.native.kernel import JoinKernel
from freshview.theta.operator.joiner import SIDES
from freshview.theta.terms import Hashes, Keys, Numbers, Side

RowInsert: TypeAlias = Callable[..., Sequence[Row]]
"""Takes the values of a row, and gives the rows that it makes."""

LEAST, MOST, PART = 64, 1 << 16, 32
"""The scheme hears of single rows after so many: one in 32 of all there are, within limits."""


class OneRowJoin(Protocol):
    """What a writer needs of its join."""

    def insert_one(self, side: Side, row: Row) -> Sequence[Row]:
        """Join a batch of one row; the rows that it makes."""
        ...


class RowWriter:
    """Inserts single rows of a source; each call is a batch of its own.

    `insert` takes the values of a row as arguments, and gives the rows that it makes. It is an
    attribute, and may be stored: it stays correct, and is fastest if it is taken once C++ joins.
    """

    insert: RowInsert

    def __init__(self, join: OneRowJoin, side: Side) -> None:
        self.side: Side = side
        # Not a method of this object: what C++ holds must not hold the join.
        self._slow = partial(_insert_one, ref(join), side)
        self.insert = self._by_values

    def wire(self, kernel: JoinKernel) -> None:
        """Give rows to C++ from now on."""
        is_s = int(self.side == "S")
        self.insert = kernel.calls["writer"](kernel.handle, is_s, self._slow)

    def _by_values(self, *row: Value) -> Sequence[Row]:
        return self._slow(row)


def _insert_one(join: ReferenceType[OneRowJoin], side: Side, row: Row) -> Sequence[Row]:
    alive = join()
    if alive is None:
        raise FreshviewError("the join of this writer is gone", instead="keep the join as well")
    return alive.insert_one(side, row)


@dataclass(frozen=True, slots=True)
class SingleRows:
    """The single rows of a side since the last call: what the scheme must know of them."""

    keys: Keys
    hashes: Hashes
    sizes: Numbers

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Collected:
    """All that single rows did since the last call."""

    rows: Mapping[Side, SingleRows]
    pairs: int
    received: int


def collect(kernel: JoinKernel) -> Collected:
    """What came; until `start`, single rows go to Python again."""
    *heard, pairs, received = kernel.calls["collect"](kernel.handle)
    rows: dict[Side, SingleRows] = {}
    for side, data in zip(SIDES, heard, strict=True):
        cells = np.frombuffer(data, np.uint64).reshape(-1, 3)
        rows[side] = SingleRows(cells[:, 0], cells[:, 1], cells[:, 2].astype(np.int64))
    return Collected(rows, pairs, received)


def start(kernel: JoinKernel, counts: Mapping[Side, int]) -> None:
    """Have C++ join single rows, until it is time for the scheme to hear of them."""
    quota = min(max(LEAST, sum(counts.values()) // PART), MOST)
    kernel.calls["start"](kernel.handle, counts["R"], counts["S"], quota)


def is_used_up(kernel: JoinKernel) -> bool:
    """Whether C++ has joined as many single rows as it was to join."""
    return not kernel.calls["left"](kernel.handle)


def is_joined_alone(kernel: JoinKernel) -> bool:
    """Whether C++ can do with single rows all that Python does with a batch.

    It makes keys of numbers, not of contents; it has no clock; windows look at watermarks.
    """
    shape = kernel.shape
    retracts = shape.retracts_r or shape.retracts_s
    return (
        kernel.joins_alone
        and kernel.predicate.hashes_rows
        and shape.limit is None
        and not retracts
        and not kernel.inputs.reads_clock
    )
