"""One joiner by batches: what it stores, and what it still has of the epoch before.

The sets of algorithm 4 keep apart what was joined under the old placement and what under the new.
Here a batch ends before the next begins, and a simpler rule does: a tuple that is on its way to
another joiner is joined with the new tuples of that joiner where it still is. So every batch gives
all its pairs, also while state moves, and a tuple that arrives has nothing to catch up with.

A migration costs nothing when it begins: the old state stays as it is, with its index, and is
passed on from the front, piece by piece, to where the new placement has it, here or elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from freshview.temporal import Horizon
from freshview.theta.local.columns import Tuples
from freshview.theta.local.store import ArrayStore, LocalStore, Shape
from freshview.theta.migration import Moves, moves
from freshview.theta.operator.output import Pairs
from freshview.theta.terms import Mask, Numbers, Placement, Side

SIDES: tuple[Side, Side] = ("R", "S")
MakeStore: TypeAlias = Callable[[Shape, Side], LocalStore]


@dataclass
class Retiring:
    """The tuples of one side that a host had when an epoch began; the first `passed` have gone."""

    host: int
    side: Side
    store: LocalStore
    old: Placement
    new: Placement
    passed: int = 0

    @property
    def is_done(self) -> bool:
        """Whether all have gone where they belong."""
        return self.passed == len(self.store)

    @cached_property
    def ends(self) -> Numbers:
        """The bytes up to each tuple, itself included."""
        return np.cumsum(self._tuples.size)

    @property
    def bytes(self) -> int:
        """What is still here."""
        return int(self.ends[-1]) - (int(self.ends[self.passed - 1]) if self.passed else 0)

    def probe(self, tuples: Tuples, to: int) -> Pairs | None:
        """New tuples of a joiner with those that are still here and belong to it."""
        rows, slots = self.store.probe(tuples)
        here = np.flatnonzero(slots >= self.passed)
        if len(here):
            rows, slots = rows[here], slots[here]
            plan = self._plan(slots)
            here = np.flatnonzero(plan.keep) if to == self.host else plan.row[plan.to == to]
        across: Side = "S" if self.side == "R" else "R"
        return pair_up(self.store, across, tuples, rows[here], slots[here])

    def next(self, budget: float) -> list[tuple[int, Tuples]]:
        """Those that go now, by host: of at most that many bytes, and one at least."""
        before = int(self.ends[self.passed - 1]) if self.passed else 0
        end = int(np.searchsorted(self.ends, before + budget, "right"))
        slots = np.arange(self.passed, max(end, self.passed + 1))
        self.passed = int(slots[-1]) + 1
        slots = slots[self._tuples.weight[slots] != 0]
        plan = self._plan(slots)
        going = [(self.host, self._tuples.take(slots[plan.keep]))]
        for to in np.unique(plan.to).tolist():
            going.append((to, self._tuples.take(slots[plan.row[plan.to == to]])))
        return going

    @cached_property
    def _tuples(self) -> Tuples:
        stored = self.store.all()
        assert stored is not None
        return stored

    def _plan(self, slots: Numbers) -> Moves:
        keys, hashes = self._tuples.key[slots], self._tuples.hash[slots]
        return moves(self.old, self.new, self.host, self.side, keys, hashes)


class BatchJoiner:
    """The state of one cell of the grid."""

    def __init__(self, host: int, shape: Shape, make_store: MakeStore = ArrayStore) -> None:
        self.host = host
        self.shape = shape
        self._make = make_store
        self.state: dict[Side, LocalStore] = {side: make_store(shape, side) for side in SIDES}
        self.retiring: dict[Side, Retiring] = {}

    def bytes(self, side: Side) -> int:
        """What is stored here of one side."""
        waiting = self.retiring.get(side)
        return self.state[side].bytes + (0 if waiting is None else waiting.bytes)

    def begin(self, old: Placement, new: Placement) -> None:
        """Enter the next epoch: what is here retires."""
        for side in SIDES:
            if len(self.state[side]):
                self.retiring[side] = Retiring(self.host, side, self.state[side], old, new)
                self.state[side] = self._make(self.shape, side)

    def send(self, side: Side, budget: float) -> list[tuple[int, Tuples]]:
        """The next tuples of a side to go, each with the host that gets it, maybe this one."""
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
        found: list[Pairs | None] = []
        if r is not None:
            found.append(_probe(self.state["S"], "R", r))
        if s is not None:
            found.append(_probe(self.state["R"], "S", s))
            if r is not None and kept_r.any():
                new = self._make(self.shape, "R")
                new.add(r.take(kept_r))
                found.append(_probe(new, "S", s))
        return [p for p in found if p is not None]

    def join_retiring(self, to: int, side: Side, tuples: Tuples) -> list[Pairs]:
        """New tuples of a joiner with those that it will get from here; nothing changes."""
        waiting = self.retiring.get("S" if side == "R" else "R")
        pairs = None if waiting is None else waiting.probe(tuples, to)
        return [] if pairs is None else [pairs]

    def store(self, side: Side, tuples: Tuples) -> None:
        """Keep new tuples."""
        self.state[side].add(tuples)

    def purge(self, horizon: Horizon) -> dict[Side, int]:
        """Forget what is out of the window; bytes by side. What retires is not looked at."""
        return {side: self.state[side].purge(horizon) for side in SIDES}


def pair_up(
    store: LocalStore, side: Side, tuples: Tuples, rows: Numbers, slots: Numbers
) -> Pairs | None:
    """The pairs of rows of a batch of `side` and slots of a store; None if there are none."""
    if not len(rows):
        return None
    mine, theirs = tuples.take(rows), store.take(slots)
    return Pairs(mine, theirs) if side == "R" else Pairs(theirs, mine)


def _probe(store: LocalStore, side: Side, tuples: Tuples) -> Pairs | None:
    return pair_up(store, side, tuples, *store.probe(tuples))
