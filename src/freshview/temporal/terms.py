"""Windows over event time, and the stamps of the rows that they judge.

A window is a predicate on the stamps of two rows. It never looks at other rows, so the place and
the order in which a pair meets do not change its answer. That is what lets a distributed join with
windows give each pair once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from freshview.errors import FreshviewError

Time: TypeAlias = int | float
Times: TypeAlias = NDArray[Any]
"""64-bit integers or doubles."""
Mask: TypeAlias = NDArray[np.bool_]
Counts: TypeAlias = NDArray[np.int64]

MOST_TIME = 1 << 61
"""The largest time that is an integer: sums of two fit into 64 bits, whatever their signs."""

Side = Literal["R", "S"]
"""The two inputs of a join, by the names that the theory gives them: left R, right S."""

OutputTime = Literal["min", "max"]
"""The time of a result: that of the earlier or of the later row of its pair."""


class BadWindow(FreshviewError):
    """A window that no row fits, or that its input cannot serve."""


@dataclass(frozen=True, slots=True)
class FullHistory:
    """Every row joins with every row, whenever they came."""


@dataclass(frozen=True, slots=True)
class Sliding:
    """Rows less than `length` apart: `|r.t - s.t| < length`."""

    length: Time

    def __post_init__(self) -> None:
        _positive("the length of a sliding window", self.length)


@dataclass(frozen=True, slots=True)
class Between:
    """`low <= s.t - r.t <= high`: what `s.t BETWEEN r.t + low AND r.t + high` says in SQL."""

    low: Time
    high: Time

    def __post_init__(self) -> None:
        _number("an end of a window", self.low)
        _number("an end of a window", self.high)
        if not self.low <= self.high:
            raise BadWindow(f"no time lies between {self.low} and {self.high}")


@dataclass(frozen=True, slots=True)
class Tumbling:
    """Rows of the same window `[origin + k * length, origin + (k + 1) * length)`."""

    length: Time
    origin: Time = 0

    def __post_init__(self) -> None:
        _positive("the length of a tumbling window", self.length)
        _number("the origin of a tumbling window", self.origin)


@dataclass(frozen=True, slots=True)
class Hopping:
    """Rows that share a window `[origin + k * slide, origin + k * slide + length)`."""

    length: Time
    slide: Time
    origin: Time = 0

    def __post_init__(self) -> None:
        _positive("the length of a hopping window", self.length)
        _positive("the slide of a hopping window", self.slide)
        _number("the origin of a hopping window", self.origin)
        if self.slide > self.length:
            raise BadWindow(
                f"a slide of {self.slide} leaves gaps between windows of {self.length}",
                instead="let the slide be at most the length",
            )


@dataclass(frozen=True, slots=True)
class Landmark:
    """All the rows since `start`."""

    start: Time

    def __post_init__(self) -> None:
        _number("the start of a landmark window", self.start)


@dataclass(frozen=True, slots=True)
class TupleCount:
    """The later row of a pair meets the last `rows` rows that the other input had by then."""

    rows: int

    def __post_init__(self) -> None:
        _positive("the number of rows of a window", self.rows)


Window: TypeAlias = FullHistory | Sliding | Between | Tumbling | Hopping | Landmark | TupleCount
TIMED = (Sliding, Between, Tumbling, Hopping, Landmark)
"""The windows that ask rows for a time."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """What windows know about rows of one input: parallel arrays, one entry a row.

    `position` counts the rows of the input from zero. `seen` is how many rows the other input had
    when the row came.
    """

    time: Times
    position: Counts
    seen: Counts

    def __len__(self) -> int:
        return len(self.position)

    def take(self, rows: NDArray[np.int64] | Mask) -> Stamps:
        """The stamps of some rows, by their numbers or by a mask."""
        return Stamps(self.time[rows], self.position[rows], self.seen[rows])


@dataclass(frozen=True, slots=True)
class Horizon:
    """What may still come: no row of an input before its watermark, and the rows counted so far."""

    watermark_r: Time | None = None
    watermark_s: Time | None = None
    count_r: int = 0
    count_s: int = 0


def _number(what: str, value: Time) -> None:
    if not isinstance(value, int | float):
        raise BadWindow(
            f"{what} is {value!r}",
            instead="give a number: microseconds for timestamps, days for dates",
        )
    if isinstance(value, int) and abs(value) > MOST_TIME:
        raise BadWindow(f"{what} is {value}", instead=f"give {MOST_TIME} at most")


def _positive(what: str, value: Time) -> None:
    _number(what, value)
    if not value > 0:
        raise BadWindow(f"{what} is {value}", instead="give a number above zero")
