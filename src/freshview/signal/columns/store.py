"""All events of an input, searched by group and time.

A store is a list of sorted segments, each at least twice as large as the next: a batch becomes a
segment, and small ones are merged, so a row is copied a logarithmic number of times. A store is a
value: a change gives another one, which shares the segments that did not change. A batch that is
refused half-way leaves nothing to take back, and a snapshot costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from freshview.errors import NotAdmitted
from freshview.signal.columns.ranges import MAX_TIME, MIN_TIME, Ranges, counted
from freshview.signal.columns.rows import (
    Ints,
    Mask,
    Rows,
    concat,
    equal_rows,
    sorted_rows,
)

PATIENCE = 1024
"""So many rows are kept without a thought of forgetting some."""


class Segment:
    """Rows in the order of groups and starts."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        group = rows.group if rows.runs is None else rows.runs.group
        new = np.ones(len(group), np.bool_)
        np.not_equal(group[1:], group[:-1], out=new[1:])
        first = np.flatnonzero(new)
        self.codes = group[first]
        self.first = first if rows.runs is None else rows.runs.begin[first]
        self.last = np.append(self.first[1:], len(rows))

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def longest(self) -> int:
        """The lifetime of the event that lives longest."""
        if self.rows.runs is not None:
            return self.rows.runs.width
        return int((self.rows.end - self.rows.start).max())

    @cached_property
    def _base(self) -> int:
        runs = self.rows.runs
        return int((self.rows.start if runs is None else runs.first).min())

    @cached_property
    def _span(self) -> int:
        runs = self.rows.runs
        return int((self.rows.start if runs is None else runs.last).max()) - self._base + 2

    @cached_property
    def _keys(self) -> Ints | None:
        """Group and start as one number, if that fits."""
        if (int(self.codes[-1]) + 1) * self._span >= MAX_TIME:
            return None
        return np.asarray(self.rows.group * self._span + (self.rows.start - self._base))

    def start_at(self, index: Ints) -> Ints:
        """When some of the rows start."""
        if self.rows.runs is not None:
            return self.rows.runs.at(index)[1]
        return np.asarray(self.rows.start[index])

    def bounds(self, group: Ints) -> tuple[Ints, Ints]:
        """Where groups begin and end."""
        if len(self.codes) == int(self.codes[-1]) + 1:
            at = np.minimum(group, len(self.codes) - 1)
        else:
            at = np.minimum(np.searchsorted(self.codes, group), len(self.codes) - 1)
        here = self.codes[at] == group
        return np.where(here, self.first[at], 0), np.where(here, self.last[at], 0)

    def search(self, group: Ints, time: Ints) -> Ints:
        """Where in its group the first row with a start at or after a time is."""
        if self.rows.runs is not None:
            return self.rows.runs.search(group, time)
        low, high = self.bounds(group)
        keys = self._keys
        if keys is not None and len(group) > 64:
            inside = np.clip(time - self._base, 0, self._span - 1)
            wanted = np.where(group <= self.codes[-1], group, self.codes[-1] + 1) * self._span
            return np.clip(np.searchsorted(keys, wanted + inside), low, high)
        start = self.rows.start
        while (open_ := low < high).any():
            middle = (low + high) // 2
            before = open_ & (start[np.minimum(middle, len(start) - 1)] < time)
            low = np.where(before, middle + 1, low)
            high = np.where(open_ & ~before, middle, high)
        return low

    @cached_property
    def is_points(self) -> bool:
        """Whether all events are one unit of time long, and no two of a group start together."""
        if self.rows.runs is not None:
            return self.rows.runs.width == 1
        if self._keys is None or not (self._keys[1:] > self._keys[:-1]).all():
            return False
        return self.rows.are_points

    def find(self, group: Ints, time: Ints) -> tuple[Ints, Mask]:
        """Of events that are points: which starts at a time, and whether one does."""
        if (runs := self.rows.runs) is not None:
            at = np.minimum(runs.search(group, time), len(self) - 1)
            own, start = runs.at(at)
            return at, (own == group) & (start == time)
        keys = self._keys
        assert keys is not None
        offset = time - self._base
        inside = (offset >= 0) & (offset < self._span) & (group <= self.codes[-1])
        wanted = np.where(inside, group * self._span + offset, 0)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return at, (keys[at] == wanted) & inside

    def keep(self, mask: Mask) -> Segment | None:
        """The rows that a mask lets stay."""
        return Segment(self.rows.take(mask)) if mask.any() else None


@dataclass(frozen=True, slots=True)
class Store:
    """The events of one input of an operator.

    `forgotten` has for each group the earliest start that ever was there and has been forgotten.
    """

    empty: Rows
    segments: tuple[Segment, ...] = ()
    forgotten: Ints | None = None
    floor: int = 0
    """How many rows were left when rows were forgotten last."""

    def __len__(self) -> int:
        return sum(len(s) for s in self.segments)

    @property
    def bytes(self) -> int:
        """The size of the rows."""
        return sum(s.rows.bytes for s in self.segments)

    def apply(self, change: Rows) -> Store:
        """The store after rows came and went; all that go must be there."""
        store = self
        deletes = change.deletes()
        if len(deletes):
            store = store._without(deletes)
        inserts = change.inserts()
        return store._with(sorted_rows(inserts)) if len(inserts) else store

    def gather(self, ranges: Ranges) -> tuple[Rows, Ints]:
        """The rows that start within ranges, in order, and the range of each.

        Ranges are in order, and no two of a group meet.
        """
        rows, lengths = self.within(ranges)
        return rows, np.repeat(np.arange(len(ranges)), lengths)

    def within(self, ranges: Ranges) -> tuple[Rows, Ints]:
        """The rows that start within ranges, in order, and how many each range has."""
        parts, total = [], np.zeros(len(ranges), np.int64)
        for segment in self.segments:
            low = segment.search(ranges.group, ranges.low)
            high = segment.search(ranges.group, ranges.high + 1)
            lengths = np.maximum(high - low, 0)
            if lengths.any():
                parts.append(segment.rows.spans(low, high))
                total += lengths
        if len(parts) < 2:
            return (parts[0] if parts else self.empty), total
        return sorted_rows(concat(parts)), total

    def all(self) -> Rows:
        """Every row, in order."""
        return sorted_rows(concat([s.rows for s in self.segments] or [self.empty]))

    def codes(self) -> Ints:
        """The groups that have rows."""
        parts = [s.codes for s in self.segments]
        if len(parts) == 1:
            return parts[0]
        return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)

    def previous(self, group: Ints, time: Ints, k: int = 1) -> Ints:
        """The start of the k-th row before a time; of the first, if there are fewer.

        `MIN_TIME` where there is none.
        """
        candidates = np.full((len(self.segments) * k + 1, len(group)), MIN_TIME)
        for n, segment in enumerate(self.segments):
            low, _ = segment.bounds(group)
            at = segment.search(group, time)
            for back in range(1, k + 1):
                here = at - back
                value = segment.start_at(np.maximum(here, 0))
                candidates[n * k + back - 1] = np.where(here >= low, value, MIN_TIME)
        candidates.sort(axis=0)
        best = candidates[-k:]
        there = best > MIN_TIME
        first = np.where(there.any(axis=0), np.argmax(there, axis=0), 0)
        return np.asarray(np.take_along_axis(best, first[None], 0)[0])

    def following(self, group: Ints, time: Ints, k: int = 1) -> Ints:
        """The start of the k-th row after a time; of the last, if there are fewer.

        `MAX_TIME` where there is none.
        """
        candidates = np.full((len(self.segments) * k + 1, len(group)), MAX_TIME)
        for n, segment in enumerate(self.segments):
            _, high = segment.bounds(group)
            at = segment.search(group, time + 1)
            for ahead in range(k):
                here = at + ahead
                value = segment.start_at(np.minimum(here, len(segment) - 1))
                candidates[n * k + ahead] = np.where(here < high, value, MAX_TIME)
        candidates.sort(axis=0)
        best = candidates[:k]
        there = (best < MAX_TIME)[::-1]
        last = np.where(there.any(axis=0), k - 1 - np.argmax(there, axis=0), 0)
        return np.asarray(np.take_along_axis(best, last[None], 0)[0])

    def first(self, group: Ints) -> Ints:
        """The earliest start of groups that ever was, even if forgotten; else `MAX_TIME`."""
        answer = np.full(len(group), MAX_TIME)
        for segment in self.segments:
            low, high = segment.bounds(group)
            value = segment.start_at(np.minimum(low, len(segment) - 1))
            answer = np.minimum(answer, np.where(low < high, value, MAX_TIME))
        if self.forgotten is not None and len(group):
            known = group < len(self.forgotten)
            value = self.forgotten[np.minimum(group, len(self.forgotten) - 1)]
            answer = np.minimum(answer, np.where(known, value, MAX_TIME))
        return answer

    def last(self, group: Ints) -> Ints:
        """The latest start of groups, or `MIN_TIME`."""
        answer = np.full(len(group), MIN_TIME)
        for segment in self.segments:
            low, high = segment.bounds(group)
            value = segment.start_at(np.maximum(high - 1, 0))
            answer = np.maximum(answer, np.where(low < high, value, MIN_TIME))
        return answer

    def forget(self, threshold: Ints) -> Store:
        """The store without rows that start before their group's threshold.

        Nothing is done until half of the rows have come since this last did something.
        """
        if len(self) <= 2 * self.floor + PATIENCE:
            return self
        size = len(threshold)
        forgotten = np.full(size, MAX_TIME)
        if self.forgotten is not None:
            forgotten[: len(self.forgotten)] = self.forgotten
        kept = []
        for segment in self.segments:
            rows = segment.rows
            stays = rows.start >= threshold[rows.group]
            goes = ~stays
            if goes.any():
                np.minimum.at(forgotten, rows.group[goes], rows.start[goes])
            kept.append(segment if stays.all() else segment.keep(stays))
        segments = tuple(s for s in kept if s is not None)
        store = replace(self, segments=segments, forgotten=forgotten)
        return replace(store, floor=len(store))

    def _with(self, rows: Rows) -> Store:
        segments = [*self.segments, Segment(rows)]
        while len(segments) > 1 and len(segments[-2]) < 2 * len(segments[-1]):
            last = segments.pop()
            both = sorted_rows(concat([segments.pop().rows, last.rows]))
            segments.append(Segment(both))
        return replace(self, segments=tuple(segments))

    def _without(self, deletes: Rows) -> Store:
        deletes = sorted_rows(deletes)
        open_ = np.ones(len(deletes), np.bool_)
        segments = []
        for segment in self.segments:
            rows = deletes.take(open_)
            gone, matched = _matches(segment, rows)
            open_[np.flatnonzero(open_)[matched]] = False
            stays = np.ones(len(segment), np.bool_)
            stays[gone] = False
            kept = segment if not len(gone) else segment.keep(stays)
            if kept is not None:
                segments.append(kept)
        if open_.any():
            raise Absent(deletes.take(np.flatnonzero(open_)[:1]))
        return replace(self, segments=tuple(segments))


class Absent(NotAdmitted):
    """A deletion of an event that is not there; `row` is the event, its group a number."""

    def __init__(self, row: Rows) -> None:
        super().__init__("an event is deleted that is not there")
        self.row = row


def _matches(segment: Segment, deletes: Rows) -> tuple[Ints, Ints]:
    """Which rows of a segment go, one for each deletion that is matched, and which these are."""
    low = segment.search(deletes.group, deletes.start)
    high = segment.search(deletes.group, deletes.start + 1)
    query, place = counted(high - low)
    at = low[query] + place
    same = equal_rows(deletes.take(query), segment.rows.take(at))
    query, at = query[same], at[same]
    # Of equal deletions the n-th goes with the n-th of the equal rows.
    if len(np.unique(query)) == len(query) and len(np.unique(at)) == len(at):
        return at, query
    pairs_at, pairs_query = [], []
    used_rows: set[int] = set()
    used: set[int] = set()
    for q, a in zip(query.tolist(), at.tolist(), strict=True):
        if q not in used and a not in used_rows:
            used.add(q)
            used_rows.add(a)
            pairs_at.append(a)
            pairs_query.append(q)
    return np.array(pairs_at, np.int64), np.array(pairs_query, np.int64)
