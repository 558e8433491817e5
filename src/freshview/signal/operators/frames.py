"""Windows of samples as arrays, for all groups at once.

Samples are laid out in one long array, beat by beat, cluster by cluster. Between two clusters there
is more room than a window is long, so no window sees two of them, and the room that a silent group
takes does not grow with its silence. Windows are numbered by time: the k-th one begins at beat
`k * hop`, whatever came first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from freshview.signal.arrays import Array
from freshview.signal.columns.ranges import Ranges, counted, merged
from freshview.signal.columns.rows import Ints, Rows
from freshview.signal.columns.store import Store
from freshview.signal.terms import Grid

CELLS = 1 << 18
"""How many samples of windows are worked on at a time: they stay in the cache."""

LAYOUT = 1 << 24
"""How many beats are laid out at a time, if no cluster is longer."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Rows by range, in order, with the numbers of their beats; `low` is that of each range."""

    rows: Rows
    part: Ints
    beat: Ints
    ranges: Ranges


def gather_samples(store: Store, ranges: Ranges, grid: Grid, before: int) -> Samples:
    """The samples of ranges and so many beats before; ranges that then meet become one."""
    wide = merged(ranges.group, ranges.low - before * grid.period, ranges.high)
    rows, part = store.gather(wide)
    return Samples(rows, part, grid.beats(rows.start), wide)


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
    beat, part = samples.beat, samples.part
    new = np.ones(len(beat), np.bool_)
    new[1:] = (part[1:] != part[:-1]) | (beat[1:] - beat[:-1] > widest)
    begin = np.flatnonzero(new)
    end = np.append(begin[1:], len(beat)) if len(begin) else begin
    return Clusters(begin, end, beat[begin], beat[end - 1] if len(end) else end, part[begin])


@dataclass(frozen=True, slots=True)
class Block:
    """Clusters that are laid out together: where each begins, and where each of their rows is."""

    clusters: Clusters
    base: Ints
    """The place of each cluster's first sample."""
    rows: slice
    place: Ints
    length: int

    def layout(self, values: Array, fill: complex = 0) -> Array:
        """A column beat by beat, with `fill` where no sample is."""
        kind = np.float64 if values.dtype.kind in "ib" else values.dtype
        if self.length == len(self.place):
            return values[self.rows].astype(kind, copy=False)
        dense = np.zeros((self.length, *values.shape[1:]), kind)
        if fill != 0:
            dense[...] = fill
        dense[self.place] = values[self.rows]
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
        lengths = some.end - some.begin
        rows: slice | Ints
        if int(lengths.sum()) == int(some.end[-1] - some.begin[0]):
            rows = slice(int(some.begin[0]), int(some.end[-1]))
            owner = np.repeat(np.arange(len(some)), lengths)
            place = samples.beat[rows] - (some.first - base)[owner]
        else:
            owner, nth = counted(lengths)
            rows = some.begin[owner] + nth
            place = samples.beat[rows] - (some.first - base)[owner]
        yield Block(some, base, rows, place, int(sizes.sum()))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows over the layout of a block: cluster, first beat, place of the first beat."""

    cluster: Ints
    beat: Ints
    place: Ints

    def __len__(self) -> int:
        return len(self.beat)


def frames(dense: Array, windows: Windows, size: int, some: slice) -> Array:
    """The samples of some windows, a row each, in memory of their own or one after the other."""
    places = windows.place[some]
    count = len(places)
    begin = int(places[0])
    if int(places[-1]) - begin == (count - 1) * size and (np.diff(places) == size).all():
        return dense[begin : begin + count * size].reshape(count, size)
    return np.ascontiguousarray(sliding_window_view(dense, size)[places])


def chunks(count: int, size: int) -> Iterator[slice]:
    """So many rows of a size, some at a time."""
    step = max(CELLS // max(size, 1), 1)
    for begin in range(0, count, step):
        yield slice(begin, min(begin + step, count))
