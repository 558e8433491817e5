"""What all operators have in common, and the one way in which most of them follow changes.

A change of the input touches ranges of time of the result. There the result is computed twice, from
the events before and from those after, and the difference goes on. So deletions, corrections and
events that come late need no case of their own, nothing is sent that did not change, and an
operator is right if its result is a function of events nearby.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from freshview.signal.columns.ranges import MAX_TIME, MIN_TIME, Ranges, merged
from freshview.signal.columns.rows import Ints, Rows, difference, is_sorted
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
        """Where the result may differ, for events that are in the store and came or will go.

        Of a later event of a group, a range begins and ends no earlier; see `reached`.
        """

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
        reach = reached(store, inserts, lambda rows: self.touched(after, rows))
        ranges = _together([reach, self.touched(store, deletes)])
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


def reached(before: Store, rows: Rows, touched: Callable[[Rows], Ranges]) -> Ranges:
    """Ranges that events touch which are new in a store, one for each group that they continue.

    Where all events of a group in a change come after those before it, nothing between them is
    old: they touch what lies from the range of the first to that of the last.
    """
    if len(rows) < 2 or not is_sorted(rows):
        return touched(rows)
    runs = rows.runs
    group = rows.group if runs is None else runs.group
    new = np.ones(len(group), np.bool_)
    np.not_equal(group[1:], group[:-1], out=new[1:])
    first = np.flatnonzero(new) if runs is None else runs.begin[new]
    last = np.append(first[1:], len(rows)) - 1
    ends = rows.take(first)
    continues = ends.start > before.last(ends.group)
    begin, end = touched(rows.take(first[continues])), touched(rows.take(last[continues]))
    whole = Ranges(begin.group, begin.low, end.high)
    if continues.all():
        return whole
    among = touched(rows.take(np.repeat(~continues, last - first + 1)))
    return Ranges(
        np.concatenate([whole.group, among.group]),
        np.concatenate([whole.low, among.low]),
        np.concatenate([whole.high, among.high]),
    )


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
