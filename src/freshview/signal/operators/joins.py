"""Joins over time: events that overlap, and the event that was, or will be, current."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freshview.errors import TypeProblem
from freshview.signal.arrays import Array
from freshview.signal.columns.ranges import MAX_TIME, MIN_TIME, Ranges, counted, merged
from freshview.signal.columns.rows import (
    Ints,
    Rows,
    concat,
    consolidated,
    difference,
    in_runs,
    sorted_rows,
)
from freshview.signal.columns.store import Segment, Store
from freshview.signal.operators.events import numbers
from freshview.signal.operators.node import Operator, State, reached
from freshview.signal.terms import BadSignal, Direction, Operation


class UnionOperator(Operator):
    """The events of both inputs."""

    def schema(self, *inputs: Rows) -> Rows:
        """Both have the same columns."""
        left, right = inputs
        if set(left.columns) != set(right.columns):
            raise BadSignal(
                f"streams with the columns {_names(left)} and {_names(right)} have no union",
                instead="select the same columns in both",
            )
        return self._alike(left, right)

    def step(self, state: State, *changes: Rows) -> tuple[State, Rows]:
        """Both changes."""
        left, right = changes
        schema = self._alike(left.take(slice(0, 0)), right.take(slice(0, 0)))
        both = [_cast(part, schema) for part in (left, right)]
        return state, concat(both)

    def _alike(self, left: Rows, right: Rows) -> Rows:
        return left.with_columns(
            {n: np.concatenate([c, right.columns[n]]) for n, c in left.columns.items()}
        )


def _cast(rows: Rows, schema: Rows) -> Rows:
    columns = {}
    for name, wanted in schema.columns.items():
        values = rows.columns[name]
        columns[name] = values if values.dtype.kind == "U" else values.astype(wanted.dtype)
    return rows.with_columns(columns)


@dataclass(frozen=True)
class JoinOperator(Operator):
    """Pairs that overlap, over the time that they share; linear in both inputs."""

    combine: Operation | None

    def schema(self, *inputs: Rows) -> Rows:
        """The columns of both, or those that they have in common."""
        left, right = inputs
        if self.combine is not None and set(left.columns) != set(right.columns):
            if len(left.columns) != 1 or len(right.columns) != 1:
                raise BadSignal(
                    f"{self.combine} of payloads with {_names(left)} and {_names(right)}",
                    instead="select the same columns in both",
                )
        return left.with_columns(self._columns(dict(left.columns), dict(right.columns)))

    def start(self, *inputs: Rows) -> State:
        """Both inputs."""
        return Store(inputs[0]), Store(inputs[1])

    def step(self, state: State, *changes: Rows) -> tuple[State, Rows]:
        """New left with old right, then all of the left with new right."""
        (left, right), (new_left, new_right) = state, changes
        after_left = left.apply(new_left) if len(new_left) else left
        after_right = right.apply(new_right) if len(new_right) else right
        parts = [
            self._pairs(sorted_rows(new_left), right, False),
            self._pairs(sorted_rows(new_right), after_left, True),
        ]
        return (after_left, after_right), consolidated(concat(parts))

    def _pairs(self, rows: Rows, store: Store, is_right: bool) -> Rows:
        """Events of a change with those in the store of the other side."""
        parts = []
        points = rows.are_points
        for segment in store.segments if len(rows) else ():
            both = _in_step(rows, segment.rows)
            if both is not None:
                if len(both[0]):
                    parts.append(self._paired(*both, is_right))
                continue
            if points and segment.is_points:
                theirs, there = segment.find(rows.group, rows.start)
                whole = bool(there.all())
                mine, theirs = (rows, theirs) if whole else (rows.take(there), theirs[there])
            else:
                mine, theirs = _overlapping(rows, segment)
            if len(mine):
                parts.append(self._paired(mine, segment.rows.take(theirs), is_right))
        if parts:
            return concat(parts)
        none = (store.empty, rows.take(slice(0, 0)))
        return self.schema(*(none if is_right else none[::-1]))

    def _paired(self, mine: Rows, theirs: Rows, is_right: bool) -> Rows:
        left, right = (theirs, mine) if is_right else (mine, theirs)
        if mine.runs is not None and theirs.runs is not None:
            return in_runs(mine.runs, self._columns(dict(left.columns), dict(right.columns)))
        return Rows(
            mine.group,
            np.maximum(mine.start, theirs.start),
            np.minimum(mine.end, theirs.end),
            mine.weight,
            self._columns(dict(left.columns), dict(right.columns)),
        )

    def _columns(self, left: dict[str, Array], right: dict[str, Array]) -> dict[str, Array]:
        if self.combine is None:
            return side_by_side(left, right)
        if set(left) == set(right):
            both = [(name, values, right[name]) for name, values in left.items()]
        else:
            both = [(n, a, b) for (n, a), b in zip(left.items(), right.values(), strict=True)]
        return {n: combined(self.combine, n, a, b) for n, a, b in both}

    def forget(self, state: State, *ahead: Ints) -> tuple[State, Ints]:
        """Keep what still lives when the first event may come; the last of a group always does."""
        at = np.minimum(*ahead)
        stores = []
        for store in state:
            longest = max((s.longest for s in store.segments), default=1)
            stores.append(store.forget(at - longest))
        return tuple(stores), at


def _in_step(rows: Rows, others: Rows) -> tuple[Rows, Rows] | None:
    """The points that have a partner at the same time, and these, if both lie in runs of one step.

    So the partners of a run are found by comparing where runs begin and end.
    """
    mine, theirs = rows.runs, others.runs
    if mine is None or theirs is None or mine.step != theirs.step:
        return None
    if mine.width != 1 or theirs.width != 1 or not mine.is_sorted:
        return None
    run, other = mine.meeting(theirs)
    in_step = (mine.first[run] - theirs.first[other]) % mine.step == 0
    run, other = run[in_step], other[in_step]
    first = np.maximum(mine.first[run], theirs.first[other])
    last = np.minimum(mine.last[run], theirs.last[other])
    count = (last - first) // mine.step + 1
    low = mine.begin[run] + (first - mine.first[run]) // mine.step
    partner = theirs.begin[other] + (first - theirs.first[other]) // mine.step
    return rows.spans(low, low + count), others.spans(partner, partner + count)


def _overlapping(rows: Rows, segment: Segment) -> tuple[Rows, Ints]:
    """The events, once for each of a segment that they overlap, and the places of these."""
    low = segment.search(rows.group, rows.start - segment.longest + 1)
    high = segment.search(rows.group, rows.end)
    mine, place = counted(np.maximum(high - low, 0))
    theirs = low[mine] + place
    overlap = segment.rows.end[theirs] > rows.start[mine]
    if not overlap.all():
        mine, theirs = mine[overlap], theirs[overlap]
    return rows.take(mine), theirs


def side_by_side(left: dict[str, Array], right: dict[str, Array]) -> dict[str, Array]:
    """Both payloads; a name that both have gets the number of its side."""
    twice = set(left) & set(right)
    columns = {f"{n}_1" if n in twice else n: c for n, c in left.items()}
    return columns | {f"{n}_2" if n in twice else n: c for n, c in right.items()}


def combined(operation: Operation, name: str, left: Array, right: Array) -> Array:
    """Arithmetic of payloads: of numbers, and of vectors component by component."""
    left, right = numbers(name, left), numbers(name, right)
    if left.ndim < right.ndim:
        left = left[:, None]
    if right.ndim < left.ndim:
        right = right[:, None]
    if (
        left.ndim > 1
        and left.shape[1] != right.shape[1]
        and 1 not in (left.shape[1], right.shape[1])
    ):
        raise TypeProblem(
            f"'{name}' has vectors of {left.shape[1]} and {right.shape[1]} components",
            instead="combine vectors of equal length",
        )
    match operation:
        case "plus":
            return np.asarray(left + right)
        case "minus":
            return np.asarray(left - right)
        case "times":
            return np.asarray(left * right)


@dataclass(frozen=True)
class AsOfOperator(Operator):
    """Each event of the left with one of the right: the latest that does not start after it.

    Or the first that does not start before it, or the nearest of both, the earlier one if they are
    equally near.
    """

    direction: Direction
    tolerance: int | None
    keep: bool

    def schema(self, *inputs: Rows) -> Rows:
        """Both payloads; what may be missing is a number that can be NaN."""
        left, right = inputs
        for name, values in right.columns.items():
            if self.keep and values.dtype.kind not in "fci":
                raise TypeProblem(
                    f"'{name}' has the type {values.dtype}, which has no value for what is missing",
                    instead="leave out events without a partner, or select numbers of the right",
                )
        return left.with_columns(side_by_side(dict(left.columns), self._right(right)))

    def start(self, *inputs: Rows) -> State:
        """Both inputs."""
        return Store(inputs[0]), Store(inputs[1])

    def step(self, state: State, *changes: Rows) -> tuple[State, Rows]:
        """The events of the left that changed, and those between changed ones of the right."""
        (left, right), (new_left, new_right) = state, changes
        after_left = left.apply(new_left) if len(new_left) else left
        after_right = right.apply(new_right) if len(new_right) else right
        around = [
            reached(right, new_right.inserts(), lambda rows: _between(after_right, rows)),
            _between(right, new_right.deletes()),
            Ranges(new_left.group, new_left.start, new_left.start),
        ]
        ranges = merged(
            np.concatenate([r.group for r in around]),
            np.concatenate([r.low for r in around]),
            np.concatenate([r.high for r in around]),
        )
        old = self._matched(left, right, ranges)
        return (after_left, after_right), difference(
            old, self._matched(after_left, after_right, ranges)
        )

    def _matched(self, left: Store, right: Store, ranges: Ranges) -> Rows:
        rows, _ = left.gather(ranges) if len(ranges) else (left.empty, None)
        if not len(rows):
            return self.schema(left.empty, right.empty)
        partner = self._partner(right, rows)
        there = partner > MIN_TIME
        keys = merged(rows.group[there], partner[there], partner[there])
        current, _ = right.gather(keys)
        at = np.zeros(len(rows), np.int64)
        order = np.lexsort((partner, rows.group))
        at[order] = np.cumsum(_starts(rows.group[order], partner[order]) & there[order]) - 1
        if not self.keep:
            rows, at, there = rows.take(there), at[there], there[there]
        columns = {}
        for name, values in self._right(current).items():
            if there.all():
                columns[name] = values[at]
                continue
            shape = (len(rows), *values.shape[1:])
            columns[name] = np.full(shape, np.nan, values.dtype)
            columns[name][there] = values[at[there]]
        return rows.with_columns(side_by_side(dict(rows.columns), columns))

    def _right(self, rows: Rows) -> dict[str, Array]:
        if not self.keep:
            return dict(rows.columns)
        return {
            n: c if c.dtype.kind == "c" else c.astype(np.float64) for n, c in rows.columns.items()
        }

    def _partner(self, right: Store, rows: Rows) -> Ints:
        """When the partner of each event starts; `MIN_TIME` if there is none."""
        group, time = rows.group, rows.start
        before = right.previous(group, time + 1)
        after = right.following(group, time - 1)
        far = self.tolerance if self.tolerance is not None else MAX_TIME
        before = np.where((before > MIN_TIME) & (time - before <= far), before, MIN_TIME)
        after = np.where((after < MAX_TIME) & (after - time <= far), after, MIN_TIME)
        match self.direction:
            case "backward":
                return before
            case "forward":
                return after
            case "nearest":
                is_after = (after > MIN_TIME) & (
                    (before == MIN_TIME) | (after - time < time - before)
                )
                return np.where(is_after, after, before)

    def forget(self, state: State, *ahead: Ints) -> tuple[State, Ints]:
        """Keep the current event of the right, and those of the left that may still change."""
        left, right = state
        at = np.minimum(*ahead)
        before = right.previous(np.arange(len(at)), at)
        reach = np.where(before == MIN_TIME, MIN_TIME, np.minimum(before, at))
        if self.tolerance is not None:
            reach = np.maximum(reach, at - self.tolerance)
        current = np.where(before == MIN_TIME, at, before)
        return (left.forget(reach), right.forget(np.minimum(current, at))), reach


def _between(store: Store, changed: Rows) -> Ranges:
    """From the event before each to the one after it; without one, all the time there is."""
    low = store.previous(changed.group, changed.start)
    high = store.following(changed.group, changed.start)
    low = np.where(low == MIN_TIME, MIN_TIME + 1, low)
    return Ranges(changed.group, low, np.where(high == MAX_TIME, MAX_TIME - 2, high))


def _starts(group: Ints, time: Ints) -> Array:
    new = np.ones(len(group), np.bool_)
    new[1:] = (group[1:] != group[:-1]) | (time[1:] != time[:-1])
    return new


def _names(rows: Rows) -> str:
    return ", ".join(f"'{name}'" for name in rows.columns)
