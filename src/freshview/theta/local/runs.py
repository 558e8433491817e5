"""An ordered index as a few sorted runs, merged as they grow: inserts and searches by batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freshview.theta.local.columns import Array
from freshview.theta.terms import Numbers

MOST_CANDIDATES = 1 << 21
"""Candidates that are listed at a time: a bound on memory, whatever a batch matches."""


@dataclass(frozen=True, slots=True)
class Run:
    """Values in ascending order, each with the slot of its tuple."""

    values: Array
    slots: Numbers


class SortedRuns:
    """Runs of which each is more than twice the next: O(log n) of them, O(log n) an insert."""

    def __init__(self) -> None:
        self.runs: list[Run] = []

    def add(self, values: Array, slots: Numbers) -> None:
        """Insert the values of some slots."""
        if not len(values):
            return
        order = np.argsort(values, kind="stable")
        self.runs.append(Run(values[order], slots[order]))
        while len(self.runs) > 1 and len(self.runs[-2].values) <= 2 * len(self.runs[-1].values):
            last, before = self.runs.pop(), self.runs.pop()
            self.runs.append(_merge(before, last))

    def search(
        self, low: Array | None, high: Array | None, low_open: bool, high_open: bool, probes: int
    ) -> Iterator[tuple[Numbers, Numbers]]:
        """Pairs of a probe and a slot whose value lies in the probe's interval.

        >>> index = SortedRuns()
        >>> index.add(np.array([5, 3, 9]), np.arange(3))
        >>> hits = index.search(np.array([4, 9]), None, False, True, 2)
        >>> [(probe.tolist(), slot.tolist()) for probe, slot in hits]
        [([0, 0, 1], [0, 2, 2])]
        """
        for run in self.runs:
            first: Numbers = np.zeros(probes, np.int64)
            last: Numbers = np.full(probes, len(run.values), np.int64)
            if low is not None:
                first = np.searchsorted(run.values, low, "right" if low_open else "left")
            if high is not None:
                last = np.searchsorted(run.values, high, "left" if high_open else "right")
            for probe, place in ranges(first, np.maximum(last - first, 0)):
                yield probe, run.slots[place]


def ranges(first: Numbers, counts: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    """For each i the numbers from `first[i]` on, `counts[i]` of them, beside i; in pieces.

    >>> [(i.tolist(), n.tolist()) for i, n in ranges(np.array([7, 2]), np.array([2, 1]))]
    [([0, 0, 1], [7, 8, 2])]
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    for begin in range(0, total, MOST_CANDIDATES):
        numbers = np.arange(begin, min(begin + MOST_CANDIDATES, total))
        probe = np.searchsorted(ends, numbers, "right")
        yield probe, first[probe] + numbers - (ends[probe] - counts[probe])


def _merge(one: Run, two: Run) -> Run:
    values = np.concatenate([one.values, two.values])
    slots = np.concatenate([one.slots, two.slots])
    order = np.argsort(values, kind="stable")  # a merge sort, which finds the runs
    return Run(values[order], slots[order])
