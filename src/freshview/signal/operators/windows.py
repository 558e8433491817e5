"""Windows of uniform signals: aggregates of each, and pipelines that transform them as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from freshview.signal.arrays import Array
from freshview.signal.columns.ranges import Ranges, counted
from freshview.signal.columns.rows import Ints, Mask, Rows, concat, in_runs, points
from freshview.signal.columns.runs import Runs, are_long
from freshview.signal.columns.store import Store
from freshview.signal.operators.events import column, numbers
from freshview.signal.operators.frames import (
    Block,
    Clusters,
    Samples,
    Windows,
    are_tiles,
    blocks,
    chunks,
    clusters,
    frames,
    gather_samples,
)
from freshview.signal.operators.node import Local, around
from freshview.signal.steps import BadStep, Step
from freshview.signal.terms import Grid, Missing


@dataclass(frozen=True)
class WindowOperator(Local):
    """Windows of `size` samples, each through the steps; a row is the result, at the last beat.

    A window answers if it lies between the first and the last sample of its group and has a sample
    itself; where missing samples make it invalid, if it has them all.
    """

    grid: Grid
    size: int
    hop: int
    missing: Missing | str
    steps: tuple[Step, ...]

    @property
    def back(self) -> int:  # type: ignore[override]
        """A sample completes the windows since the one before."""
        return 0 if self.missing == "invalid" else 1

    @property
    def _run(self) -> int:
        """Beats over which windows are updated from one another."""
        return (self.steps[0].every - 1) * self.hop if self.steps and self.steps[0].update else 0

    @property
    def lookback(self) -> int:  # type: ignore[override]
        """The samples of a window that an event may complete, and of those it is updated from."""
        return (self.size - 1 + self._run) * self.grid.period

    def schema(self, *inputs: Rows) -> Rows:
        """As the steps transform a window of zeros."""
        columns = {}
        for name, values in inputs[0].columns.items():
            one = np.zeros((1, self.size), _kind(numbers(name, values)))
            if values.ndim > 1:
                raise BadStep(f"'{name}' is a vector already", instead="select its components")
            with np.errstate(all="ignore"):
                for step in self.steps:
                    one = _checked(step.recompute(one), 1, step)
            columns[name] = one[:0]
        return inputs[0].with_columns(columns)

    def touched(self, store: Store, changed: Rows) -> Ranges:
        """The windows with a changed sample, and those that it brings between first and last."""
        near = around(store, changed, self.back, self.back)
        return near.widened(0, (self.size - 1 + self._run) * self.grid.period)

    def compute(self, store: Store, ranges: Ranges) -> Rows:
        """All windows that end within ranges."""
        before = self.size - 1 + self._run
        samples = gather_samples(store, ranges, self.grid, before)
        inside = clusters(samples, 1 if self.missing == "invalid" else self.size - 1)
        parts = [self.schema(store.empty)]
        low, high = self._first_beats(store, samples, inside)
        first = -(-low // self.hop)
        count = np.maximum(high // self.hop - first + 1, 0)
        some = count > 0
        kept, first, count = inside.take(some), first[some], count[some]
        # Room for windows that reach beyond their samples.
        ends = (first + count - 1) * self.hop + self.size - 1
        reaches = (first * self.hop < kept.first) | (ends > kept.last)
        room = self.size - 1 if reaches.any() else 0
        done = 0
        for block in blocks(samples, kept, room, room):
            mine = slice(done, done + len(block.clusters))
            done = mine.stop
            parts.append(self._block(samples, block, first[mine], count[mine]))
        return concat(parts)

    def _first_beats(self, store: Store, samples: Samples, inside: Clusters) -> tuple[Ints, Ints]:
        """Between which beats windows of each cluster may begin."""
        group, size = samples.ranges.group[inside.part], self.size
        wanted = self.grid.beats(samples.ranges.low[inside.part] + self.grid.period - 1)
        if self.missing == "invalid":
            low, high = inside.first, inside.last - size + 1
        else:
            first = self.grid.beats(store.first(group))
            last = self.grid.beats(store.last(group))
            low = np.maximum(first, inside.first - size + 1)
            high = np.minimum(last - size + 1, inside.last)
        latest = self.grid.beats(samples.ranges.high[inside.part]) - size + 1
        return np.maximum(low, wanted), np.minimum(high, latest)

    def _block(self, samples: Samples, block: Block, first: Ints, count: Ints) -> Rows:
        cluster, nth = counted(count)
        beat = (first[cluster] + nth) * self.hop
        place = (block.base - block.clusters.first)[cluster] + beat
        windows = Windows(cluster, beat, place)
        part, grid = block.clusters.part, self.grid
        earliest = samples.ranges.low[part] + self.lookback
        first_end = grid.times(first * self.hop + self.size - 1)
        group = samples.ranges.group[part]
        if (first_end >= earliest).all() and are_long(count):
            columns = self._columns(samples, block, windows, slice(None))
            runs = Runs(group, first_end, count, self.hop * grid.period, 1)
            return in_runs(runs.fused(), columns)
        end = grid.times(beat + self.size - 1)
        wanted = end >= earliest[cluster]
        columns = self._columns(samples, block, windows, wanted)
        return points(group[cluster][wanted], end[wanted], columns)

    def _columns(
        self, samples: Samples, block: Block, windows: Windows, wanted: Mask | slice
    ) -> dict[str, Array]:
        return {
            name: self._values(block.layout(values, self._fill), windows, wanted)
            for name, values in samples.rows.columns.items()
        }

    @property
    def _fill(self) -> float:
        return 0.0

    def _values(self, dense: Array, windows: Windows, wanted: Mask | slice) -> Array:
        results, rest = [], self.steps
        if self._run:
            ready = self._updated(dense, windows)[wanted]
            rest = self.steps[1:]
            pieces: Iterator[Array] = (ready[s] for s in chunks(len(ready), ready.shape[1]))
        else:
            some = Windows(windows.cluster[wanted], windows.beat[wanted], windows.place[wanted])
            parts = chunks(len(some), self.size)
            if len(rest) == 1 and are_tiles(some, self.size, slice(None)):
                parts = iter((slice(0, len(some)),))  # nothing is written in between
            pieces = (frames(dense, some, self.size, s) for s in parts)
        for piece in pieces:
            for step in rest:
                piece = _checked(step.recompute(piece), len(piece), step)
            results.append(piece)
        if len(results) == 1:
            return results[0]
        return np.concatenate(results) if results else self._none(dense)

    def _none(self, dense: Array) -> Array:
        one = np.zeros((1, self.size), dense.dtype)
        with np.errstate(all="ignore"):
            for step in self.steps:
                one = step.recompute(one)
        return one[:0]

    def _updated(self, dense: Array, windows: Windows) -> Array:
        """The first step, window after window of a run, all runs at a time."""
        step, size, hop = self.steps[0], self.size, self.hop
        number = windows.beat // hop
        fresh = number % step.every == 0
        fresh[:1] = True
        fresh[1:] |= windows.cluster[1:] != windows.cluster[:-1]
        run = np.cumsum(fresh) - 1
        nth = np.arange(len(fresh)) - np.flatnonzero(fresh)[run]
        starts = Windows(windows.cluster[fresh], windows.beat[fresh], windows.place[fresh])
        pieces = [step.recompute(frames(dense, starts, size, s)) for s in chunks(len(starts), size)]
        begun = np.concatenate(pieces)
        result = np.empty((len(windows), begun.shape[1]), begun.dtype)
        result[fresh] = begun
        assert step.update is not None
        for n in range(1, int(nth.max()) + 1):
            at = np.flatnonzero(nth == n)
            for some in chunks(len(at), size):
                here = at[some]
                place = windows.place[here]
                old = dense[(place - hop)[:, None] + np.arange(hop)]
                new = dense[(place + size - hop)[:, None] + np.arange(hop)]
                result[here] = step.update(result[here - 1], old, new)
        return result


@dataclass(frozen=True)
class HopOperator(WindowOperator):
    """Windows of which only an aggregate is kept: a number each."""

    name: str = ""
    function: Callable[[Array], Array] | None = None

    def schema(self, *inputs: Rows) -> Rows:
        """As the aggregate answers to a window of zeros."""
        columns = {}
        for name, values in inputs[0].columns.items():
            one = np.zeros((1, self.size), _kind(numbers(name, values)))
            if values.ndim > 1:
                raise BadStep(f"'{name}' is a vector already", instead="select its components")
            columns[name] = self._aggregated(one)[:0]
        return inputs[0].with_columns(columns)

    @property
    def _fill(self) -> float:
        return float("nan") if self.missing == "skip" else 0.0

    def _values(self, dense: Array, windows: Windows, wanted: Mask | slice) -> Array:
        some = Windows(windows.cluster[wanted], windows.beat[wanted], windows.place[wanted])
        parts = [
            self._aggregated(frames(dense, some, self.size, s))
            for s in chunks(len(some), self.size)
        ]
        return np.concatenate(parts) if parts else self._none(dense)

    def _none(self, dense: Array) -> Array:
        return self._aggregated(np.zeros((1, self.size), dense.dtype))[:0]

    def _aggregated(self, piece: Array) -> Array:
        assert self.function is not None
        with np.errstate(all="ignore"):
            result = np.asarray(self.function(piece))
        return column(result, len(piece), f"the aggregate '{self.name}'")


def _kind(values: Array) -> np.dtype[np.generic]:
    return np.dtype(np.float64) if values.dtype.kind == "i" else values.dtype


def _checked(result: Array, rows: int, step: Step) -> Array:
    """The windows that a step gives: one row for each that it got."""
    array = np.asarray(result)
    if array.ndim != 2 or len(array) != rows:
        raise BadStep(
            f"the step '{step.name}' turned {rows} windows into an array of shape {array.shape}",
            instead="return one row a window",
        )
    return column(array, rows, f"the step '{step.name}'", is_new=step.is_new)
