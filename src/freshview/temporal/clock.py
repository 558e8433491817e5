"""Clocks: where the time of rows comes from that bring none."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from freshview.temporal.terms import Times


class Clock(Protocol):
    """Stamps rows as they come; never goes back."""

    def stamp(self, rows: int) -> Times:
        """A time for each of the next rows, in their order."""
        ...


class SystemClock:
    """The time of arrival in microseconds since 1970; rows that come together share it."""

    def __init__(self) -> None:
        self._last = 0

    def stamp(self, rows: int) -> Times:
        """Now, or the last stamp where the clock of the machine was set back."""
        self._last = max(self._last, time.time_ns() // 1000)
        return np.full(rows, self._last, np.int64)


@dataclass
class ManualClock:
    """The time that it was set to, for tests and replays.

    >>> clock = ManualClock(3)
    >>> clock.stamp(2).tolist()
    [3, 3]
    """

    now: int = 0

    def stamp(self, rows: int) -> Times:
        """The time that was set, for each row."""
        return np.full(rows, self.now, np.int64)


@dataclass
class CountingClock:
    """One tick a row: the time of a row is its number.

    >>> clock = CountingClock()
    >>> clock.stamp(2).tolist(), clock.stamp(1).tolist()
    ([0, 1], [2])
    """

    ticks: int = 0

    def stamp(self, rows: int) -> Times:
        """The numbers of the next rows."""
        self.ticks += rows
        return np.arange(self.ticks - rows, self.ticks, dtype=np.int64)
