"""Windows of a uniform signal, transformed as arrays, and laid out as a signal again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from freshview.signal import steps
from freshview.signal.arrays import Array
from freshview.signal.steps import BadStep, Step
from freshview.signal.terms import BadSignal, Grid, Merge, Missing, OverlapAdd, Term, Window

Uniform = TypeVar("Uniform")


@dataclass(frozen=True)
class Windows(Generic[Uniform]):
    """Windows of samples and a pipeline: `signal.windows(512, 256).fft().select(f).inverse_fft()`.

    The k-th window begins at beat `k * hop`. It answers if it lies between the first and the last
    sample of its group and has a sample; missing ones are zero, or make it invalid, and then it
    does not answer. Each step gets an array `[windows, samples]` and gives one with as many rows.
    """

    term: Term
    grid: Grid
    size: int
    hop: int
    missing: Missing
    uniform: Callable[[Term, Grid], Uniform]
    """Makes a uniform signal of a plan."""
    steps: tuple[Step, ...] = ()

    def apply(self, step: Step) -> Windows[Uniform]:
        """A step of your own; see `Step`."""
        if step.update is not None and self.steps:
            raise BadStep(
                f"'{step.name}' updates its windows, and stands after '{self.steps[-1].name}'",
                instead="make it the first step, or leave out its update",
            )
        if step.update is not None and self.hop > self.size:
            raise BadStep(
                f"windows of {self.size} that hop by {self.hop} share no samples",
                instead="leave out the update of '" + step.name + "'",
            )
        return replace(self, steps=(*self.steps, step))

    def select(self, function: Callable[[Array], Array]) -> Windows[Uniform]:
        """A function of arrays, such as one that edits spectra."""
        name = getattr(function, "__name__", "select")
        return self.apply(Step(name, function))

    def fft(self) -> Windows[Uniform]:
        """The Fourier transform of each window."""
        return self.apply(steps.fft())

    def inverse_fft(self) -> Windows[Uniform]:
        """The inverse Fourier transform, which is complex; `select(np.real)` makes it real."""
        return self.apply(steps.inverse_fft())

    def real_fft(self) -> Windows[Uniform]:
        """The half of the spectrum that real samples need."""
        return self.apply(steps.real_fft())

    def inverse_real_fft(self, size: int = 0) -> Windows[Uniform]:
        """The inverse of `real_fft`; of the size of the windows, if no other one is named."""
        return self.apply(steps.inverse_real_fft(size or self.size))

    def sliding_fft(self, every: int = 64) -> Windows[Uniform]:
        """The Fourier transform, updated at each hop; for hops of one or few samples."""
        return self.apply(steps.sliding_fft(self.size, self.hop, every))

    def psd(self, sample_rate: float = 1.0) -> Windows[Uniform]:
        """The power spectral density of each window."""
        return self.apply(steps.psd(sample_rate))

    def autocorrelation(self) -> Windows[Uniform]:
        """The sums of products of a window with itself, for all lags."""
        return self.apply(steps.autocorrelation())

    def taper(self, weights: Sequence[float] | Array) -> Windows[Uniform]:
        """Each window times a vector of weights."""
        return self.apply(steps.taper(weights))

    def arrays(self) -> Uniform:
        """The signal of arrays: each at the last beat of its window."""
        return self.uniform(self._plan(), hopped(self.grid, self.size, self.hop))

    def overlap_add(self, merge: Merge = "sum") -> Uniform:
        """Arrays laid out over the beats that end with the last of their window, and merged."""
        if merge not in ("sum", "mean", "min", "max"):
            raise BadSignal(
                f"arrays cannot be merged by {merge!r}", instead="by sum, mean, min or max"
            )
        return self.uniform(OverlapAdd(self._plan(), self.grid, merge, self.hop), self.grid)

    def _plan(self) -> Window:
        return Window(self.term, self.grid, self.size, self.hop, self.missing, self.steps)


def hopped(grid: Grid, size: int, hop: int) -> Grid:
    """The last beats of windows."""
    return Grid(grid.period * hop, grid.offset + (size - 1) * grid.period)
