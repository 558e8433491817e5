"""Streams and signals; an operator exists only where it is legal.

`stream -> signal -> uniform signal`: a stream becomes a signal by an aggregate of the events alive,
or by the assertion `to_signal`; a signal becomes uniform by `sample`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from freshview.errors import UnknownName
from freshview.signal.arrays import Condition, ValueFunction
from freshview.signal.language.check import check_missing, check_policy, integer, positive
from freshview.signal.language.events import EventOperators
from freshview.signal.language.functions import Prefixed, composed, own_value, values
from freshview.signal.language.samples import SampleOperators
from freshview.signal.language.windows import Windows
from freshview.signal.policies import Policy
from freshview.signal.terms import (
    AsOf,
    BadSignal,
    Direction,
    Downsample,
    Ema,
    Gaps,
    Grid,
    Join,
    Lifetime,
    Missing,
    Operation,
    Points,
    Sample,
    Select,
    Sessions,
    Shift,
    Snapshot,
    Term,
    ToSignal,
    Union,
)

Self = TypeVar("Self", bound="Stream")

_AGGREGATES = ("sum", "mean", "min", "max", "count")


class Stream(EventOperators):
    """Events of groups, each with a lifetime and a payload; they may overlap."""

    def lifetime(self, duration: int) -> Stream:
        """Events that live so long from their start on."""
        return Stream(Lifetime(self.term, positive("a lifetime", duration)))

    def union(self, other: Stream) -> Stream:
        """The events of both. That is no signal, even of two signals."""
        return Stream(Union(self.term, other.term))

    def join(self, other: Stream) -> Stream:
        """Pairs of events of one group, while both live; names that both have end in _1 and _2."""
        return Stream(Join(self.term, other.term))

    def as_of(
        self: Self,
        other: Signal,
        direction: Direction = "backward",
        *,
        tolerance: int | None = None,
        keep: bool = False,
    ) -> Self:
        """Each event with the payload of one of `other`, by their starts.

        That is the latest that is not after it (`backward`), the first that is not before it
        (`forward`) or the `nearest`, at most `tolerance` away. Events without one are left out, or
        with `keep` stay, with NaN in its columns.
        """
        if direction not in ("backward", "forward", "nearest"):
            raise BadSignal(
                f"an as-of join cannot look {direction!r}", instead="backward, forward or nearest"
            )
        if not isinstance(other, Signal):
            raise BadSignal(
                "the right of an as-of join has events that may start together",
                instead="make it a signal: to_signal(), or an aggregate",
            )
        if tolerance is not None:
            integer("a tolerance", tolerance)
            if tolerance < 0:
                raise BadSignal(
                    f"the tolerance of an as-of join cannot be {tolerance}",
                    instead="give zero or more",
                )
        return self._like(AsOf(self.term, other.term, direction, tolerance, keep))

    def aggregate(self, **functions: str | tuple[str, str]) -> Signal:
        """What the events alive amount to, from each start or end to the next.

        `aggregate(value="mean")`, or `aggregate(worst=("max", "value"), n="count")`. At any moment
        there is one value, so the result is a signal.
        """
        aggregates = []
        for name, function in functions.items():
            word, column = (function, name) if isinstance(function, str) else function
            if word not in _AGGREGATES:
                raise UnknownName(
                    f"there is no aggregate '{word}'", instead=f"there are {', '.join(_AGGREGATES)}"
                )
            aggregates.append((name, word, column))
        if not aggregates:
            raise BadSignal("aggregate names no column", instead='say for example value="mean"')
        return Signal(Snapshot(self.term, tuple(aggregates)))

    def to_signal(self) -> Signal:
        """The assertion that no two events of a group overlap; one that does is an error."""
        return Signal(ToSignal(self.term))

    def sessions(self, timeout: int) -> Signal:
        """Stretches of events that are at most `timeout` apart, with their `count`."""
        return Signal(Sessions(self.term, positive("a timeout", timeout)))


class Signal(Stream):
    """A stream in which no two events of one group overlap."""

    def plus(self, other: Signal) -> Signal:
        """The sum while both have events."""
        return self._combined("plus", other)

    def minus(self, other: Signal) -> Signal:
        """The difference while both have events."""
        return self._combined("minus", other)

    def times(self, other: Signal) -> Signal:
        """The product while both have events."""
        return self._combined("times", other)

    def __add__(self, other: Signal) -> Signal:
        return self.plus(other)

    def __sub__(self, other: Signal) -> Signal:
        return self.minus(other)

    def __mul__(self, other: Signal | complex) -> Signal:
        return self.times(other) if isinstance(other, Signal) else self.scale(other)

    def join(self, other: Stream) -> Stream:
        """Pairs of events while both live; of two signals, a signal."""
        pairs = Join(self.term, other.term)
        return Signal(pairs) if isinstance(other, Signal) else Stream(pairs)

    def with_function(self, function: ValueFunction) -> FunctionSignal:
        """A continuous signal: values are a function of the time and of the payload."""
        return FunctionSignal(self.term, function)

    def sample(self, period: int, offset: int = 0, policy: Policy | None = None) -> UniformSignal:
        """Values at the beats `k * period + offset`: where events are, or by interpolation."""
        grid = Grid(period, offset)
        return _sampled(self.term, grid, policy, None)

    def gaps(self, longer_than: int) -> Signal:
        """The times without an event, where they are longer than so much, with their `length`."""
        integer("the length of a gap", longer_than)
        return Signal(Gaps(self.term, max(int(longer_than), 0)))

    def ema(self: Self, alpha: float) -> Self:
        """The exponential moving average over the events, whatever time is between them."""
        if not 0 < alpha <= 1:
            raise BadSignal(
                f"the alpha of an average cannot be {alpha}", instead="give a number in (0, 1]"
            )
        return self._like(Ema(self.term, float(alpha)))

    def _combined(self, operation: Operation, other: Signal) -> Signal:
        if isinstance(other, UniformSignal):
            return self.sample(other.period, other.offset)._combined(operation, other)
        return Signal(Join(self.term, other.term, operation))


@dataclass(frozen=True)
class FunctionSignal:
    """A signal whose events carry the arguments of a function: `value = function(t, event)`.

    All events share the function, so the arguments stay columns. Arithmetic composes functions.
    """

    term: Term
    function: ValueFunction

    def where(self, predicate: Condition) -> FunctionSignal:
        """The events whose arguments satisfy a condition."""
        return FunctionSignal(Signal(self.term).where(predicate).term, self.function)

    def scale(self, factor: complex) -> FunctionSignal:
        """All values times a scalar."""
        function = self.function
        return FunctionSignal(self.term, lambda t, e: values(function, t, e) * factor)

    def shift(self, by: int) -> FunctionSignal:
        """The same curve, later by so much."""
        function, late = self.function, integer("a shift", by)
        return FunctionSignal(Shift(self.term, late), lambda t, e: function(t - late, e))

    def plus(self, other: FunctionSignal | Signal) -> FunctionSignal:
        """The sum while both have events."""
        return self._combined("plus", other)

    def minus(self, other: FunctionSignal | Signal) -> FunctionSignal:
        """The difference while both have events."""
        return self._combined("minus", other)

    def times(self, other: FunctionSignal | Signal) -> FunctionSignal:
        """The product while both have events."""
        return self._combined("times", other)

    def __add__(self, other: FunctionSignal | Signal) -> FunctionSignal:
        return self.plus(other)

    def __sub__(self, other: FunctionSignal | Signal) -> FunctionSignal:
        return self.minus(other)

    def __mul__(self, other: FunctionSignal | Signal | complex) -> FunctionSignal:
        if isinstance(other, FunctionSignal | Signal):
            return self.times(other)
        return self.scale(other)

    def sample(self, period: int, offset: int = 0, policy: Policy | None = None) -> UniformSignal:
        """The values at the beats of a grid; a policy fills the beats between events."""
        grid = Grid(period, offset)
        return _sampled(self.term, grid, policy, self.function)

    def _combined(self, operation: Operation, other: FunctionSignal | Signal) -> FunctionSignal:
        right = other if isinstance(other, FunctionSignal) else other.with_function(own_value)
        both = Join(Select(self.term, Prefixed("l.")), Select(right.term, Prefixed("r.")))
        return FunctionSignal(both, composed(operation, self.function, right.function))


@dataclass(frozen=True)
class UniformSignal(SampleOperators, Signal):
    """A signal with events of one unit of time at the beats of a grid.

    `policy` says how it is interpolated when another operator needs other beats.
    """

    grid: Grid
    policy: Policy | None = None

    @property
    def period(self) -> int:
        """The time from one sample to the next."""
        return self.grid.period

    @property
    def offset(self) -> int:
        """The time of a sample, modulo the period."""
        return self.grid.offset

    def shift(self, by: int) -> UniformSignal:
        """Samples later by so much, on a grid that is shifted, too."""
        late = integer("a shift", by)
        grid = Grid(self.period, self.offset + late)
        return replace(self, term=Shift(self.term, late), grid=grid)

    def lifetime(self, duration: int) -> Stream:
        """Samples that live so long; up to the period they are a signal, the steps of a stair."""
        longer = Lifetime(self.term, positive("a lifetime", duration))
        return Signal(longer) if duration <= self.period else Stream(longer)

    def upsample(self, factor: int, policy: Policy | None = None) -> UniformSignal:
        """So many times as many samples: those between are interpolated."""
        positive("a factor", factor)
        if self.period % factor:
            raise BadSignal(
                f"a period of {self.period} cannot be divided by {factor}",
                instead="choose a factor of the period, or resample",
            )
        return self.resample(self.period // factor, self.offset, policy)

    def downsample(self, factor: int) -> UniformSignal:
        """Every so manieth sample: those at beats that are multiples of the factor."""
        grid = Grid(self.period * positive("a factor", factor), self.offset)
        return UniformSignal(Downsample(self.term, grid), grid, self.policy)

    def resample(self, period: int, offset: int = 0, policy: Policy | None = None) -> UniformSignal:
        """Samples on another grid, interpolated between those of this one."""
        policy = policy or self.policy
        if policy is None:
            raise BadSignal(
                f"a signal of period {self.period} has no policy to interpolate it by",
                instead="give one, such as linear(60)",
            )
        check_policy(policy)
        grid = Grid(period, offset)
        return UniformSignal(Sample(self.term, grid, policy), grid, policy)

    def windows(self, size: int, hop: int, missing: Missing = "zero") -> Windows[UniformSignal]:
        """Windows of `size` samples, `hop` apart, to be transformed as arrays; see `Windows`."""
        positive("a window", size)
        positive("a hop", hop)
        check_missing(missing, ("zero", "invalid"))
        return Windows(self.term, self.grid, size, hop, missing, UniformSignal)

    def _combined(self, operation: Operation, other: Signal) -> UniformSignal:
        left: Signal = self
        if not isinstance(other, UniformSignal):
            other = other.sample(self.period, self.offset)
        elif other.period > self.period:
            other = other.resample(self.period, self.offset)
        elif other.period < self.period:
            left = self.resample(other.period, other.offset)
        elif other.offset != self.offset:
            other = other.shift(self.offset - other.offset)
        grid = other.grid if left is not self else self.grid
        return UniformSignal(Join(left.term, other.term, operation), grid, self.policy)

    @property
    def _grid(self) -> Grid:
        return self.grid

    def _on(self, term: Term, grid: Grid) -> UniformSignal:
        return replace(self, term=term, grid=grid)

    @property
    def _is_uniform(self) -> bool:
        return True


def _sampled(
    term: Term, grid: Grid, policy: Policy | None, function: ValueFunction | None
) -> UniformSignal:
    if policy is None:
        return UniformSignal(Sample(term, grid, None, function), grid)
    points = Points(term, grid, function)
    return UniformSignal(Sample(points, grid, check_policy(policy)), grid, policy)
