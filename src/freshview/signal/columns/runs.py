"""Runs: stretches of events of one group, each a step after the one before and of one length.

Signals of sensors are mostly such stretches. Three numbers stand for the times and groups of all
their events, so what an operator asks of them costs something for each run, and not for each event.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freshview.signal.arrays import Array, Ints
from freshview.signal.columns import native
from freshview.signal.columns.ranges import counted

FEWEST = 256
"""Batches with fewer events are not searched for runs."""

SHORTEST = 2
"""Runs that are shorter, on average, are not worth it."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Parallel arrays, one entry a run, in the order in which the events lie.

    Events start at `first`, `first + step`, .., `count` of them, and live for `width`.
    """

    group: Ints
    first: Ints
    count: Ints
    step: int
    width: int

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def size(self) -> int:
        """How many events there are."""
        return int(self.count.sum())

    @cached_property
    def begin(self) -> Ints:
        """Where each run begins."""
        return np.asarray(np.cumsum(self.count) - self.count)

    @cached_property
    def last(self) -> Ints:
        """When the last event of each run starts."""
        return np.asarray(self.first + (self.count - 1) * self.step)

    @cached_property
    def is_sorted(self) -> bool:
        """Whether events are in the order of groups, and of time within a group."""
        later = self.group[1:] > self.group[:-1]
        later |= (self.group[1:] == self.group[:-1]) & (self.first[1:] >= self.last[:-1])
        return bool(later.all())

    def starts(self) -> Ints:
        """When the events start."""
        if len(self) == 1:
            first = int(self.first[0])
            return np.arange(first, first + self.size * self.step, self.step)
        offset = np.repeat(self.first - self.begin * self.step, self.count)
        offset += np.arange(0, self.size * self.step, self.step)
        return offset

    def groups(self) -> Ints:
        """The groups of the events."""
        return np.repeat(self.group, self.count)

    def at(self, index: Ints) -> tuple[Ints, Ints]:
        """The groups and the starts of some events."""
        run = self.runs_of(index)
        start = self.first[run] + (index - self.begin[run]) * self.step
        return self.group[run], np.asarray(start)

    def runs_of(self, index: Ints) -> Ints:
        """In which runs events lie."""
        return np.asarray(np.searchsorted(self.begin, index, side="right") - 1)

    def spans(self, low: Ints, high: Ints) -> tuple[Runs, Ints]:
        """The runs of the events from `low` up to, not including, `high`, pair by pair.

        And to which pair each belongs.
        """
        some = np.flatnonzero(high > low)
        low, high = low[some], high[some]
        if len(some) == len(self) and (low == self.begin).all():
            if (high == self.begin + self.count).all():
                return self, some
        first, last = self.runs_of(low), self.runs_of(high - 1)
        pair, nth = counted(last - first + 1)
        run = first[pair] + nth
        skipped = np.where(nth == 0, low[pair] - self.begin[run], 0)
        until = np.where(run == last[pair], high[pair] - self.begin[run], self.count[run])
        start = self.first[run] + skipped * self.step
        return self.with_spans(self.group[run], start, until - skipped), some[pair]

    def with_spans(self, group: Ints, first: Ints, count: Ints) -> Runs:
        """Other runs of the same step and width."""
        return Runs(group, first, count, self.step, self.width)

    def search(self, group: Ints, time: Ints) -> Ints:
        """Where in its group the first event that starts at or after a time is; of sorted runs.

        0 for a group that has no events.
        """
        begin, end = self._bounds(group)
        run = self._after(time, begin, end) - 1
        safe = np.maximum(run, 0)
        ahead = -((self.first[safe] - time) // self.step)
        inside = self.begin[safe] + np.clip(ahead, 0, self.count[safe])
        place = np.where(run >= begin, inside, np.append(self.begin, self.size)[begin])
        return np.where(begin < end, place, 0)

    def meeting(self, others: Runs) -> tuple[Ints, Ints]:
        """The pairs of a run and one of the others, which are sorted, that share some time."""
        begin, end = others._bounds(self.group)
        high = others._after(self.last + 1, begin, end)
        low = others._after(self.first + 1, begin, end)
        before = np.maximum(low - 1, 0)
        low -= (low > begin) & (others.last[before] >= self.first)
        run, nth = counted(np.maximum(high - low, 0))
        return run, low[run] + nth

    @cached_property
    def _is_one_each(self) -> bool:
        """Whether the n-th run is all that the n-th group has."""
        return bool((self.group == np.arange(len(self))).all())

    def _bounds(self, group: Ints) -> tuple[Ints, Ints]:
        """Between which places the runs of groups are."""
        if self._is_one_each:
            begin = np.minimum(group, len(self))
            return begin, np.minimum(begin + 1, len(self))
        begin = np.searchsorted(self.group, group, side="left")
        return begin, np.searchsorted(self.group, group, side="right")

    def _after(self, time: Ints, low: Ints, high: Ints) -> Ints:
        """The first run between two places that begins at or after a time."""
        while (open_ := low < high).any():
            middle = (low + high) // 2
            before = open_ & (self.first[np.minimum(middle, len(self) - 1)] < time)
            low = np.where(before, middle + 1, low)
            high = np.where(open_ & ~before, middle, high)
        return low

    def fused(self) -> Runs:
        """The same events, with runs that continue each other as one."""
        new = np.ones(len(self), np.bool_)
        np.not_equal(self.group[1:], self.group[:-1], out=new[1:])
        new[1:] |= self.first[1:] != self.last[:-1] + self.step
        if new.all():
            return self
        begin = np.flatnonzero(new)
        count = np.add.reduceat(self.count, begin)
        return self.with_spans(self.group[begin], self.first[begin], count)


def are_long(count: Ints) -> bool:
    """Whether runs of these lengths are worth it."""
    size = int(count.sum())
    return size >= FEWEST and size >= SHORTEST * len(count)


def joined(parts: list[Runs]) -> Runs | None:
    """Runs one after the other, if they have one step and one width."""
    step, width = parts[0].step, parts[0].width
    if any(p.step != step or p.width != width for p in parts):
        return None
    group = np.concatenate([p.group for p in parts])
    first = np.concatenate([p.first for p in parts])
    count = np.concatenate([p.count for p in parts])
    return Runs(group, first, count, step, width).fused()


def runs_of_times(time: Ints) -> Runs | None:
    """The runs of points of one group, in the order of the rows, if there are few."""
    if len(time) < FEWEST or (step := _usual_step(time)) <= 0:
        return None
    places = native.time_breaks(time, step, len(time) // SHORTEST)
    if places is None:
        return None
    begin = np.append(0, places)
    count = np.diff(np.append(begin, len(time)))
    return Runs(np.zeros(len(begin), np.int64), time[begin], count, step, 1)


def runs_of_events(group: Ints, start: Ints, end: Ints) -> Runs | None:
    """The runs of events, if there are few."""
    if len(start) < FEWEST or (step := _usual_step(start)) <= 0:
        return None
    width = int(end[0] - start[0])
    places = native.event_breaks(group, start, end, step, width, len(start) // SHORTEST)
    if places is None or (end[places] - start[places] != width).any():
        return None
    begin = np.append(0, places)
    count = np.diff(np.append(begin, len(start)))
    return Runs(group[begin], start[begin], count, step, width)


def by_value(runs: Runs, values: Array) -> Runs | None:
    """Runs cut where a column changes, if there still are few."""
    places = native.value_breaks(values, runs.size // SHORTEST)
    if places is None:
        return None
    inside = places[runs.begin[runs.runs_of(places)] != places]
    if not len(inside):
        return runs
    begin = np.union1d(runs.begin, inside)
    if len(begin) > runs.size // SHORTEST:
        return None
    group, first = runs.at(begin)
    return runs.with_spans(group, first, np.diff(np.append(begin, runs.size)))


def _usual_step(time: Ints) -> int:
    """What most of the first times differ by."""
    steps = np.diff(time[:32])
    steps = steps[steps > 0]
    if not len(steps):
        return 0
    values, counts = np.unique(steps, return_counts=True)
    return int(values[np.argmax(counts)])
