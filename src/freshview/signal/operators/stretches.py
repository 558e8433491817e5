"""Gaps between events, and sessions of events that are near each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freshview.signal.columns.ranges import MAX_TIME, MIN_TIME, Ranges, merged, running_max
from freshview.signal.columns.rows import Ints, Rows, difference
from freshview.signal.columns.store import Store
from freshview.signal.operators.interpolate import with_neighbours, within
from freshview.signal.operators.node import Local, Operator, State, around


@dataclass(frozen=True)
class GapsOperator(Local):
    """The time between two events in a row of a signal, where it is longer than `limit`."""

    limit: int
    back = 1

    def schema(self, *inputs: Rows) -> Rows:
        """How long the gap is."""
        return inputs[0].with_columns({"length": np.zeros(0, np.int64)})

    def touched(self, store: Store, changed: Rows) -> Ranges:
        """The gaps on both sides."""
        return around(store, changed, 1, 1)

    def compute(self, store: Store, ranges: Ranges) -> Rows:
        """The gaps that begin within ranges."""
        rows, part = store.gather(with_neighbours(store, ranges, 1)[0])
        if len(rows) < 2:
            return self.schema(store.empty)
        start, end = rows.end[:-1], rows.start[1:]
        is_gap = (part[1:] == part[:-1]) & (end - start > self.limit)
        is_gap &= within(rows.group[:-1], start, ranges)
        gaps = rows.take(slice(None, -1)).with_lifetimes(start, end).take(is_gap)
        return gaps.with_columns({"length": gaps.end - gaps.start})


@dataclass(frozen=True)
class SessionsOperator(Operator):
    """Stretches of events with at most `timeout` between them.

    A session may be of any length, so the sessions there are say how far a change reaches.
    """

    timeout: int

    def schema(self, *inputs: Rows) -> Rows:
        """How many events there are."""
        return inputs[0].with_columns({"count": np.zeros(0, np.int64)})

    def start(self, *inputs: Rows) -> State:
        """The events, without payload, and the sessions."""
        return Store(inputs[0].with_columns({})), Store(self.schema(*inputs))

    def step(self, state: State, *changes: Rows) -> tuple[State, Rows]:
        """The sessions before, at and after what changed, anew."""
        (events, sessions), (change,) = state, changes
        if not len(change):
            return state, sessions.empty
        events = events.apply(change.with_columns({}))
        low = sessions.previous(change.group, change.start + 1)
        high = sessions.following(change.group, change.end + self.timeout)
        ranges = merged(
            change.group,
            np.where(low == MIN_TIME, change.start, low),
            np.where(high == MAX_TIME, MAX_TIME - 2, high - 1),
        )
        old, _ = sessions.gather(ranges)
        rows, part = events.gather(ranges)
        delta = difference(old, self._sessions(rows, part))
        return (events, sessions.apply(delta)), delta

    def _sessions(self, rows: Rows, part: Ints) -> Rows:
        first = np.ones(len(rows), np.bool_)
        first[1:] = part[1:] != part[:-1]
        end = running_max(rows.end, first)
        first[1:] |= rows.start[1:] - end[:-1] > self.timeout
        begin = np.flatnonzero(first)
        count = np.diff(np.append(begin, len(rows)))
        sessions = rows.take(begin).with_columns({"count": count})
        return sessions.with_lifetimes(sessions.start, end[begin + count - 1])

    def forget(self, state: State, *ahead: Ints) -> tuple[State, Ints]:
        """Keep the last session, which may go on, and its events."""
        (events, sessions), (at,) = state, ahead
        before = sessions.previous(np.arange(len(at)), at)
        reach = np.where(before == MIN_TIME, at, np.minimum(before, at))
        return (events.forget(reach), sessions.forget(reach)), reach
