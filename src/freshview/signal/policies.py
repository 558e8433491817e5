"""Interpolation policies: what a signal is worth between the points at which it is known.

A policy looks at a history of reference points. The beats between the last two of them get values;
the others lie before. Points farther apart than the window belong to two sequences, and nothing is
interpolated between those. A policy sees no other points, so a point that comes late or goes
changes only the beats around it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from freshview.errors import FreshviewError
from freshview.signal.arrays import Array

Evaluate: TypeAlias = Callable[[Array, Array, Array], Array]
"""From `n` beats, the times `[history, n]` and the values `[history, n, ...]` of their reference
points, the oldest first, to `n` values; a beat without one is masked, see `numpy.ma`."""


class BadPolicy(FreshviewError):
    """An interpolation policy that no signal can follow."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How to interpolate: a function of `history` points that lie within `window` of time.

    The policy of a `trailing` one fills the beats after a point as far as the window reaches, even
    if the next point is farther away.
    """

    name: str
    window: int
    history: int
    evaluate: Evaluate
    trailing: bool = False
    relative: bool = False
    """Whether only differences of times matter, and times may be broadcast over values."""

    def __post_init__(self) -> None:
        if isinstance(self.window, bool) or not isinstance(self.window, int | np.integer):
            raise BadPolicy(
                f"the window of {self.name} interpolation is {self.window!r}",
                instead="give the largest distance of reference points, in units of time",
            )
        if self.window <= 0:
            raise BadPolicy(
                f"the window of {self.name} interpolation is {self.window}",
                instead="give a number above zero",
            )
        if self.history < 2:
            raise BadPolicy(
                f"{self.name} interpolation has a history of {self.history}",
                instead="two points at least are needed to have something between them",
            )

    def __str__(self) -> str:
        """As plans show it.

        >>> str(linear(60))
        'linear(60)'
        """
        return f"{self.name}({self.window})"


class Interpolator(Protocol):
    """The state of one sequence of points, for policies that are written point by point."""

    def advance_time(self, t: int) -> None:
        """Forget the points that are too far before `t`."""
        ...

    def add_point(self, t: int, value: ArrayLike) -> None:
        """Take in the next reference point."""
        ...

    def can_interpolate(self, t: int) -> bool:
        """Whether there are points enough for a value at `t`."""
        ...

    def interpolate(self, t: int) -> ArrayLike:
        """The value at `t`."""
        ...


def constant(value: complex, window: int) -> Policy:
    """The same value at all beats between two points."""

    def evaluate(beats: Array, times: Array, values: Array) -> Array:
        return np.full_like(values[0], value)

    return Policy("constant", window, 2, evaluate, relative=True)


def last(window: int) -> Policy:
    """The value of the last point, for as long as the window, until the next point comes."""
    return Policy("last", window, 2, _hold, trailing=True, relative=True)


def step(window: int) -> Policy:
    """Zero order: the value of the earlier of two points that are no farther apart than the window.

    >>> step(10).evaluate(np.array([5]), np.array([[0], [9]]), np.array([[1.0], [4.0]])).tolist()
    [1.0]
    """
    return Policy("step", window, 2, _hold, relative=True)


def linear(window: int) -> Policy:
    """First order: the straight line through two points.

    >>> linear(10).evaluate(np.array([5]), np.array([[0], [10]]), np.array([[1.0], [4.0]])).tolist()
    [2.5]
    """

    def evaluate(beats: Array, times: Array, values: Array) -> Array:
        share = (beats - times[0]) / (times[1] - times[0])
        return np.asarray(values[0] + (values[1] - values[0]) * _beside(share, values))

    return Policy("linear", window, 2, evaluate, relative=True)


def quadratic(window: int) -> Policy:
    """Second order: the parabola through three points, for the beats between the last two.

    >>> square = quadratic(10).evaluate
    >>> square(np.array([3]), np.array([[0], [2], [4]]), np.array([[0.0], [4.0], [16.0]])).tolist()
    [9.0]
    """

    def evaluate(beats: Array, times: Array, values: Array) -> Array:
        t0, t1, t2 = times
        first = (values[1] - values[0]) / _beside(t1 - t0, values)
        second = (values[2] - values[1]) / _beside(t2 - t1, values)
        bend = (second - first) / _beside(t2 - t0, values)
        here = _beside(beats - t1, values)
        return np.asarray(values[1] + here * (first + bend * _beside(beats - t0, values)))

    return Policy("quadratic", window, 3, evaluate)


def custom(evaluate: Evaluate, *, history: int, window: int, name: str = "custom") -> Policy:
    """A function of the user, over whole arrays; see `Evaluate`."""
    return Policy(name, window, history, evaluate)


def pointwise(start: Callable[[], Interpolator], *, history: int, window: int) -> Policy:
    """A policy that is written point by point, as a class; `start` makes a fresh state.

    It is asked for each beat with a state that has seen the last `history` points and no others.
    That is a call of Python for each beat: `custom` works on arrays.
    """

    def evaluate(beats: Array, times: Array, values: Array) -> Array:
        result = np.ma.MaskedArray(np.empty_like(values[0]), mask=True)
        for k, beat in enumerate(beats.tolist()):
            state = start()
            for t, value in zip(times[:, k].tolist(), values[:, k], strict=True):
                state.advance_time(t)
                state.add_point(t, value)
            if state.can_interpolate(beat):
                result[k] = state.interpolate(beat)
        return np.asanyarray(result)

    return Policy("pointwise", window, history, evaluate)


def _hold(beats: Array, times: Array, values: Array) -> Array:
    return np.asarray(values[-2])


def _beside(factor: Array, values: Array) -> Array:
    """A factor a row, shaped so that it multiplies vectors, too."""
    missing = values.ndim - 1 - factor.ndim
    return np.asarray(factor.reshape(factor.shape + (1,) * missing))
