"""Interpolation: samples at the beats between reference points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from freshview.signal.arrays import Array
from freshview.signal.columns import native
from freshview.signal.columns.ranges import (
    MAX_TIME,
    MIN_TIME,
    Ranges,
    ceil_div,
    counted,
    merged,
    spans,
)
from freshview.signal.columns.rows import Ints, Mask, Rows, in_runs, points
from freshview.signal.columns.runs import Runs
from freshview.signal.columns.store import Store
from freshview.signal.operators.events import column, numbers
from freshview.signal.operators.node import Local, around
from freshview.signal.policies import Policy
from freshview.signal.terms import Grid

_PIECE = 1 << 14
"""How many points are worked on at a time: they stay in the cache."""


@dataclass(frozen=True)
class _Gaps:
    """From the last point of each run to the next point, so much later, so many beats."""

    last: Ints
    length: Ints
    count: Ints


@dataclass(frozen=True)
class InterpolateOperator(Local):
    """Values at beats: those of the points themselves, and by a policy those between them."""

    grid: Grid
    policy: Policy

    back = 1

    @property
    def lookback(self) -> int:  # type: ignore[override]
        """The oldest point that a policy may look at."""
        return self.policy.window

    def schema(self, *inputs: Rows) -> Rows:
        """As the policy answers to no beats; texts have no values in between."""
        none = inputs[0]
        columns = {}
        for name, values in none.columns.items():
            size = self.policy.history
            history = np.zeros((size, 0, *values.shape[1:]), numbers(name, values).dtype)
            times = np.zeros((size, 0), np.int64)
            columns[name], _ = self._values(none.start, times, history, name)
        return none.with_columns(columns)

    def touched(self, store: Store, changed: Rows) -> Ranges:
        """From the point before to the last one in whose history an event is."""
        return around(store, changed, 1, self.policy.history - 1)

    def compute(self, store: Store, ranges: Ranges) -> Rows:
        """Between each two points that are near enough, and at the points."""
        wide, is_exact = with_neighbours(store, ranges, self.policy.history - 1)
        rows, lengths = store.within(wide)
        if not len(rows):
            return self.schema(store.empty)
        if is_exact and (by_run := self._of_runs(rows, lengths)) is not None:
            return by_run
        part = np.repeat(np.arange(len(wide)), lengths)
        reach = self._reach(rows, part)
        first = ceil_div(rows.start - self.grid.offset, self.grid.period)
        counts = np.maximum(ceil_div(reach + 1 - self.grid.offset, self.grid.period) - first, 0)
        point, place = counted(counts)
        time = self.grid.times(first[point] + place)
        if not is_exact:
            inside = within(rows.group[point], time, ranges)
            point, time = point[inside], time[inside]
        between = time != rows.start[point]
        columns, valued = {}, np.ones(len(time), np.bool_)
        for name, values in rows.columns.items():
            result, has_value = self._column(name, values, rows.start, point, time, between)
            columns[name] = result
            valued[between] &= has_value
        answer = points(rows.group[point], time, columns)
        return answer if valued.all() else answer.take(valued)

    def _of_runs(self, rows: Rows, lengths: Ints) -> Rows | None:
        """As many beats between any two points of a run; the gaps between runs one by one."""
        policy, grid, whole = self.policy, self.grid, rows.runs
        if whole is None or policy.history != 2 or not policy.relative:
            return None
        high = np.cumsum(lengths)
        runs, part = whole.spans(high - lengths, high)
        share, rest = divmod(runs.step, grid.period)
        if rest or ((runs.first - grid.offset) % grid.period).any():
            return None
        gap = np.where(part[1:] == part[:-1], runs.first[1:] - runs.last[:-1], MAX_TIME)
        is_near = gap <= policy.window
        if policy.trailing and (runs.step > policy.window or (gap < MAX_TIME).any()):
            return None
        if runs.step > policy.window and share > 1:
            if is_near.any():
                return None
            share = 1  # points alone
        step = runs.step // share
        own = (runs.count - 1) * share + 1
        between = np.append(np.where(is_near, gap // grid.period - 1, 0), 0)
        gaps = _Gaps(runs.begin + runs.count - 1, np.append(gap, 0), between)
        place = np.cumsum(own + between) - own - between
        columns = {}
        for name, values in rows.columns.items():
            kind = np.float64 if values.dtype.kind == "i" else values.dtype
            numbers_ = np.ascontiguousarray(values, kind)
            finer = self._finer(numbers_, share, runs.step)
            if len(runs) > 1:
                filled = np.empty((int((own + between).sum()), *values.shape[1:]), kind)
                native.copy_spans(finer, filled, runs.begin * share, place, own)
                filled[spans(place + own, place + own + between)] = self._across(numbers_, gaps)
                finer = filled
            columns[name] = finer[: int((own + between).sum())]
        beats = Runs(runs.group, runs.first, own + between, step, 1)
        return in_runs(beats.fused(), columns)

    def _finer(self, values: Array, share: int, step: int) -> Array:
        """Each point and the `share - 1` beats after it; those after the last are left open."""
        if share == 1:
            return values
        finer = np.empty((len(values), share, *values.shape[1:]), values.dtype)
        times = np.array([[0], [step]])
        with np.errstate(all="ignore"):  # from the end of a run to the next one nothing is used
            for low in range(0, len(values), _PIECE):
                piece = values[low : low + _PIECE + 1]
                pairs = np.moveaxis(sliding_window_view(piece, len(piece) - 1, axis=0), -1, 1)
                here = finer[low : low + _PIECE]
                here[:, 0] = piece[: len(here)]
                for nth in range(1, share if len(piece) > 1 else 1):
                    beat = np.array([nth * self.grid.period])
                    here[: len(piece) - 1, nth] = self.policy.evaluate(beat, times, pairs)
        return finer.reshape(len(values) * share, *values.shape[1:])

    def _across(self, values: Array, gaps: _Gaps) -> Array:
        """The beats between the last point of a run and the first one of the next."""
        gap, nth = counted(gaps.count)
        at = gaps.last[gap]
        times = np.stack([np.zeros(len(gap), np.int64), gaps.length[gap]])
        pairs = np.stack([values[at], values[at + 1 if len(at) else at]])
        return self.policy.evaluate((nth + 1) * self.grid.period, times, pairs)

    def _reach(self, rows: Rows, part: Ints) -> Ints:
        """The last time from each point on that has a value, if the next point is not it."""
        start, history = rows.start, self.policy.history
        follows = np.zeros(len(rows), np.bool_)
        follows[:-1] = part[1:] == part[:-1]
        nxt = np.where(follows, np.append(start[1:], MAX_TIME), MAX_TIME)
        oldest = np.full(len(rows), MIN_TIME)
        back = history - 2
        if len(rows) > back:
            tail = slice(back, None)
            head = slice(None, len(rows) - back)
            oldest[tail] = np.where(part[tail] == part[head], start[head], MIN_TIME)
        near = follows & (nxt - oldest <= self.policy.window)
        reach = np.where(near, nxt - 1, start)
        if self.policy.trailing:
            reach = np.where(follows, np.minimum(nxt - 1, start + self.policy.window), start)
        return reach

    def _column(
        self, name: str, values: Array, start: Ints, point: Ints, time: Ints, between: Mask
    ) -> tuple[Array, Mask]:
        at = point[between]
        steps = np.arange(2 - self.policy.history, 2)[:, None]
        history = at[None, :] + steps
        answers, has_value = self._values(time[between], start[history], values[history], name)
        result = values[point].astype(answers.dtype)
        result[between] = answers
        return result, has_value

    def _values(self, beats: Ints, times: Ints, values: Array, name: str) -> tuple[Array, Mask]:
        """What the policy answers, and where it does."""
        numbers_ = values.astype(np.float64) if values.dtype.kind == "i" else values
        result = self.policy.evaluate(beats, times, numbers_)
        mask = np.ma.getmaskarray(result)
        lacks = np.asarray(mask.any(axis=tuple(range(1, mask.ndim))), np.bool_)
        what = f"{self.policy.name} interpolation of '{name}'"
        return column(np.ma.getdata(result), len(beats), what), np.logical_not(lacks)


def with_neighbours(store: Store, ranges: Ranges, back: int) -> tuple[Ranges, bool]:
    """Ranges that reach to the neighbours of their points outside.

    And whether there are no such neighbours: then no beat lies outside of the ranges.
    """
    low = store.previous(ranges.group, ranges.low + 1, back)
    high = store.following(ranges.group, ranges.high - 1, 1)
    low = np.where(low == MIN_TIME, ranges.low, np.minimum(low, ranges.low))
    high = np.where(high == MAX_TIME, ranges.high, np.maximum(high, ranges.high))
    is_exact = bool((low == ranges.low).all() and (high == ranges.high).all())
    return merged(ranges.group, low, high), is_exact


def within(group: Ints, time: Ints, ranges: Ranges) -> Mask:
    """Which times lie in one of the ranges of their group."""
    if not len(time) or not len(ranges):
        return np.zeros(len(time), np.bool_)
    is_range = np.r_[np.ones(len(ranges), np.bool_), np.zeros(len(time), np.bool_)]
    order = np.lexsort((~is_range, np.r_[ranges.low, time], np.r_[ranges.group, group]))
    before = np.cumsum(is_range[order]) - 1
    at = np.empty(len(order), np.int64)
    at[order] = before
    at = at[len(ranges) :]
    safe = np.maximum(at, 0)
    return np.asarray(
        (at >= 0) & (ranges.group[safe] == group) & (time <= ranges.high[safe]), np.bool_
    )
