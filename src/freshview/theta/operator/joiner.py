"""One joiner by batches: what it stores, and what it still has of the epoch before.

The sets of algorithm 4 keep apart what was joined under the old placement and what under the new.
Here a batch ends before the next begins, and a simpler rule does: a tuple that is on its way to
another joiner is joined with the new tuples of that joiner where it still is. So every batch gives
all its pairs, also while state moves, and a tuple that arrives has nothing to catch up with.

A migration costs nothing when it begins: the old state stays where it is, with its index, and is
looked through from the front, piece by piece: what others need is sent, what this joiner does not
need is dropped, and what it keeps is not touched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from freshview.temporal import Horizon
from freshview.theta.local.columns import Tuples
from freshview.theta.local.reserve import Spill
from freshview.theta.local.store import ArrayStore, LocalStore, Shape, Slots, array_stores
from freshview.theta.migration import Moves, Transfers
from freshview.theta.operator.output import Pairs
from freshview.theta.terms import Mask, Numbers, Side

SIDES: tuple[Side, Side] = ("R", "S")
MakeStores: TypeAlias = Callable[[Shape], dict[Side, LocalStore]]
"""Makes the stores of another joiner."""

Snapshot: TypeAlias = dict[Side, tuple[Slots, int, int]]
"""By side: the slots, how many of them are settled, and how many are of the epoch before."""


@dataclass
class Retiring:
    """The tuples of a side that a host had when an epoch began; the first `passed` are settled."""

    host: int
    side: Side
    store: LocalStore
    transfers: Transfers
    end: int
    passed: int = 0

    @property
    def is_done(self) -> bool:
        """Whether all are settled."""
        return self.passed == self.end

    @cached_property
    def ends(self) -> Numbers:
        """The bytes up to each tuple, itself included."""
        return np.cumsum(self._tuples().size[: self.end])

    @property
    def bytes(self) -> int:
        """What is still to be settled."""
        return int(self.ends[-1]) - (int(self.ends[self.passed - 1]) if self.passed else 0)

    def belong(self, slots: Numbers, to: int) -> Mask:
        """Whether the tuples of slots are to be joined here for a host under the new placement."""
        unsettled = (slots >= self.passed) & (slots < self.end)
        answer = ~unsettled if to == self.host else np.zeros(len(slots), np.bool_)
        open_slots = np.flatnonzero(unsettled)
        if len(open_slots):
            plan = self._plan(slots[open_slots])
            mine = plan.keep if to == self.host else plan.row[plan.to == to]
            answer[open_slots[mine]] = True
        return answer

    def next(self, budget: float) -> list[tuple[int, Tuples]]:
        """Settle tuples of at most that many bytes, and one at least; those that go, by host."""
        before = int(self.ends[self.passed - 1]) if self.passed else 0
        end = int(np.searchsorted(self.ends, before + budget, "right"))
        slots = np.arange(self.passed, max(end, self.passed + 1))
        self.passed = int(slots[-1]) + 1
        stored = self._tuples()
        slots = slots[stored.weight[slots] != 0]
        plan = self._plan(slots)
        going = [
            (to, stored.take(slots[plan.row[plan.to == to]])) for to in np.unique(plan.to).tolist()
        ]
        self.store.drop(slots[~plan.keep])
        if self.is_done:
            self.store.unpin()
        return going

    def _tuples(self) -> Tuples:
        stored = self.store.all()
        assert stored is not None
        return stored

    def _plan(self, slots: Numbers) -> Moves:
        stored = self._tuples()
        keys, hashes = stored.key[slots], stored.hash[slots]
        return self.transfers.moves(self.host, self.side, keys, hashes)


class BatchJoiner:
    """The state of one cell of the grid."""

    def __init__(self, host: int, shape: Shape, make_stores: MakeStores = array_stores) -> None:
        self.host = host
        self.shape = shape
        self.state = make_stores(shape)
        self.retiring: dict[Side, Retiring] = {}

    def bytes(self, side: Side) -> int:
        """What is stored here of one side."""
        return self.state[side].bytes

    def begin(self, transfers: Transfers) -> None:
        """Enter the next epoch: of what is here, some has to go."""
        for side in SIDES:
            store = self.state[side]
            if len(store):
                self.retiring[side] = Retiring(self.host, side, store, transfers, len(store))
                store.pin()

    def send(self, side: Side, budget: float) -> list[tuple[int, Tuples]]:
        """The next tuples of a side to go, each with the host that gets it."""
        waiting = self.retiring.get(side)
        if waiting is None:
            return []
        going = waiting.next(budget)
        if waiting.is_done:
            del self.retiring[side]
        return going

    def receive(self, side: Side, tuples: Tuples) -> None:
        """Store tuples of the epoch before: they were joined where they were."""
        self.state[side].add(tuples)

    def join(self, r: Tuples | None, kept_r: Mask, s: Tuples | None) -> list[Pairs]:
        """New tuples with all that is here and with each other; nothing changes.

        Those of R come first: the stored ones meet the new tuples of S, as if all had been stored
        before. In which group a pair of one batch meets is thereby the same everywhere.
        """
        pairs: list[Pairs] = []
        if r is not None:
            pairs.extend(self.join_for(self.host, "R", r))
        if s is not None:
            pairs.extend(self.join_for(self.host, "S", s))
            if r is not None and kept_r.any():
                new = ArrayStore(self.shape, "R")
                new.add(r.take(kept_r))
                pairs.extend(_pairs(new, "S", s, *new.probe(s)))
        return pairs

    def join_for(self, to: int, side: Side, tuples: Tuples) -> list[Pairs]:
        """New tuples of a joiner, this or another, with those here that belong to it."""
        across: Side = "S" if side == "R" else "R"
        retiring, store = self.retiring.get(across), self.state[across]
        if retiring is None and to != self.host:
            return []
        rows, slots = store.probe(tuples)
        if retiring is not None:
            mine = retiring.belong(slots, to)
            rows, slots = rows[mine], slots[mine]
        return _pairs(store, side, tuples, rows, slots)

    def store(self, side: Side, tuples: Tuples) -> None:
        """Keep new tuples."""
        self.state[side].add(tuples)

    def snapshot(self) -> Snapshot:
        """All that is here, as values: tuples of the old epoch, settled or not, then the others."""
        parts: Snapshot = {}
        for side in SIDES:
            slots, retiring = self.state[side].slots(), self.retiring.get(side)
            if slots is not None:
                marks = (0, 0) if retiring is None else (retiring.passed, retiring.end)
                parts[side] = slots, *marks
        return parts

    def restore(self, parts: Snapshot, transfers: Transfers | None) -> None:
        """Become what a snapshot says, in the midst of a migration if there was one."""
        for side, (slots, passed, end) in parts.items():
            store = self.state[side]
            store.restore(slots)
            if passed < end:
                assert transfers is not None
                self.retiring[side] = Retiring(self.host, side, store, transfers, end, passed)

    def become(self, stores: dict[Side, LocalStore]) -> None:
        """Have other stores, with what the old ones have."""
        for side in SIDES:
            slots = self.state[side].slots()
            if slots is not None:
                stores[side].restore(slots)
        self.close()
        self.state = stores

    @property
    def spilled(self) -> int:
        """What is in files, in bytes."""
        return sum(store.spilled for store in self.state.values())

    def spill(self, limit: Spill) -> None:
        """Keep rows in files if they are too many, and give back what a batch has read of them."""
        if self.spilled or self.bytes("R") + self.bytes("S") > limit.after:
            for store in self.state.values():
                store.spill(limit.folder)

    def tidy(self) -> None:
        """Give up empty slots where they are most."""
        for store in self.state.values():
            store.tidy()

    def close(self) -> None:
        """Give the memory back."""
        for store in self.state.values():
            store.close()

    def purge(self, horizon: Horizon) -> dict[Side, int]:
        """Forget what is out of the window, unless it retires; bytes by side."""
        return {side: self.state[side].purge(horizon) for side in SIDES}


def _pairs(
    store: LocalStore, side: Side, tuples: Tuples, rows: Numbers, slots: Numbers
) -> list[Pairs]:
    """Rows of a batch of `side` with slots of a store."""
    if not len(rows):
        return []
    mine, theirs = tuples.take(rows), store.take(slots)
    return [Pairs(mine, theirs) if side == "R" else Pairs(theirs, mine)]
