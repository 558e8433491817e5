"""Windows of samples as arrays, for all groups at once.

Samples are laid out in one long array, beat by beat, cluster by cluster. Between two clusters there
is more room than a window is long, so no window sees two of them, and the room that a silent group
takes does not grow with its silence. Windows are numbered by time: the k-th one begins at beat
`k * hop`, whatever came first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from freshview.signal.arrays import Array
from freshview.signal.columns import native
from freshview.signal.columns.ranges import Ranges, counted, merged
from freshview.signal.columns.rows import Ints, Rows
from freshview.signal.columns.runs import Runs
from freshview.signal.columns.store import Store
from freshview.signal.terms import Grid

CELLS = 1 << 18
"""How many samples of windows are worked on at a time: they stay in the cache."""

LAYOUT = 1 << 24
"""How many beats are laid out at a time, if no cluster is longer."""


@dataclass(frozen=True)
class Samples:
    """Rows by range, in order, so many of each; `low` is that of each range."""

    rows: Rows
    lengths: Ints
    ranges: Ranges
    grid: Grid

    @cached_property
    def part(self) -> Ints:
        """The range of each row."""
        return np.repeat(np.arange(len(self.ranges)), self.lengths)

    @cached_property
    def beat(self) -> Ints:
        """The numbers of the beats."""
        return self.grid.beats(self.rows.start)

    @cached_property
    def runs(self) -> tuple[Runs, Ints] | None:
        """The runs of the rows, if they are of whole periods, and the range of each."""
        runs = self.rows.runs
        if runs is None or runs.step % self.grid.period:
            return None
        high = np.cumsum(self.lengths)
        return runs.spans(high - self.lengths, high)


def gather_samples(store: Store, ranges: Ranges, grid: Grid, before: int) -> Samples:
    """The samples of ranges and so many beats before; ranges that then meet become one."""
    wide = merged(ranges.group, ranges.low - before * grid.period, ranges.high)
    return Samples(*store.within(wide), wide, grid)


@dataclass(frozen=True, slots=True)
class Clusters:
    """Stretches of samples: where they begin and end among the rows, and in beats."""

    begin: Ints
    end: Ints
    first: Ints
    last: Ints
    part: Ints

    def __len__(self) -> int:
        return len(self.begin)

    def take(self, index: Array | slice) -> Clusters:
        """Some of them."""
        return Clusters(
            self.begin[index],
            self.end[index],
            self.first[index],
            self.last[index],
            self.part[index],
        )


def clusters(samples: Samples, widest: int) -> Clusters:
    """Stretches in which two samples in a row are at most so many beats apart."""
    stretches = samples.runs
    if stretches is None or stretches[0].step > widest * samples.grid.period:
        begin, first = np.arange(len(samples.rows)), samples.beat
        last, part = first, samples.part
    else:
        runs, part = stretches
        begin = runs.begin
        first, last = samples.grid.beats(runs.first), samples.grid.beats(runs.last)
    new = np.ones(len(part), np.bool_)
    new[1:] = (part[1:] != part[:-1]) | (first[1:] - last[:-1] > widest)
    at = np.flatnonzero(new)
    if not len(at):
        return Clusters(at, at, at, at, at)
    final = np.append(at[1:], len(part)) - 1
    end = np.append(begin[at[1:]], len(samples.rows))
    return Clusters(begin[at], end, first[at], last[final], part[at])


@dataclass(frozen=True)
class Block:
    """Clusters that are laid out together, each from the place `base` on."""

    samples: Samples
    clusters: Clusters
    base: Ints
    """The place of each cluster's first sample."""
    length: int

    @cached_property
    def count(self) -> int:
        """How many samples there are."""
        return int((self.clusters.end - self.clusters.begin).sum())

    @cached_property
    def rows(self) -> slice | Ints:
        """Which rows are laid out."""
        some = self.clusters
        if self.count == int(some.end[-1] - some.begin[0]):
            return slice(int(some.begin[0]), int(some.end[-1]))
        owner, nth = counted(some.end - some.begin)
        return np.asarray(some.begin[owner] + nth)

    @cached_property
    def place(self) -> Ints:
        """Where each of these rows is."""
        owner = np.repeat(np.arange(len(self.base)), self.clusters.end - self.clusters.begin)
        return np.asarray(self.samples.beat[self.rows] - (self.clusters.first - self.base)[owner])

    @cached_property
    def runs(self) -> tuple[Runs, Ints, Ints, Ints] | None:
        """The runs of these rows; the range, the first row and the first place of each.

        None where runs go on over several clusters, as their samples are too far apart.
        """
        if self.samples.runs is None:
            return None
        runs, part = self.samples.runs
        some = self.clusters
        owner = np.searchsorted(some.begin, runs.begin, side="right") - 1
        inside = (owner >= 0) & (runs.begin < some.end[owner])
        owner, begin, part = owner[inside], runs.begin[inside], part[inside]
        runs = runs.with_spans(runs.group[inside], runs.first[inside], runs.count[inside])
        if (begin + runs.count > some.end[owner]).any():
            return None
        beat = self.samples.grid.beats(runs.first)
        return runs, part, begin, self.base[owner] + beat - some.first[owner]

    def layout(self, values: Array, fill: complex = 0) -> Array:
        """A column beat by beat, with `fill` where no sample is."""
        kind = np.float64 if values.dtype.kind in "ib" else values.dtype
        if self.length == self.count:
            return values[self.rows].astype(kind, copy=False)
        dense = np.zeros((self.length, *values.shape[1:]), kind)
        if fill != 0:
            dense[...] = fill
        if self.runs is None:
            dense[self.place] = values[self.rows]
            return dense
        runs, _, begin, place = self.runs
        cells = np.ascontiguousarray(values, kind)
        stride = runs.step // self.samples.grid.period
        native.copy_spans(cells, dense, begin, place, runs.count, stride)
        return dense


def blocks(samples: Samples, kept: Clusters, before: int, after: int) -> Iterator[Block]:
    """Clusters laid out with so much room before and after each, some at a time."""
    size = kept.last - kept.first + 1 + before + after
    chunk = np.cumsum(size) // LAYOUT
    ends = np.append(np.flatnonzero(chunk[1:] != chunk[:-1]) + 1, len(kept))
    begin = 0
    for end in ends.tolist() if len(kept) else ():
        some, sizes = kept.take(slice(begin, end)), size[begin:end]
        base = np.cumsum(sizes) - sizes + before
        begin = end
        yield Block(samples, some, base, int(sizes.sum()))


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows over the layout of a block: cluster, first beat, place of the first beat."""

    cluster: Ints
    beat: Ints
    place: Ints

    def __len__(self) -> int:
        return len(self.beat)


def are_tiles(windows: Windows, size: int, some: slice) -> bool:
    """Whether windows lie one after the other."""
    places = windows.place[some]
    whole = int(places[-1]) - int(places[0]) == (len(places) - 1) * size if len(places) else False
    return whole and bool((np.diff(places) == size).all())


def frames(dense: Array, windows: Windows, size: int, some: slice) -> Array:
    """The samples of some windows, a row each, in memory of their own or one after the other."""
    places = windows.place[some]
    if are_tiles(windows, size, some):
        begin, count = int(places[0]), len(places)
        return dense[begin : begin + count * size].reshape(count, size)
    return np.ascontiguousarray(sliding_window_view(dense, size)[places])


def chunks(count: int, size: int) -> Iterator[slice]:
    """So many rows of a size, some at a time."""
    step = max(CELLS // max(size, 1), 1)
    for begin in range(0, count, step):
        yield slice(begin, min(begin + step, count))
