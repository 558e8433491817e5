"""The tuples that a joiner keeps of one side, with their index.

Batches of columns go in, pairs of row numbers come out. `ArrayStore` says what is meant, and runs
where there is no compiler; `native/store.py` is the same with index and predicate in C++.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np

from freshview.temporal import FullHistory, Horizon, Window, expired, joins
from freshview.theta.local.columns import Array, Tuples
from freshview.theta.local.indexes import choose_index
from freshview.theta.local.predicate import BoundTheta
from freshview.theta.local.reserve import Reserved, reserve_in
from freshview.theta.terms import Mask, Numbers, Side

Rows: TypeAlias = tuple[Tuples, Numbers]
"""Some of the rows of a table."""

FEWEST = 64
"""Slots that a store has room for at least."""


@dataclass(frozen=True, slots=True)
class Slots:
    """All that a store is, as values: every slot, empty ones included, and which are pinned.

    A store made of them does from then on what the old one would have done, slot by slot: what is
    settled next in a migration depends on nothing else.
    """

    tuples: Tuples
    pinned: int
    shadowed: tuple[tuple[int, int], ...]
    free: tuple[int, ...] | None = None
    """Empty slots that are used again, the last one first; None where all are, in any order."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a store must know of its join: the predicate, the window, and which rows retract."""

    theta: BoundTheta
    window: Window
    has_table: bool = False
    retracts_r: bool = False
    retracts_s: bool = False

    def retracts(self, side: Side) -> bool:
        """Whether rows of a side may be deleted."""
        return self.retracts_r if side == "R" else self.retracts_s

    @property
    def limit(self) -> Window | None:
        """The window, if it leaves out any pair: the rows of a table are in all windows."""
        return None if self.has_table or isinstance(self.window, FullHistory) else self.window


class LocalStore(Protocol):
    """One side of a local join: batches of columns in, pairs of row numbers out."""

    def add(self, tuples: Tuples) -> None:
        """Store tuples; a deletion cancels the tuple that it deletes."""
        ...

    def probe(self, probes: Tuples) -> tuple[Numbers, Numbers]:
        """Which rows of a batch of the other side join which slots."""
        ...

    def take(self, slots: Numbers) -> Tuples:
        """The tuples of some slots."""
        ...

    def all(self) -> Tuples | None:
        """All the tuples; None if there never were any."""
        ...

    def drop(self, slots: Numbers) -> None:
        """Forget the tuples of some slots; the others stay in theirs."""
        ...

    def pin(self) -> None:
        """Leave all tuples of now in their slots, with their weights, until `unpin`."""
        ...

    def unpin(self) -> None:
        """Slots may change again."""
        ...

    def tidy(self) -> None:
        """Give up empty slots if they are most: now and then, when a batch has time for it."""
        ...

    def purge(self, horizon: Horizon) -> int:
        """Forget what is out of the window for good; how many bytes that was."""
        ...

    def slots(self) -> Slots | None:
        """The store as values; None if there never were any tuples."""
        ...

    def restore(self, slots: Slots) -> None:
        """Become what the values say."""
        ...

    def spill(self, folder: Path) -> None:
        """Keep rows in a file of a folder from now on; called again, give their memory back.

        Indexes stay in memory, and so do Python's objects: texts and decimals.
        """
        ...

    @property
    def spilled(self) -> int:
        """What the tuples count for that are in a file."""
        ...

    def close(self) -> None:
        """Give the memory back: nobody asks this store again."""
        ...

    @property
    def bytes(self) -> int:
        """What the stored tuples count for."""
        ...

    def __len__(self) -> int: ...


class ArrayStore:
    """Growing arrays in NumPy and an index over them."""

    def __init__(self, shape: Shape, side: Side) -> None:
        self.shape = shape
        self.side: Side = side
        self.bytes = 0
        self._folder: Path | None = None
        """Where rows are in files, if they are."""
        self._clear()

    def _clear(self) -> None:
        self._length = 0
        self._arrays: list[Array] = []
        self._file: Reserved | None = None
        self._view: Tuples | None = None
        self._index = choose_index(self.shape.theta, self.shape.limit, self.side)
        self._empty = 0
        self._by_key: dict[int, int] = {}
        self._pinned = 0
        self._shadowed: list[tuple[int, int]] = []
        self.bytes = 0

    def __len__(self) -> int:
        return self._length

    def add(self, tuples: Tuples) -> None:
        """Store tuples; equal rows of a side that retracts become one with the sum of weights."""
        if not len(tuples):
            return
        if self.shape.retracts(self.side):
            self._merge(tuples)
        else:
            self._append(tuples)

    def probe(self, probes: Tuples) -> tuple[Numbers, Numbers]:
        """Rows of the batch beside slots that they join."""
        stored = self.all()
        rows: list[Numbers] = [np.zeros(0, np.int64)]
        slots: list[Numbers] = [np.zeros(0, np.int64)]
        if stored is None or not len(probes) or not self._length:
            return rows[0], slots[0]
        # Functions of users come last: they never see rows that are gone or out of the window.
        for row, slot in self._index.candidates(probes):
            if self._empty:
                alive = stored.weight[slot] != 0
                row, slot = row[alive], slot[alive]
            if self.shape.limit is not None:
                (r, i), (s, j) = self._sides((stored, slot), (probes, row))
                near = joins(self.shape.limit, r.stamps.take(i), s.stamps.take(j))
                row, slot = row[near], slot[near]
            (r, i), (s, j) = self._sides((stored, slot), (probes, row))
            match = self.shape.theta.holds(r, i, s, j, self._index.settled)
            rows.append(row[match])
            slots.append(slot[match])
        return np.concatenate(rows), np.concatenate(slots)

    def _sides(self, here: Rows, there: Rows) -> tuple[Rows, Rows]:
        return (here, there) if self.side == "R" else (there, here)

    def take(self, slots: Numbers) -> Tuples:
        """The tuples of some slots."""
        stored = self.all()
        assert stored is not None
        return stored.take(slots)

    def all(self) -> Tuples | None:
        """The stored tuples, those without weight included; None if there never were any."""
        if self._view is None:
            return None
        return self._view.with_arrays([a[: self._length] for a in self._arrays])

    def drop(self, slots: Numbers) -> None:
        """Forget the tuples of some slots; they stay empty until the store is compacted."""
        stored = self.all()
        if stored is not None:
            alive = slots[stored.weight[slots] != 0]
            stored.weight[alive] = 0
            self._empty += len(alive)
            self.bytes -= int(stored.size[alive].sum())

    def pin(self) -> None:
        """Equal rows that come now get slots of their own, and nothing is compacted."""
        self._pinned = self._length

    def unpin(self) -> None:
        """Equal rows are one again."""
        stored = self.all()
        self._pinned = 0
        for old, new in self._shadowed:
            assert stored is not None
            self._weigh(new, int(stored.weight[old]))
            self.drop(np.array([old]))
        self._shadowed = []

    def tidy(self) -> None:
        """See `LocalStore`; while a store is pinned, its slots stay."""
        if not self._pinned and self._empty > FEWEST and 2 * self._empty > self._length:
            self._compact(np.ones(self._length, np.bool_))

    def purge(self, horizon: Horizon) -> int:
        """Forget what no row can join any more; how many bytes went."""
        stored = self.all()
        if stored is None or self.shape.limit is None or self._pinned:
            return 0
        before = self.bytes
        dead = expired(self.shape.limit, self.side, stored.stamps, horizon)
        # An index is rebuilt for it: wait until it pays.
        if dead.sum() * 4 >= self._length:
            self._compact(~dead)
        return before - self.bytes

    def slots(self) -> Slots | None:
        """The store as values; None if there never were any tuples."""
        stored = self.all()
        return None if stored is None else Slots(stored, self._pinned, tuple(self._shadowed))

    def restore(self, slots: Slots) -> None:
        """Become what the values say."""
        self._clear()
        self._append(slots.tuples)
        empty = slots.tuples.weight == 0
        self._empty = int(empty.sum())
        self.bytes -= int(slots.tuples.size[empty].sum())
        self._pinned, self._shadowed = slots.pinned, list(slots.shadowed)

    @property
    def spilled(self) -> int:
        """See `LocalStore`."""
        return self.bytes if self._file is not None and self._file.is_file else 0

    def spill(self, folder: Path) -> None:
        """See `LocalStore`."""
        is_new = self._folder is None
        self._folder = folder
        if is_new and self._arrays:
            self._move(len(self._arrays[0]))
        if self._file is not None:
            self._file.give_back()

    def close(self) -> None:
        """Python gives the memory back."""

    def _move(self, room: int) -> None:
        """Have other arrays, with room for so many rows."""
        old, dtypes = self._arrays, [a.dtype for a in self._arrays]
        self._file = None if self._folder is None else reserve_in(self._folder, dtypes, room)
        self._arrays = (
            [np.empty(room, d) for d in dtypes] if self._file is None else self._file.arrays
        )
        for array, before in zip(self._arrays, old, strict=True):
            array[: self._length] = before[: self._length]

    def _append(self, tuples: Tuples) -> None:
        incoming = tuples.arrays()
        end = self._length + len(tuples)
        if self._view is None or len(self._arrays[0]) < end:
            self._arrays = self._arrays or [np.empty(0, a.dtype) for a in incoming]
            self._move(max(FEWEST, 2 * end))
            self._view = tuples
        for array, new in zip(self._arrays, incoming, strict=True):
            array[self._length : end] = new
        slots = np.arange(self._length, end)
        self._length = end
        self.bytes += int(tuples.size.sum())
        self._index.add(tuples, slots)
        if self.shape.retracts(self.side):
            self._by_key.update(zip(tuples.key.tolist(), slots.tolist(), strict=True))

    def _merge(self, tuples: Tuples) -> None:
        fresh: list[tuple[int, int | None]] = []
        coming: dict[int, int] = {}
        weights = tuples.weight.copy()
        for row, key in enumerate(tuples.key.tolist()):
            slot, before = self._by_key.get(key), coming.get(key)
            same = slot is not None and self._is_same(slot, tuples, row)
            if slot is not None and same and slot >= self._pinned:
                self._weigh(slot, int(weights[row]))
            elif before is not None and is_same_row(tuples, before, tuples, row):
                weights[before] += weights[row]
            else:
                coming[key] = row
                fresh.append((row, slot if same else None))
        fresh = [(row, slot) for row, slot in fresh if weights[row]]
        if fresh:
            rows = np.array([row for row, _ in fresh], np.int64)
            merged = tuples.take(rows)
            merged.weight[:] = weights[rows]
            first = self._length
            self._append(merged)
            self._shadowed += [(s, first + k) for k, (_, s) in enumerate(fresh) if s is not None]

    def _is_same(self, slot: int, tuples: Tuples, row: int) -> bool:
        stored = self.all()
        return stored is not None and is_same_row(stored, slot, tuples, row)

    def _weigh(self, slot: int, change: int) -> None:
        stored = self.all()
        assert stored is not None
        before = int(stored.weight[slot])
        stored.weight[slot] += change
        gone = (before != 0) - (before + change != 0)
        self._empty += gone
        self.bytes -= gone * int(stored.size[slot])

    def _compact(self, keep: Mask) -> None:
        stored = self.all()
        assert stored is not None
        kept = stored.take(keep & (stored.weight != 0))
        self._clear()
        self._append(kept)


def array_stores(shape: Shape) -> dict[Side, LocalStore]:
    """The stores of a joiner in NumPy: what the others are held against."""
    return {"R": ArrayStore(shape, "R"), "S": ArrayStore(shape, "S")}


def is_same_row(one: Tuples, i: int, two: Tuples, j: int) -> bool:
    """Whether two tuples have equal values in all columns, NULL being equal to NULL."""
    return all(
        a.valid[i] == b.valid[j] and (not a.valid[i] or a.values[i] == b.values[j])
        for a, b in zip(one.columns, two.columns, strict=True)
    )
