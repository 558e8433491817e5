"""What all operators have in common, and the one way in which most of them follow changes.

A change of the input touches ranges of time of the result. There the result is computed twice, from
the events before and from those after, and the difference goes on. So deletions, corrections and
events that come late need no case of their own, nothing is sent that did not change, and an
operator is right if its result is a function of events nearby.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeAlias

import numpy as np

from freshview.signal.columns.ranges import MAX_TIME, MIN_TIME, Ranges, merged
from freshview.signal.columns.rows import Ints, Rows, difference
from freshview.signal.columns.store import Store

State: TypeAlias = tuple[Store, ...]


class Operator(ABC):
    """A function of events that is maintained; what it remembers is a value, see `Store`."""

    @abstractmethod
    def schema(self, *inputs: Rows) -> Rows:
        """The result without rows: its columns and their types."""

    def start(self, *inputs: Rows) -> State:
        """The state before the first change, from inputs without rows."""
        return ()

    @abstractmethod
    def step(self, state: State, *changes: Rows) -> tuple[State, Rows]:
        """The state after changes of the inputs, and the change of the result."""

    def forget(self, state: State, *ahead: Ints) -> tuple[State, Ints]:
        """The state without what no event needs any more that may still come or go.

        `ahead` has for each input and each group a time before which nothing changes; so has the
        answer, for the result.
        """
        return state, np.minimum.reduce(ahead)


class Stateless(Operator):
    """An operator that looks at one event at a time."""

    @abstractmethod
    def apply(self, rows: Rows) -> Rows:
        """What becomes of rows; their weights stay."""

    def schema(self, *inputs: Rows) -> Rows:
        """By example."""
        return self.apply(inputs[0])

    def step(self, state: State, *changes: Rows) -> tuple[State, Rows]:
        """What comes and goes becomes what comes and goes."""
        return state, self.apply(changes[0])


class Local(Operator):
    """An operator whose result depends on events nearby.

    `back` is how many neighbours before an event its own change reaches past, `lookback` how much
    time before a result `compute` asks for.
    """

    back = 0
    lookback = 0

    def start(self, *inputs: Rows) -> State:
        """A store of the input."""
        return (Store(inputs[0]),)

    @abstractmethod
    def touched(self, store: Store, changed: Rows) -> Ranges:
        """Where the result may differ, for events that are in the store and came or will go."""

    @abstractmethod
    def compute(self, store: Store, ranges: Ranges) -> Rows:
        """The part of the result that starts within ranges."""

    def check(self, store: Store, changed: Rows) -> None:
        """Refuse events that cannot be in one store."""
        return

    def step(self, state: State, *changes: Rows) -> tuple[State, Rows]:
        """The result near what changed, before and after."""
        (store,), (change,) = state, changes
        if not len(change):
            return state, self.schema(store.empty)
        deletes, inserts = change.deletes(), change.inserts()
        after = store.apply(change)
        self.check(after, inserts)
        ranges = _together([self.touched(after, inserts), self.touched(store, deletes)])
        old = self.compute(store, ranges) if len(store) else self.schema(store.empty)
        return (after,), difference(old, self.compute(after, ranges))

    def forget(self, state: State, *ahead: Ints) -> tuple[State, Ints]:
        """Keep what is as near to an event to come as `compute` looks."""
        (store,), (at,) = state, ahead
        reach = at
        if self.back:
            before = store.previous(np.arange(len(at)), at, self.back)
            reach = np.minimum(at, np.where(before == MIN_TIME, at, before))
        kept = np.where(reach > MIN_TIME // 2, reach - self.lookback, MIN_TIME)
        return (store.forget(kept),), reach


def around(store: Store, changed: Rows, back: int, ahead: int) -> Ranges:
    """From the neighbours before changed events to those after them."""
    low, high = changed.start, changed.start
    if back:
        before = store.previous(changed.group, changed.start, back)
        low = np.where(before == MIN_TIME, low, before)
    if ahead:
        after = store.following(changed.group, changed.start, ahead)
        high = np.where(after == MAX_TIME, high, after)
    return Ranges(changed.group, low, high)


def _together(parts: list[Ranges]) -> Ranges:
    return merged(
        np.concatenate([p.group for p in parts]),
        np.concatenate([p.low for p in parts]),
        np.concatenate([p.high for p in parts]),
    )
