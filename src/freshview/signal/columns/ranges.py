"""Stretches of time within groups, and the arithmetic of ragged arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freshview.signal.arrays import Ints, Mask

MIN_TIME, MAX_TIME = -(1 << 62), 1 << 62
"""Before and after everything that can happen; times of events stay within half of it."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """Parallel arrays: of each group the times `low` to `high`, both included."""

    group: Ints
    low: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.group)

    def widened(self, before: int, after: int) -> Ranges:
        """The same ranges with so much more on either side."""
        return Ranges(self.group, self.low - before, self.high + after)


def merged(group: Ints, low: Ints, high: Ints) -> Ranges:
    """Ranges in order, of which no two of one group meet.

    >>> r = merged(np.array([1, 1, 0]), np.array([5, 1, 5]), np.array([9, 6, 6]))
    >>> r.group.tolist(), r.low.tolist(), r.high.tolist()
    ([0, 1], [5, 1], [6, 9])
    """
    if not len(group):
        return Ranges(group, low, high)
    if not (group[1:] > group[:-1]).all():
        order = np.lexsort((low, group))
        group, low, high = group[order], low[order], high[order]
    new = np.ones(len(group), np.bool_)
    new[1:] = group[1:] != group[:-1]
    reach = running_max(high, new)
    new[1:] |= low[1:] > reach[:-1]
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(group)) - 1
    return Ranges(group[first], low[first], reach[last])


def running_max(values: Ints, new: Mask) -> Ints:
    """The largest value so far, starting over where `new` says."""
    if len(values) < 2 or new.all():
        return values
    # Sorting by value within a stretch would do; a rank that rises from one to the next is faster.
    rank = np.cumsum(new)
    order = np.argsort(values, kind="stable")
    place = np.empty(len(values), np.int64)
    place[order] = np.arange(len(values))
    best = np.maximum.accumulate(rank * len(values) + place) - rank * len(values)
    return np.asarray(values[order[best]])


def counted(counts: Ints) -> tuple[Ints, Ints]:
    """For pieces of these lengths laid end to end: the piece of each entry, its place in there.

    >>> piece, place = counted(np.array([2, 0, 3]))
    >>> piece.tolist(), place.tolist()
    ([0, 0, 2, 2, 2], [0, 1, 0, 1, 2])
    """
    ends = np.cumsum(counts)
    piece = np.repeat(np.arange(len(counts)), counts)
    total = int(ends[-1]) if len(ends) else 0
    return piece, np.arange(total) - np.repeat(ends - counts, counts)


def spans(low: Ints, high: Ints) -> Ints:
    """All the numbers from `low` up to, not including, `high`, pair by pair."""
    if len(low) == 1:
        return np.arange(low[0], high[0])
    piece, place = counted(np.maximum(high - low, 0))
    return np.asarray(low[piece] + place)


def ceil_div(a: Ints, b: int) -> Ints:
    """The quotient, rounded up."""
    return np.asarray(-(-a // b))
