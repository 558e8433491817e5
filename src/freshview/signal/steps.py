"""What is done to windows: steps of a pipeline, aggregates, and filters of the user.

All of them work on many windows at once: an array `[windows, samples]` in, one of as many rows out.
A row of the result depends on its own window alone, and so not on which others came with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from freshview.errors import FreshviewError
from freshview.signal.arrays import Array

Recompute: TypeAlias = Callable[[Array], Array]
Update: TypeAlias = Callable[[Array, Array, Array], Array]
"""From the results of the windows before, the samples that left (`old`) and those that came
(`new`), to the results of these windows; a row is a window in all of them."""


class BadStep(FreshviewError):
    """A step of a pipeline that does not fit its windows."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operator of a pipeline: `recompute`, and for windows that hop, perhaps `update`.

    Of each `every` windows in a row the first is computed anew, and the others are updated: which
    ones is fixed by their position in time, so batches and corrections cannot change a digit. The
    rounding of an update is added up over at most that many windows. Only the first step of a
    pipeline is updated, since it alone knows which samples of its input stayed.
    """

    name: str
    recompute: Recompute
    update: Update | None = None
    every: int = 1
    is_new: bool = False
    """Whether `recompute` gives a new array at every call, so that none need be copied."""

    def __post_init__(self) -> None:
        if self.every < 1:
            raise BadStep(
                f"'{self.name}' is computed anew every {self.every} windows",
                instead="give a number above zero",
            )

    def __str__(self) -> str:
        """Its name."""
        return self.name


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A number for each window. With missing samples skipped, absent ones are NaN."""

    name: str
    function: Callable[[Array], Array]

    def __str__(self) -> str:
        """Its name."""
        return self.name


@dataclass(frozen=True, slots=True)
class DigitalFilter:
    """y[n] as a function of the last `forward` inputs and the last `backward` outputs.

    `compute(x, y)` gets arrays `[groups, forward]` and `[groups, backward]`, the latest last, and
    answers for all the groups. Missing samples are zero, or end the sequence; the next one starts
    with outputs of zero.
    """

    compute: Callable[[Array, Array], Array]
    forward: int
    backward: int = 0
    missing_to_zero: bool = True
    name: str = "filter"

    def __post_init__(self) -> None:
        if self.forward < 1 or self.backward < 0:
            raise BadStep(
                f"'{self.name}' looks at {self.forward} inputs and {self.backward} outputs",
                instead="give one input at least, and no fewer than zero outputs",
            )


def fft() -> Step:
    """The discrete Fourier transform of each window."""
    from scipy.fft import fft as transform

    return Step("fft", lambda x: transform(x, axis=-1), is_new=True)


def inverse_fft() -> Step:
    """The inverse of `fft`: complex, of equal size."""
    from scipy.fft import ifft

    return Step("inverse_fft", lambda x: ifft(x, axis=-1), is_new=True)


def real_fft() -> Step:
    """The first half of the spectrum of real samples, `size // 2 + 1` numbers."""
    from scipy.fft import rfft

    return Step("real_fft", lambda x: rfft(x, axis=-1), is_new=True)


def inverse_real_fft(size: int) -> Step:
    """The inverse of `real_fft` for windows of this size."""
    from scipy.fft import irfft

    return Step("inverse_real_fft", lambda x: irfft(x, n=size, axis=-1), is_new=True)


def sliding_fft(size: int, hop: int, every: int = 64) -> Step:
    """The Fourier transform, updated as the window hops: `hop * size` products a window.

    X'[f] = (X[f] + sum over j of (new[j] - old[j]) w^(-f j)) * w^(f hop), with w = exp(2 pi i /
    size). After k updates the error is at most about `4 eps k (hop + 1)` times the largest sum of
    absolute values of a window on the way; every `every` windows it starts over.
    """
    from scipy.fft import fft as transform

    waves = np.exp(-2j * np.pi * np.outer(np.arange(hop), np.arange(size)) / size)
    turn = np.exp(2j * np.pi * np.arange(size) * hop / size)

    def update(before: Array, old: Array, new: Array) -> Array:
        after = before.astype(np.complex128)
        for j in range(hop):
            after = after + (new[:, j] - old[:, j])[:, None] * waves[j]
        return np.asarray(after * turn)

    return Step("sliding_fft", lambda x: transform(x, axis=-1), update, every, is_new=True)


def psd(sample_rate: float = 1.0) -> Step:
    """The power spectral density of real samples, one-sided: a periodogram of each window.

    |X[f]|^2 / (rate * size), doubled where a negative frequency folds in.
    """
    from scipy.fft import rfft

    def density(x: Array) -> Array:
        size = x.shape[-1]
        power = np.abs(rfft(x, axis=-1)) ** 2 / (sample_rate * size)
        power[..., 1 : (size + 1) // 2] *= 2
        return np.asarray(power)

    return Step("psd", density, is_new=True)


def autocorrelation() -> Step:
    """Sum over n of x[n] * conj(x[n - lag]), for the lags -(N-1) .. N-1: 2N - 1 numbers."""
    from scipy.fft import fft as transform
    from scipy.fft import ifft, next_fast_len

    def correlate(x: Array) -> Array:
        size = x.shape[-1]
        spectrum = transform(x, n=next_fast_len(2 * size - 1), axis=-1)
        cyclic = ifft(spectrum * np.conj(spectrum), axis=-1)
        both = np.concatenate([cyclic[..., -(size - 1) :], cyclic[..., :size]], axis=-1)
        both = both if size > 1 else cyclic[..., :1]
        return np.asarray(both if np.iscomplexobj(x) else both.real)

    return Step("autocorrelation", correlate, is_new=True)


def taper(weights: Sequence[float] | Array) -> Step:
    """Each window times a vector of weights, such as `scipy.signal.windows.hann(size)`."""
    factor = np.array(weights)

    def multiply(x: Array) -> Array:
        if x.shape[-1] != len(factor):
            raise BadStep(
                f"{len(factor)} weights do not fit windows of {x.shape[-1]} samples",
                instead="give one weight a sample",
            )
        return np.asarray(x * factor)

    return Step("taper", multiply, is_new=True)
