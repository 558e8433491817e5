"""Filters without feedback: each output is a sum of the latest inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freshview.signal.arrays import Array
from freshview.signal.columns.ranges import Ranges
from freshview.signal.columns.rows import Rows, concat
from freshview.signal.columns.store import Store
from freshview.signal.operators.events import column, numbers
from freshview.signal.operators.frames import (
    Block,
    Samples,
    Windows,
    blocks,
    chunks,
    clusters,
    frames,
    gather_samples,
)
from freshview.signal.operators.node import Local
from freshview.signal.steps import BadStep, DigitalFilter
from freshview.signal.terms import Grid, Missing


@dataclass(frozen=True)
class ForwardOperator(Local):
    """A function of the last `size` beats, at the beats of the input."""

    grid: Grid
    size: int
    missing: Missing

    @property
    def lookback(self) -> int:  # type: ignore[override]
        """The inputs of the first output."""
        return (self.size - 1) * self.grid.period

    def schema(self, *inputs: Rows) -> Rows:
        """Numbers of the same kind, or what the function makes of them."""
        columns = {}
        for name, values in inputs[0].columns.items():
            kind = np.dtype(np.float64) if numbers(name, values).dtype.kind == "i" else values.dtype
            one = np.zeros((self.size, *values.shape[1:]), kind)
            columns[name] = self.outputs(one, np.array([self.size - 1]))[:0]
        return inputs[0].with_columns(columns)

    def touched(self, store: Store, changed: Rows) -> Ranges:
        """The outputs that see a changed input."""
        return Ranges(changed.group, changed.start, changed.start + self.lookback)

    def compute(self, store: Store, ranges: Ranges) -> Rows:
        """The outputs within ranges."""
        samples = gather_samples(store, ranges, self.grid, self.size - 1)
        is_zero = self.missing == "zero"
        kept = clusters(samples, max(self.size - 1, 1) if is_zero else 1)
        if not is_zero:
            kept = kept.take(kept.last - kept.first + 1 >= self.size)
        parts = [self.schema(store.empty)]
        for block in blocks(samples, kept, self.size - 1 if is_zero else 0, 0):
            parts.append(self._block(samples, block))
        return concat(parts)

    def _block(self, samples: Samples, block: Block) -> Rows:
        rows = samples.rows.take(block.rows)
        wanted = rows.start >= samples.ranges.low[samples.part[block.rows]] + self.lookback
        if self.missing == "invalid":
            lengths = block.clusters.end - block.clusters.begin
            nth = block.place - np.repeat(block.base, lengths)
            wanted &= nth >= self.size - 1
        place = block.place[wanted]
        columns = {
            name: self.outputs(block.layout(values), place)
            for name, values in samples.rows.columns.items()
        }
        return rows.take(wanted).with_columns(columns)

    def outputs(self, dense: Array, place: Array) -> Array:
        """The outputs whose latest inputs are at these places of a layout."""
        raise NotImplementedError


@dataclass(frozen=True)
class FirOperator(ForwardOperator):
    """The sum of taps[i] * x[n - i]."""

    taps: tuple[complex, ...] = ()

    @cached_property
    def _taps(self) -> Array:
        taps = np.array(self.taps)
        return taps if taps.dtype.kind == "c" and taps.imag.any() else taps.real.astype(np.float64)

    def outputs(self, dense: Array, place: Array) -> Array:
        """One product of vectors an output, of equal length everywhere: equal to the last digit."""
        if dense.ndim > 1:
            each = [self.outputs(np.ascontiguousarray(c), place) for c in dense.T]
            return np.stack(each, axis=1)
        if len(dense) < self.size:
            return np.zeros(0, np.result_type(dense, self._taps))
        every = np.convolve(dense, self._taps, "valid")
        if len(place) == len(every):
            return np.asarray(every)
        return np.asarray(every[place - (self.size - 1)])


@dataclass(frozen=True)
class FunctionOperator(ForwardOperator):
    """A filter of the user that looks at inputs alone."""

    filter: DigitalFilter | None = None

    def schema(self, *inputs: Rows) -> Rows:
        """Of each column by itself."""
        for name, values in inputs[0].columns.items():
            if values.ndim > 1:
                raise BadStep(f"'{name}' is a vector", instead="select its components")
        return super().schema(*inputs)

    def outputs(self, dense: Array, place: Array) -> Array:
        """All the windows are given to the function, some at a time."""
        assert self.filter is not None
        windows = Windows(place, place, place - (self.size - 1))
        parts = []
        for some in chunks(len(place), self.size):
            x = frames(dense, windows, self.size, some)
            y = np.zeros((len(x), 0), x.dtype)
            result = self.filter.compute(x, y)
            parts.append(column(result, len(x), f"the filter '{self.filter.name}'"))
        if not parts:
            one = np.zeros((1, self.size), dense.dtype)
            return column(self.filter.compute(one, one[:, :0]), 1, "the filter")[:0]
        return np.concatenate(parts)
