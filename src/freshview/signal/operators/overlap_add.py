"""Arrays back to samples: each is laid out over the beats that end with it, overlaps are merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from freshview.signal.arrays import Array
from freshview.signal.columns.ranges import Ranges, counted, merged
from freshview.signal.columns.rows import Ints, Rows, concat, cut, in_runs, points
from freshview.signal.columns.runs import Runs
from freshview.signal.columns.store import Store
from freshview.signal.operators.events import numbers
from freshview.signal.operators.node import Local
from freshview.signal.steps import BadStep
from freshview.signal.terms import Grid, Merge

_CELLS = 1 << 24
"""How many values are merged at a time."""

_UFUNC = {"sum": np.add, "mean": np.add, "min": np.minimum, "max": np.maximum}


_FEW = 16
"""Clusters of more arrays, on average, are merged one by one, without an index."""

_Move: TypeAlias = tuple[Ints | slice, slice]
"""Where arrays begin to lie, and which ones."""


def _later(slot: Ints | slice, by: int) -> Ints | slice:
    return slice(slot.start + by, slot.stop + by) if isinstance(slot, slice) else slot + by


@dataclass(frozen=True)
class OverlapAddOperator(Local):
    """Samples on a grid from arrays of `size` values that are `hop` beats apart.

    Values of a beat are merged from the latest array to the earliest, so the order of a sum, and
    with it each digit, is fixed.
    """

    grid: Grid
    size: int
    hop: int
    merge: Merge

    @property
    def _cells(self) -> int:
        """How many hops an array reaches over."""
        return -(-self.size // self.hop)

    @property
    def lookback(self) -> int:  # type: ignore[override]
        """Arrays reach back from their time."""
        return 0

    def schema(self, *inputs: Rows) -> Rows:
        """A number where there was an array."""
        columns = {}
        for name, values in inputs[0].columns.items():
            if values.ndim != 2:
                raise BadStep(f"'{name}' is no array", instead="merge the arrays of windows")
            if self.merge in ("min", "max") and values.dtype.kind == "c":
                raise BadStep(
                    f"'{name}' is complex, and has no {self.merge}", instead="select .real"
                )
            columns[name] = numbers(name, values)[:, 0]
        return inputs[0].with_columns(columns)

    def touched(self, store: Store, changed: Rows) -> Ranges:
        """The beats of the arrays."""
        back = (self.size - 1) * self.grid.period
        return Ranges(changed.group, changed.start - back, changed.start)

    def compute(self, store: Store, ranges: Ranges) -> Rows:
        """Merged values at the beats of ranges that an array covers."""
        ahead = (self.size - 1) * self.grid.period
        wide = merged(ranges.group, ranges.low, ranges.high + ahead)
        rows, part = store.gather(wide)
        parts = [self.schema(store.empty)]
        if not len(rows):
            return parts[0]
        number = (self.grid.beats(rows.start) - (self.size - 1)) // self.hop
        new = np.ones(len(rows), np.bool_)
        new[1:] = (part[1:] != part[:-1]) | (np.diff(number) >= self._cells)
        begin = np.flatnonzero(new)
        slots = number[np.append(begin[1:], len(rows)) - 1] - number[begin] + self._cells
        chunk = np.cumsum(slots * self.hop) // _CELLS
        ends = np.append(np.flatnonzero(np.diff(chunk)) + 1, len(begin))
        limits = np.append(begin, len(rows))
        done = 0
        for end in ends.tolist():
            some = slice(int(limits[done]), int(limits[end]))
            low, high = wide.low[part[some]], wide.high[part[some]] - ahead
            parts.append(
                self._merged(rows.take(some), number[some], new[some], slots[done:end], low, high)
            )
            done = end
        return concat(parts)

    def _merged(
        self, rows: Rows, number: Ints, new: Array, slots: Ints, low: Ints, high: Ints
    ) -> Rows:
        begin = np.flatnonzero(new)
        lengths = np.diff(np.append(begin, len(rows)))
        base = np.cumsum(slots) - slots
        slot = np.repeat(base - number[begin], lengths) + number
        room = self._cells * self.hop - self.size
        is_whole = self.size >= self.hop and bool((slots == lengths + self._cells - 1).all())
        covered = np.zeros((int(slots.sum()), 1 if is_whole else self.hop), np.int64)
        moves: list[_Move] = [(slot, slice(None))]
        if is_whole and len(begin) * _FEW < len(rows):
            every = zip(base.tolist(), begin.tolist(), lengths.tolist(), strict=True)
            moves = [(slice(to, to + n), slice(at, at + n)) for to, at, n in every]
        if not is_whole or self.merge == "mean":
            covered = self._covered(moves, int(slots.sum()), room)
        dense = {
            name: self._column(values, moves, covered, room)
            for name, values in rows.columns.items()
        }
        limits = low[begin], high[begin]
        if is_whole:
            return self._runs(rows, begin, base * self.hop + room, lengths, limits, dense)
        owner, nth = counted(slots * self.hop)
        # The first slot of a cluster begins so many beats before its first array ends.
        end = self.grid.beats(rows.start[begin])
        beat = (end - self._cells * self.hop + 1)[owner] + nth
        time = self.grid.times(beat)
        inside = (covered.ravel() > 0) & (time >= limits[0][owner]) & (time <= limits[1][owner])
        columns = {name: values[inside] for name, values in dense.items()}
        return points(rows.group[begin][owner[inside]], time[inside], columns)

    def _runs(
        self,
        rows: Rows,
        begin: Ints,
        place: Ints,
        lengths: Ints,
        limits: tuple[Ints, Ints],
        dense: dict[str, Array],
    ) -> Rows:
        """Clusters in which no array is missing: runs of beats from a place on."""
        period = self.grid.period
        count = (lengths - 1) * self.hop + self.size
        first = rows.start[begin] - (self.size - 1) * period
        skipped = np.clip(-((first - limits[0]) // period), 0, count)
        kept = np.clip((limits[1] - first) // period + 1, skipped, count) - skipped
        some = np.flatnonzero(kept > 0)
        runs = Runs(
            rows.group[begin[some]], (first + skipped * period)[some], kept[some], period, 1
        )
        low = (place + skipped)[some]
        columns = {name: cut(values, low, kept[some]) for name, values in dense.items()}
        return in_runs(runs.fused(), columns)

    def _covered(self, moves: list[_Move], slots: int, room: int) -> Ints:
        """How many arrays lie over each beat."""
        covered = np.zeros((slots, self.hop), np.int64)
        pattern = np.ones(self._cells * self.hop, np.int64)
        pattern[:room] = 0
        for slot, _ in moves:
            for cell, part in enumerate(pattern.reshape(self._cells, self.hop)):
                covered[_later(slot, cell)] += part
        return covered

    def _column(self, values: Array, moves: list[_Move], covered: Ints, room: int) -> Array:
        kind = np.float64 if values.dtype.kind == "i" else values.dtype
        zero = {"min": np.inf, "max": -np.inf}.get(self.merge, 0.0)
        ufunc = _UFUNC[self.merge]
        if room:
            padding = np.full((len(values), room), zero, kind)
            values = np.concatenate([padding, values], axis=1)
        cells = values.reshape(len(values), self._cells, self.hop)
        result = np.full((len(covered), self.hop), zero, kind)
        for slot, some in moves:
            for cell in range(self._cells):
                at = _later(slot, cell)
                result[at] = ufunc(result[at], cells[some, cell])
        if self.merge == "mean":
            result = result / np.maximum(covered, 1)
        return np.asarray(result.ravel())

    def forget(self, state: tuple[Store, ...], *ahead: Ints) -> tuple[tuple[Store, ...], Ints]:
        """An array that may still come changes beats before its time, and so asks for others."""
        reach = ahead[0] - (self.size - 1) * self.grid.period
        return (state[0].forget(reach),), reach
