"""A store whose rows lie in NumPy's arrays, and whose index and predicate are in C++.

Slots of rows that are gone are used again, so nothing is ever compacted. What it means is what
`ArrayStore` means; the tests hold one against the other.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from freshview.temporal import Horizon, expired, joins
from freshview.theta.local.columns import Array, Tuples
from freshview.theta.local.indexes import other
from freshview.theta.local.native.kernel import (
    SIDES,
    JoinKernel,
    addresses,
    arrays_of,
    numbers,
)
from freshview.theta.local.reserve import FIRST_ROOM, LEAST_ROOM, Reserved, reserve, reserve_in
from freshview.theta.local.runs import MOST_CANDIDATES
from freshview.theta.local.store import LocalStore, Slots
from freshview.theta.terms import Numbers, Side

LENGTH, EMPTY, BYTES, PINNED, ROOM, HEAVIEST, PASSED, END = range(8)
"""The places of `Totals` in store.hpp."""

EXPIRED_PART = 8
"""A window lets rows go when they are that part of a store: to look for them costs all rows."""


class NativeStore:
    """One side of what a joiner has."""

    def __init__(self, kernel: JoinKernel, host: int, side: Side) -> None:
        self.kernel = kernel
        self.host = host
        self.side: Side = side
        self._where = (kernel.handle, host, int(side == "S"))
        at = kernel.calls["totals"](*self._where)
        self._totals = (ctypes.c_int64 * 8).from_address(at)
        self._reserved: Reserved | None = None
        self._folder: Path | None = None
        """Where rows are in files, if they are."""
        self._form: Tuples | None = None
        self._purged_at: tuple[Horizon, int] | None = None

    def __len__(self) -> int:
        return self._totals[LENGTH]

    @property
    def bytes(self) -> int:
        """What the stored tuples count for."""
        return self._totals[BYTES]

    @property
    def form(self) -> Tuples | None:
        """Tuples of no rows, as they are stored here; None before the first."""
        return self._form

    @property
    def heaviest(self) -> int:
        """No row has ever come, or gone, more often."""
        return self._totals[HEAVIEST]

    @property
    def left(self) -> int:
        """Slots of the epoch before that are still to be settled, if C++ settles them."""
        return self._totals[END] - self._totals[PASSED]

    def settle(self, budget: float) -> int:
        """Settle tuples of about so many bytes; the bytes that went to other joiners."""
        sent: int = self._call("settle", float(budget))
        return sent

    def prepare(self, form: Tuples, more: int) -> None:
        """Have room for so many more tuples of a form."""
        need = self._totals[LENGTH] + more
        if self._form is not None and need <= self._totals[ROOM]:
            return
        self._form = form.take(np.zeros(0, np.int64))
        self._move(max(LEAST_ROOM, 2 * need))
        if self._totals[ROOM] < need:
            raise MemoryError("no addresses are left for the rows of a join")

    def _move(self, room: int) -> None:
        """Have other arrays, with room for so many rows."""
        assert self._form is not None
        dtypes = [a.dtype for a in self._form.arrays()]
        if self._folder is not None:
            new = reserve_in(self._folder, dtypes, room)
        else:
            has_objects = any(d.kind == "O" for d in dtypes)
            new = reserve(dtypes, room if has_objects else max(room, FIRST_ROOM))
        length = self._totals[LENGTH]
        for array, old in zip(new.arrays, self._arrays, strict=False):
            array[:length] = old[:length]
        self._reserved = new
        self._call("attach", addresses(new.arrays), new.room)

    @property
    def _arrays(self) -> list[Array]:
        return [] if self._reserved is None else self._reserved.arrays

    @property
    def spilled(self) -> int:
        """See `LocalStore`."""
        is_file = self._reserved is not None and self._reserved.is_file
        return self.bytes if is_file else 0

    def spill(self, folder: Path) -> None:
        """See `LocalStore`."""
        is_new = self._folder is None
        self._folder = folder
        if self._reserved is None:
            return
        if is_new:
            self._move(max(LEAST_ROOM, 2 * self._totals[LENGTH]))
        self._reserved.give_back()

    def add(self, tuples: Tuples) -> None:
        """Store tuples; equal rows of a side that retracts become one with the sum of weights."""
        if not len(tuples):
            return
        self._purged_at = None  # whether to purge depends on what is here alone
        self.prepare(tuples, len(tuples))
        arrays = arrays_of(tuples)
        self._call("add", addresses(arrays), len(tuples))

    def probe(self, probes: Tuples) -> tuple[Numbers, Numbers]:
        """Rows of a batch of the other side beside slots that they join."""
        hit_rows: list[Numbers] = [np.zeros(0, np.int64)]
        hit_slots: list[Numbers] = [np.zeros(0, np.int64)]
        if self._form is None or not len(probes):
            return hit_rows[0], hit_slots[0]
        order = self.kernel.order(other(self.side), probes)
        arrays, start = arrays_of(probes), 0
        at, rows_at = addresses(arrays), addresses([order])[0]
        while start < len(order):
            rows, slots, start = self._call(
                "probe", at, rows_at, len(order), start, MOST_CANDIDATES
            )
            row, slot = self._remaining(probes, numbers(rows), numbers(slots))
            hit_rows.append(row)
            hit_slots.append(slot)
        return np.concatenate(hit_rows), np.concatenate(hit_slots)

    def _remaining(self, probes: Tuples, row: Numbers, slot: Numbers) -> tuple[Numbers, Numbers]:
        """The pairs for which what is not native holds as well, functions of users last."""
        kernel, stored = self.kernel, self.all()
        if kernel.joins_alone or not len(row):
            return row, slot
        assert stored is not None
        both = (stored, slot), (probes, row)
        (r, i), (s, j) = both if self.side == "R" else both[::-1]
        near = np.ones(len(row), np.bool_)
        if kernel.shape.limit is not None and not kernel.predicate.settles_window:
            near = joins(kernel.shape.limit, r.stamps.take(i), s.stamps.take(j))
            i, j = i[near], j[near]
        holds = kernel.shape.theta.holds(r, i, s, j, kernel.predicate.settled)
        return row[near][holds], slot[near][holds]

    def take(self, slots: Numbers) -> Tuples:
        """The tuples of some slots."""
        stored = self.all()
        assert stored is not None
        return stored.take(slots)

    def all(self) -> Tuples | None:
        """The stored tuples, those without weight included; None if there never were any."""
        if self._form is None:
            return None
        length = self._totals[LENGTH]
        return self._form.with_arrays([a[:length] for a in self._arrays])

    def drop(self, slots: Numbers) -> None:
        """Forget the tuples of some slots, which are used again later."""
        if len(slots):
            whole = np.ascontiguousarray(slots, np.int64)
            self._call("drop", addresses([whole])[0], len(whole))

    def pin(self) -> None:
        """Leave all tuples of now in their slots, with their weights, until `unpin`."""
        self._totals[PINNED] = self._totals[LENGTH]

    def unpin(self) -> None:
        """Equal rows are one again, and empty slots are used."""
        self._call("unpin")

    def tidy(self) -> None:
        """New rows take the empty slots here."""

    def purge(self, horizon: Horizon) -> int:
        """Forget what no row can join any more; how many bytes went."""
        stored, limit = self.all(), self.kernel.shape.limit
        if stored is None or limit is None or self._totals[PINNED]:
            return 0
        if self._purged_at == (horizon, len(self)):
            return 0
        self._purged_at = horizon, len(self)
        before = self.bytes
        dead = expired(limit, self.side, stored.stamps, horizon) & (stored.weight != 0)
        if dead.sum() * EXPIRED_PART >= len(self):
            self.drop(np.flatnonzero(dead))
        return before - self.bytes

    def slots(self) -> Slots | None:
        """The store as values; None if there never were any tuples."""
        stored = self.all()
        if stored is None:
            return None
        shadowed = numbers(self._call("shadows")).tolist()
        pairs = zip(shadowed[::2], shadowed[1::2], strict=True)
        free = tuple(numbers(self._call("gone")).tolist())
        return Slots(stored, self._totals[PINNED], tuple(pairs), free)

    def restore(self, slots: Slots) -> None:
        """Become what the values say; there must be nothing here yet."""
        self.prepare(slots.tuples, len(slots.tuples))
        count = len(slots.tuples)
        for array, values in zip(self._arrays, slots.tuples.arrays(), strict=True):
            array[:count] = values
        shadowed = np.array(slots.shadowed, np.int64).tobytes()
        free = None if slots.free is None else np.array(slots.free, np.int64).tobytes()
        self._call("restore", count, shadowed, slots.pinned, free)

    def close(self) -> None:
        """Give the memory back."""
        self._call("close")
        self._reserved, self._form = None, None

    def _call(self, name: str, *rest: Any) -> Any:
        return self.kernel.calls[name](*self._where, *rest)


def native_stores(kernel: JoinKernel) -> dict[Side, LocalStore]:
    """The stores of another joiner."""
    host = kernel.calls["add_host"](kernel.handle)
    return {side: NativeStore(kernel, host, side) for side in SIDES}
