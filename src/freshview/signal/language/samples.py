"""Aggregates of windows of samples, and filters: what a uniform signal becomes on its own grid."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from freshview.signal.arrays import Array, EventColumns
from freshview.signal.language.check import check_missing, coefficients, positive
from freshview.signal.language.events import EventOperators
from freshview.signal.language.windows import hopped
from freshview.signal.steps import Aggregate, DigitalFilter
from freshview.signal.terms import BadSignal, Filtered, Fir, Grid, Hop, Iir, Missing, Term

Self = TypeVar("Self", bound="SampleOperators")


class SampleOperators(EventOperators):
    """Operators of samples on a grid."""

    @property
    @abstractmethod
    def _grid(self) -> Grid:
        """The beats of the samples."""

    @abstractmethod
    def _on(self: Self, term: Term, grid: Grid) -> Self:
        """Another signal of this kind on another grid."""

    def rolling(
        self: Self,
        size: int,
        hop: int,
        function: Callable[[Array], Array],
        *,
        missing: Missing | str = "skip",
        name: str = "rolling",
    ) -> Self:
        """A function of each window of `size` samples, from `[windows, size]` to `[windows]`.

        Windows begin at beats that are multiples of `hop`, and their value stands at their last
        beat. Missing samples are NaN (`skip`) or zero, or no value comes of their window
        (`invalid`). A window answers if it lies between the first and the last sample.
        """
        positive("a window", size)
        positive("a hop", hop)
        check_missing(missing, ("skip", "zero", "invalid"))
        hopping = Hop(self.term, self._grid, size, hop, missing, Aggregate(name, function))  # type: ignore[arg-type]
        return self._on(hopping, hopped(self._grid, size, hop))

    def sum(self: Self, size: int, hop: int = 1) -> Self:
        """The sum of the samples of each window."""
        return self.rolling(size, hop, lambda x: np.nansum(x, axis=1), name="sum")

    def mean(self: Self, size: int, hop: int = 1) -> Self:
        """The mean of the samples of each window."""
        return self.rolling(size, hop, _mean, name="mean")

    def std(self: Self, size: int, hop: int = 1) -> Self:
        """The standard deviation of the samples of each window, as of a population."""
        return self.rolling(size, hop, lambda x: np.nanstd(x, axis=1), name="std")

    def min(self: Self, size: int, hop: int = 1) -> Self:
        """The smallest sample of each window."""
        return self.rolling(size, hop, lambda x: np.nanmin(x, axis=1), name="min")

    def max(self: Self, size: int, hop: int = 1) -> Self:
        """The largest sample of each window."""
        return self.rolling(size, hop, lambda x: np.nanmax(x, axis=1), name="max")

    def quantile(self: Self, q: float, size: int, hop: int = 1) -> Self:
        """The quantile of the samples of each window, between two of them on a straight line."""
        if not 0 <= q <= 1:
            raise BadSignal(f"the quantile cannot be {q}", instead="give a number from 0 to 1")
        return self.rolling(size, hop, lambda x: _quantile(x, q), name=f"quantile {q}")

    def zscore(self: Self, size: int) -> Self:
        """How many standard deviations each sample is from the mean of the `size` beats before it.

        The first `size` beats of a group have no score, nor have samples with fewer than two others
        in the beats before. Where these are all equal the score is zero or infinite.
        """
        positive("a window", size)
        scores = self.rolling(size + 1, 1, _zscore, name="zscore")
        return scores.where(_is_number)

    def anomalies(self: Self, size: int, threshold: float = 3.0) -> Self:
        """The z-scores of samples that are farther than the threshold from the mean before."""
        return self.zscore(size).where(_Beyond(float(threshold)))

    def fir(self: Self, taps: Sequence[complex] | Array, missing: Missing = "zero") -> Self:
        """y[n] = sum of taps[i] * x[n - i], at each sample.

        Missing samples and those before the first are zero, or outputs that need them are left out
        (`invalid`).
        """
        check_missing(missing, ("zero", "invalid"))
        numbers = coefficients("the taps of a filter", taps)
        return self._like(Fir(self.term, self._grid, numbers, missing))

    def convolve(self: Self, kernel: Sequence[complex] | Array) -> Self:
        """The convolution with a kernel: the same as `fir`."""
        return self.fir(kernel)

    def correlate(
        self: Self, pattern: Sequence[complex] | Array, missing: Missing = "zero"
    ) -> Self:
        """The product of each window with a pattern: sum of x[n - N + 1 + i] * conj(pattern[i])."""
        return self.fir(np.conj(np.array(pattern))[::-1], missing)

    def iir(
        self: Self,
        b: Sequence[float] | Array,
        a: Sequence[float] | Array,
        missing: Missing = "zero",
    ) -> Self:
        """Sum of a[i] * y[n - i] = sum of b[i] * x[n - i], as `scipy.signal.lfilter` has it.

        Missing samples are zero, up to 4,096 in a row; more of them, or any if they are `invalid`,
        make the filter start anew.
        """
        check_missing(missing, ("zero", "invalid"))
        forward, feedback = coefficients("b", b), coefficients("a", a)
        if feedback[0] == 0:
            raise BadSignal(
                "a[0] of a filter cannot be zero", instead="give coefficients with another a[0]"
            )
        if len(feedback) == 1:
            return self.fir([x / feedback[0] for x in forward], missing)
        return self._like(Iir(self.term, self._grid, forward, feedback, missing))  # type: ignore[arg-type]

    def filter(self: Self, digital: DigitalFilter) -> Self:
        """A filter of the user."""
        return self._like(Filtered(self.term, self._grid, digital))


@dataclass(frozen=True)
class _Beyond:
    """Whether all columns are beyond a threshold."""

    threshold: float

    def __call__(self, e: EventColumns) -> Array:
        return np.asarray(np.any([np.abs(e[name]) > self.threshold for name in e.columns], axis=0))


def _is_number(e: EventColumns) -> Array:
    return ~np.asarray(np.all([np.isnan(e[name]) for name in e.columns], axis=0))


def _mean(x: Array) -> Array:
    return np.asarray(np.nansum(x, axis=1) / np.sum(~np.isnan(x), axis=1))


def _quantile(x: Array, q: float) -> Array:
    """By sorting; NaN, which sorts last, is a missing sample."""
    ordered = np.sort(x, axis=1)
    at = (np.sum(~np.isnan(x), axis=1) - 1) * q
    low = np.floor(at).astype(np.int64)
    high = np.ceil(at).astype(np.int64)
    rows = np.arange(len(x))
    return np.asarray(ordered[rows, low] + (ordered[rows, high] - ordered[rows, low]) * (at - low))


def _zscore(x: Array) -> Array:
    before, last = x[:, :-1], x[:, -1]
    count = np.sum(~np.isnan(before), axis=1)
    mean = np.nansum(before, axis=1) / count
    deviation = np.sqrt(np.nansum((before - mean[:, None]) ** 2, axis=1) / count)
    distance = last - mean
    # The mean of equal numbers may be another one by its last digit.
    constant = np.nanmax(before, axis=1, initial=-np.inf) == np.nanmin(
        before, axis=1, initial=np.inf
    )
    deviation = np.where(constant, 0.0, deviation)
    distance = np.where(constant, last - np.nanmax(before, axis=1, initial=-np.inf), distance)
    score = np.where((deviation == 0) & (distance == 0), 0.0, distance / deviation)
    return np.where(count < 2, np.nan, score)
