"""One joiner by batches: what it stores, and what it still has for others.

The sets of algorithm 4 keep apart what was joined under the old placement and what under the new.
Here a batch ends before the next begins, and a simpler rule does: a tuple that is on its way to
another joiner is joined with the new tuples of that joiner where it still is. So every batch gives
all its pairs, also while state moves, and a tuple that arrives has nothing to catch up with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from freshview.temporal import Horizon
from freshview.theta.local.columns import Tuples
from freshview.theta.local.store import ArrayStore, LocalStore, Shape
from freshview.theta.migration import moves
from freshview.theta.operator.output import Pairs
from freshview.theta.terms import Mask, Numbers, Placement, Side

SIDES: tuple[Side, Side] = ("R", "S")
MakeStore: TypeAlias = Callable[[Shape, Side], LocalStore]


@dataclass
class Departing:
    """Tuples that another joiner needs; the first `sent` of them are there."""

    store: LocalStore
    sent: int = 0

    @property
    def is_done(self) -> bool:
        """Whether all have gone."""
        return self.sent == len(self.store)

    def probe(self, tuples: Tuples, side: Side) -> Pairs | None:
        """New tuples of the joiner that waits, with those that are still here."""
        rows, slots = self.store.probe(tuples)
        here = slots >= self.sent
        return pair_up(self.store, side, tuples, rows[here], slots[here])

    def next(self, budget: float) -> Tuples:
        """Those that go now: of at most that many bytes, and one at least."""
        stored = self.store.all()
        assert stored is not None
        sizes = np.cumsum(stored.size[self.sent :])
        count = max(1, int(np.searchsorted(sizes, budget, "right")))
        going = stored.take(np.arange(self.sent, min(self.sent + count, len(stored))))
        self.sent += len(going)
        return going


class BatchJoiner:
    """The state of one cell of the grid."""

    def __init__(self, host: int, shape: Shape, make_store: MakeStore = ArrayStore) -> None:
        self.host = host
        self.shape = shape
        self._make = make_store
        self.state: dict[Side, LocalStore] = {side: make_store(shape, side) for side in SIDES}
        self.departing: dict[tuple[int, Side], Departing] = {}

    def bytes(self, side: Side) -> int:
        """What is stored here of one side."""
        return self.state[side].bytes

    def begin(self, old: Placement, new: Placement) -> None:
        """Enter the next epoch: keep what belongs here, line up what others need."""
        for side in SIDES:
            stored = self.state[side].all()
            if stored is None or not len(stored):
                continue
            plan = moves(old, new, self.host, side, stored.key, stored.hash)
            alive = stored.weight[plan.row] != 0
            row, to = plan.row[alive], plan.to[alive]
            for host in np.unique(to).tolist():
                store = self._make(self.shape, side)
                store.add(stored.take(row[to == host]))
                self.departing[host, side] = Departing(store)
            self.state[side].keep(plan.keep)

    def send(self, budget: float) -> list[tuple[int, Side, Tuples]]:
        """The next tuples to go, each with the host that gets it."""
        going = []
        for (host, side), departing in list(self.departing.items()):
            if budget <= 0:
                break
            tuples = departing.next(budget)
            budget -= float(tuples.size.sum())
            going.append((host, side, tuples))
            if departing.is_done:
                del self.departing[host, side]
        return going

    def receive(self, side: Side, tuples: Tuples) -> None:
        """Store tuples that another joiner sent: they were joined where they were."""
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

    def join_departing(self, to: int, side: Side, tuples: Tuples) -> list[Pairs]:
        """New tuples of another joiner with those that it waits for; nothing changes."""
        departing = self.departing.get((to, "S" if side == "R" else "R"))
        pairs = None if departing is None else departing.probe(tuples, side)
        return [] if pairs is None else [pairs]

    def store(self, side: Side, tuples: Tuples) -> None:
        """Keep new tuples."""
        self.state[side].add(tuples)

    def purge(self, horizon: Horizon) -> dict[Side, int]:
        """Forget what is out of the window; bytes by side."""
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
