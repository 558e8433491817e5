"""The three ways to find partners: by hash, by order, or by looking at all tuples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from freshview.temporal import Window, reach
from freshview.theta.local.columns import Tuples
from freshview.theta.local.common_kind import combine, hash_values
from freshview.theta.local.predicate import Bound, BoundTheta
from freshview.theta.local.runs import SortedRuns, ranges
from freshview.theta.terms import Hashes, Mask, Numbers, Side

Candidates = Iterator[tuple[Numbers, Numbers]]


class Index(Protocol):
    """Finds candidates: every slot that joins a probe, and maybe others.

    All candidates satisfy the comparisons that are `settled`.
    """

    settled: tuple[Bound, ...]

    def add(self, tuples: Tuples, slots: Numbers) -> None:
        """Insert tuples that are stored in these slots."""
        ...

    def candidates(self, probes: Tuples) -> Candidates:
        """Rows of the probes beside slots."""
        ...


class HashIndex:
    """By the hashes of the columns that must be equal, which are kept in order of the hash."""

    def __init__(self, equalities: tuple[Bound, ...], side: Side) -> None:
        self.side: Side = side
        self.equalities = equalities
        self.settled: tuple[Bound, ...] = ()  # hashes may agree by chance
        self.runs = SortedRuns()

    def add(self, tuples: Tuples, slots: Numbers) -> None:
        """Insert those without NULL; the others join with nothing."""
        valid = joinable(self.equalities, self.side, tuples)
        self.runs.add(tuples.hash[valid], slots[valid])

    def candidates(self, probes: Tuples) -> Candidates:
        """Slots of equal hash."""
        rows = np.flatnonzero(joinable(self.equalities, other(self.side), probes))
        rows = rows[np.argsort(probes.hash[rows])]  # searches in order stay in the cache
        hashes = probes.hash[rows]
        for probe, slot in self.runs.search(hashes, hashes, False, False, len(rows)):
            yield rows[probe], slot


class OrderedIndex:
    """By the values of one column, for the partners of a row in an interval of them."""

    def __init__(self, bound: Bound, side: Side) -> None:
        self.bound = bound
        self.side: Side = side
        self.settled: tuple[Bound, ...] = (bound,) if bound.is_exact else ()
        self.runs = SortedRuns()

    def add(self, tuples: Tuples, slots: Numbers) -> None:
        """Insert those without NULL; the others join with nothing."""
        values, valid = self.bound.values(self.side, tuples.columns)
        self.runs.add(values[valid], slots[valid])

    def candidates(self, probes: Tuples) -> Candidates:
        """Slots whose value lies in the interval of a probe."""
        values, valid = self.bound.values(other(self.side), probes.columns)
        rows = np.flatnonzero(valid)
        rows = rows[np.argsort(values[rows])]
        i = self.bound.interval(other(self.side), values[rows])
        for probe, slot in self.runs.search(i.low, i.high, i.low_open, i.high_open, len(rows)):
            yield rows[probe], slot


class TimeIndex:
    """By time, for windows that bound it: what a cross product within a window uses."""

    def __init__(self, window: Window, side: Side) -> None:
        self.window = window
        self.side: Side = side
        self.settled: tuple[Bound, ...] = ()
        self.runs = SortedRuns()

    def add(self, tuples: Tuples, slots: Numbers) -> None:
        """Insert the times."""
        self.runs.add(tuples.stamps.time, slots)

    def candidates(self, probes: Tuples) -> Candidates:
        """Slots within the reach of a probe."""
        rows = np.argsort(probes.stamps.time)
        bounds = reach(self.window, other(self.side), probes.stamps.time[rows])
        assert bounds is not None
        for probe, slot in self.runs.search(*bounds, False, False, len(probes)):
            yield rows[probe], slot


class Scan:
    """All the slots for every probe: a nested loop."""

    def __init__(self) -> None:
        self.settled: tuple[Bound, ...] = ()
        self.count = 0

    def add(self, tuples: Tuples, slots: Numbers) -> None:
        """Slots are numbered without gaps, so their number is all."""
        self.count += len(slots)

    def candidates(self, probes: Tuples) -> Candidates:
        """Everything."""
        counts = np.full(len(probes), self.count)
        yield from ranges(np.zeros(len(probes), np.int64), counts)


def choose_index(theta: BoundTheta, window: Window | None, side: Side) -> Index:
    """Hash for equalities, else order for the first range, else time, else a scan."""
    if theta.equalities:
        return HashIndex(theta.equalities, side)
    if theta.first_range is not None:
        return OrderedIndex(theta.first_range, side)
    if window is not None and reach(window, side, np.zeros(0, np.int64)) is not None:
        return TimeIndex(window, side)
    return Scan()


def join_hashes(theta: BoundTheta, side: Side, columns: Tuples) -> Hashes:
    """The hash of the columns that must be equal; zeros where there are none."""
    hashes = np.zeros(len(columns), np.uint64)
    for bound in theta.equalities:
        values, _ = bound.values(side, columns.columns)
        hashes = combine(hashes, hash_values(values, bound.kind))
    return hashes


def joinable(comparisons: tuple[Bound, ...], side: Side, tuples: Tuples) -> Mask:
    """Which tuples have no NULL in a column that a comparison reads: the others never join."""
    valid = np.ones(len(tuples), np.bool_)
    for bound in comparisons:
        valid &= bound.values(side, tuples.columns)[1]
    return valid


def other(side: Side) -> Side:
    """The side across."""
    return "S" if side == "R" else "R"
