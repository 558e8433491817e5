"""The plan of a signal query on one screen.

A **stream** is a multiset of events of many groups. An event has a lifetime `[start, end)` and a
payload: a struct of named columns, each of them real, complex or a vector. A **signal** is a stream
in which no two events of one group overlap. A **uniform signal** has events of one unit of time at
the beats `k * period + offset` of a grid.

A term denotes a function from the events of the sources to the events of a stream, one group
beside the other. What was true when an event came makes no difference: the answer depends on the
set of events alone, so that a query over a file and over any split of it into batches agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from freshview.errors import FreshviewError
from freshview.signal.arrays import Array, Condition, Projection, ValueFunction
from freshview.signal.policies import Policy
from freshview.signal.steps import Aggregate, DigitalFilter, Step

Payload: TypeAlias = dict[str, Array]

Kind: TypeAlias = Literal["double", "complex", "int", "bool", "string"]
Missing: TypeAlias = Literal["zero", "invalid"]
Operation: TypeAlias = Literal["plus", "minus", "times"]
Direction: TypeAlias = Literal["backward", "forward", "nearest"]
Merge: TypeAlias = Literal["sum", "mean", "min", "max"]


class BadSignal(FreshviewError):
    """A signal query that has no meaning, or input that its signals cannot have."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The beats `k * period + offset`, for all integers k."""

    period: int
    offset: int = 0

    def __post_init__(self) -> None:
        for what, value in (("period", self.period), ("offset", self.offset)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise BadSignal(f"the {what} of a signal is {value!r}", instead="give an integer")
        if self.period <= 0:
            raise BadSignal(
                f"the period of a signal is {self.period}", instead="give a number above zero"
            )
        object.__setattr__(self, "period", int(self.period))
        object.__setattr__(self, "offset", int(self.offset) % int(self.period))

    def beats(self, time: Array) -> Array:
        """The numbers k of times that are on the grid; of others, that of the last beat before."""
        return np.asarray((time - self.offset) // self.period)

    def times(self, beats: Array) -> Array:
        """When beats are."""
        return np.asarray(beats * self.period + self.offset)


@dataclass(frozen=True, slots=True)
class Field:
    """A payload column of a source; a vector has so many components."""

    name: str
    kind: Kind = "double"
    size: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """Events as they come: `time` and `end` name columns; without an end events are points.

    Events that start more than `delay` before the latest start that was seen come too late.
    """

    name: str
    fields: tuple[Field, ...]
    time: str = "time"
    end: str | None = None
    delay: int | None = None


@dataclass(frozen=True, slots=True)
class GroupBy:
    """Events of a stream, each in the group of its key columns, which leave the payload."""

    input: Term
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Where:
    """The events for which a function of whole columns is true."""

    input: Term
    predicate: Condition


@dataclass(frozen=True, slots=True)
class Select:
    """Events with another payload, a function of whole columns."""

    input: Term
    function: Projection


@dataclass(frozen=True, slots=True)
class Scale:
    """All numbers of the payload times a scalar."""

    input: Term
    factor: float | complex


@dataclass(frozen=True, slots=True)
class Shift:
    """Events later by so much, or earlier."""

    input: Term
    by: int


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Events that live so long from their start on."""

    input: Term
    duration: int


@dataclass(frozen=True, slots=True)
class Union:
    """The events of both: a stream, even of two signals."""

    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What an aggregate says of the events alive, from each change of these to the next."""

    input: Term
    aggregates: tuple[tuple[str, str, str], ...]
    """New column, function, column."""


@dataclass(frozen=True, slots=True)
class ToSignal:
    """The same events; an overlap within a group is an error."""

    input: Term


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of events of one group that overlap, for as long as both live.

    An operation combines columns of equal names; without one, both payloads stand side by side.
    """

    left: Term
    right: Term
    combine: Operation | None = None


@dataclass(frozen=True, slots=True)
class AsOf:
    """Each event of the left with the payload of one event of the right, a signal, by its start."""

    left: Term
    right: Term
    direction: Direction
    tolerance: int | None
    keep: bool = False
    """Whether events without a partner stay, with NaN in the columns of the right."""


@dataclass(frozen=True, slots=True)
class Points:
    """Points at which a signal is known: where events start and end, and the beats between."""

    input: Term
    grid: Grid
    function: ValueFunction | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """Values at the beats of a grid: of the events alive there, or between points by a policy."""

    input: Term
    grid: Grid
    policy: Policy | None = None
    function: ValueFunction | None = None
    """The value as a function of time and payload; without one, the payload."""


@dataclass(frozen=True, slots=True)
class Downsample:
    """Every n-th beat."""

    input: Term
    grid: Grid
    """That of the result."""


@dataclass(frozen=True, slots=True)
class Hop:
    """An aggregate of each window of samples, at the time of its last beat."""

    input: Term
    grid: Grid
    size: int
    hop: int
    missing: Missing | Literal["skip"]
    aggregate: Aggregate


@dataclass(frozen=True, slots=True)
class Window:
    """Windows of samples as arrays, through a pipeline, at the time of their last beat."""

    input: Term
    grid: Grid
    size: int
    hop: int
    missing: Missing
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class OverlapAdd:
    """Arrays laid out over the beats that end with them; where they overlap they are merged."""

    input: Term
    grid: Grid
    """That of the result."""
    merge: Merge
    hop: int
    """How many beats arrays are apart."""


@dataclass(frozen=True, slots=True)
class Fir:
    """y[n] = sum of taps[i] * x[n - i], at the beats of the input."""

    input: Term
    grid: Grid
    taps: tuple[complex, ...]
    missing: Missing


@dataclass(frozen=True, slots=True)
class Iir:
    """sum of a[i] * y[n - i] = sum of b[i] * x[n - i], at the beats of the input."""

    input: Term
    grid: Grid
    b: tuple[float, ...]
    a: tuple[float, ...]
    missing: Missing


@dataclass(frozen=True, slots=True)
class Filtered:
    """A filter that the user wrote, with its windows of inputs and of earlier outputs."""

    input: Term
    grid: Grid
    filter: DigitalFilter


@dataclass(frozen=True, slots=True)
class Ema:
    """y[n] = y[n-1] + alpha * (x[n] - y[n-1]) over the events of a signal; y[0] = x[0]."""

    input: Term
    alpha: float


@dataclass(frozen=True, slots=True)
class Gaps:
    """From the end of an event to the start of the next one, where that is longer than `limit`."""

    input: Term
    limit: int


@dataclass(frozen=True, slots=True)
class Sessions:
    """Stretches of events that are at most `timeout` apart, with how many there are."""

    input: Term
    timeout: int


Term: TypeAlias = (
    Source
    | GroupBy
    | Where
    | Select
    | Scale
    | Shift
    | Lifetime
    | Union
    | Snapshot
    | ToSignal
    | Join
    | AsOf
    | Points
    | Sample
    | Downsample
    | Hop
    | Window
    | OverlapAdd
    | Fir
    | Iir
    | Filtered
    | Ema
    | Gaps
    | Sessions
)
