"""Filters without feedback: each output is a sum of the latest inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freshview.signal.arrays import Array
from freshview.signal.columns import native
from freshview.signal.columns.ranges import Ranges
from freshview.signal.columns.rows import Ints, Rows, concat, in_runs
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
        if (by_run := self.of_runs(samples, block)) is not None:
            return by_run
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

    def of_runs(self, samples: Samples, block: Block) -> Rows | None:
        """The outputs of a block from runs of samples, where there is a way for these."""
        return None

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
        """Sums of one order everywhere: equal to the last digit."""
        if not len(place):
            return np.zeros((0, *dense.shape[1:]), np.result_type(dense, self._taps))
        new = np.append(True, np.diff(place) != 1)
        begin = place[new]
        count = np.diff(np.append(np.flatnonzero(new), len(place)))
        return self._spans(dense, begin, np.full(len(begin), self.size - 1), count)

    def of_runs(self, samples: Samples, block: Block) -> Rows | None:
        """Without a look at single events; runs that stand alone are read where they lie."""
        if block.runs is None or block.runs[0].step != self.grid.period:
            return None
        runs, part, begin, place = block.runs
        alone = len(runs) == len(block.clusters)
        if self.missing == "invalid" and not alone:
            return None
        wanted = samples.ranges.low[part] + self.lookback
        skipped = np.clip(-((runs.first - wanted) // runs.step), 0, runs.count)
        if self.missing == "invalid":
            skipped = np.clip(np.maximum(skipped, self.size - 1), 0, runs.count)
        some = np.flatnonzero(skipped < runs.count)
        skipped, count = skipped[some], (runs.count - skipped)[some]
        after = runs.with_spans(runs.group[some], runs.first[some] + skipped * runs.step, count)
        columns = {}
        for name, values in samples.rows.columns.items():
            if alone:
                kind = np.float64 if values.dtype.kind == "i" else values.dtype
                dense, at, before = values.astype(kind, copy=False), begin[some], skipped
            else:
                dense, at = block.layout(values), place[some]
                before = np.full(len(some), self.size - 1)
            columns[name] = self._spans(dense, at + skipped, before, count)
        return in_runs(after, columns)

    def _spans(self, dense: Array, begin: Ints, before: Ints, count: Ints) -> Array:
        if dense.ndim > 1:
            each = [self._spans(np.ascontiguousarray(c), begin, before, count) for c in dense.T]
            return np.stack(each, axis=1)
        return native.fir(dense, self._taps, begin, before, count)


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
