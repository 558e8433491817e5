"""Events as columns, each with a weight: what comes, what goes, and how two sets differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from freshview.signal.arrays import Array as Array
from freshview.signal.arrays import Ints as Ints
from freshview.signal.arrays import Mask as Mask
from freshview.signal.columns import native
from freshview.signal.columns.runs import Runs, joined, runs_of_events

Index: TypeAlias = Ints | Mask | slice
Weights: TypeAlias = NDArray[np.int8]

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SOME = 8
"""Of runs, fewer than one of so many events are looked up one by one."""


class Rows:
    """Parallel arrays, one entry an event: its group by number, its lifetime, how often it comes.

    A weight is 1 for an event that comes and -1 for one that goes; without weights all come.
    Payload columns are arrays of numbers, or matrices with a row an event. Events that lie in runs
    have `runs`; their groups and times are then written out when they are asked for.
    """

    __slots__ = ("_end", "_group", "_start", "_weight", "columns", "runs")

    def __init__(
        self,
        group: Ints | None,
        start: Ints | None,
        end: Ints | None,
        weight: Weights | None,
        columns: Mapping[str, Array],
        runs: Runs | None = None,
    ) -> None:
        self._group, self._start, self._end, self._weight = group, start, end, weight
        self.columns = columns
        self.runs = runs

    @property
    def group(self) -> Ints:
        """The numbers of the groups."""
        if self._group is None:
            assert self.runs is not None
            self._group = self.runs.groups()
        return self._group

    @property
    def start(self) -> Ints:
        """When events start."""
        if self._start is None:
            assert self.runs is not None
            self._start = self.runs.starts()
        return self._start

    @property
    def end(self) -> Ints:
        """When events end."""
        if self._end is None:
            self._end = self.start + (1 if self.runs is None else self.runs.width)
        return self._end

    @property
    def weight(self) -> Weights:
        """1 for an event that comes, -1 for one that goes."""
        if self._weight is None:
            self._weight = np.ones(len(self), np.int8)
        return self._weight

    def __len__(self) -> int:
        if self._start is None:
            assert self.runs is not None
            return self.runs.size
        return len(self._start)

    def take(self, index: Index) -> Rows:
        """Some of the rows."""
        if self.runs is not None:
            return self._of_runs(self.runs, index)
        end, weight = self._end, self._weight
        return Rows(
            self.group[index],
            self.start[index],
            None if end is None else end[index],
            None if weight is None else weight[index],
            {name: values[index] for name, values in self.columns.items()},
        )

    def _of_runs(self, runs: Runs, index: Index) -> Rows:
        if isinstance(index, slice):
            low, high, step = index.indices(runs.size)
            if step == 1:
                if high - low == runs.size:
                    return self
                some, _ = runs.spans(np.array([low]), np.array([high]))
                return Rows(None, None, None, None, _indexed(self.columns, index), some)
            index = np.arange(low, high, step)
        place = np.flatnonzero(index) if index.dtype.kind == "b" else index
        if self._start is None and len(place) * _SOME < runs.size:
            group, start = runs.at(np.where(place < 0, place + runs.size, place))
        else:
            group, start = self.group[place], self.start[place]
        return Rows(group, start, start + runs.width, None, _indexed(self.columns, place))

    def spans(self, low: Ints, high: Ints) -> Rows:
        """The rows from `low` up to, not including, `high`, pair by pair."""
        lengths = np.maximum(high - low, 0)
        if self.runs is not None:
            runs, _ = self.runs.spans(low, high)
            columns = {name: cut(values, low, lengths) for name, values in self.columns.items()}
            return Rows(None, None, None, None, columns, runs)
        if int(lengths.sum()) == len(self) and (lengths > 0).sum() == 1:
            return self
        columns = {name: cut(values, low, lengths) for name, values in self.columns.items()}
        times = (cut(values, low, lengths) for values in (self.group, self.start, self.end))
        group, start, end = times
        weight = None if self._weight is None else cut(self._weight, low, lengths)
        return Rows(group, start, end, weight, columns)

    def with_columns(self, columns: Mapping[str, Array]) -> Rows:
        """The same events with another payload."""
        return Rows(self._group, self._start, self._end, self._weight, columns, self.runs)

    def with_lifetimes(self, start: Ints, end: Ints) -> Rows:
        """The same events at other times."""
        return Rows(self.group, start, end, self._weight, self.columns)

    def lasting(self, duration: int) -> Rows:
        """The same events, as long as that."""
        if self.runs is None:
            return self.with_lifetimes(self.start, self.start + duration)
        runs = self.runs
        longer = Runs(runs.group, runs.first, runs.count, runs.step, duration)
        return Rows(self._group, self._start, None, None, self.columns, longer)

    def shifted(self, by: int) -> Rows:
        """The same events so much later."""
        if self.runs is None:
            return self.with_lifetimes(self.start + by, self.end + by)
        runs = self.runs.with_spans(self.runs.group, self.runs.first + by, self.runs.count)
        return Rows(self._group, None, None, None, self.columns, runs)

    def inserts(self) -> Rows:
        """Those that come."""
        return self if self.is_plain else self.take(self.weight > 0)

    def deletes(self) -> Rows:
        """Those that go."""
        return self.take(slice(0, 0)) if self.is_plain else self.take(self.weight < 0)

    @property
    def bytes(self) -> int:
        """The size of the arrays."""
        own = (self._group, self._start, self._end, self._weight)
        runs = 0 if self.runs is None else 24 * len(self.runs)
        times = sum(a.nbytes for a in own if a is not None)
        return times + runs + sum(values.nbytes for values in self.columns.values())

    @property
    def is_plain(self) -> bool:
        """Whether nothing goes."""
        return self._weight is None or not len(self) or int(self._weight.min()) > 0

    @property
    def are_points(self) -> bool:
        """Whether all events are one unit of time long."""
        if self.runs is not None:
            return self.runs.width == 1
        return self._end is None or bool((self._end - self.start == 1).all())


def in_runs(runs: Runs, columns: Mapping[str, Array]) -> Rows:
    """Events that lie in runs."""
    return Rows(None, None, None, None, columns, runs)


def points(group: Ints, start: Ints, columns: Mapping[str, Array]) -> Rows:
    """Events of one unit of time that come."""
    return Rows(group, start, None, None, columns)


def negated(rows: Rows) -> Rows:
    """What takes rows back."""
    return Rows(rows.group, rows.start, rows.end, -rows.weight, rows.columns)


def concat(parts: Sequence[Rows]) -> Rows:
    """One part after the other; all have the same columns."""
    full = [p for p in parts if len(p)] or list(parts[:1])
    if len(full) == 1:
        return full[0]
    columns = {name: np.concatenate([p.columns[name] for p in full]) for name in full[0].columns}
    runs = [p.runs for p in full if p.runs is not None]
    if len(runs) == len(full) and (both := joined(runs)) is not None:
        return in_runs(both, columns)
    return Rows(
        np.concatenate([p.group for p in full]),
        np.concatenate([p.start for p in full]),
        np.concatenate([p.end for p in full]),
        None if all(p.is_plain for p in full) else np.concatenate([p.weight for p in full]),
        columns,
    )


def apart(rows: Rows, others: Sequence[Rows]) -> Rows:
    """The same rows in memory that they do not share with others."""
    known = [a for o in others for a in (o._start, o._end, *o.columns.values()) if a is not None]

    def own(values: Array) -> Array:
        shares = any(np.may_share_memory(values, other) for other in known)
        return values.copy() if shares else values

    columns = {name: own(values) for name, values in rows.columns.items()}
    if rows.runs is not None:
        return in_runs(rows.runs, columns)
    return Rows(rows.group, own(rows.start), own(rows.end), rows.weight, columns)


def _indexed(columns: Mapping[str, Array], index: Index) -> dict[str, Array]:
    return {name: values[index] for name, values in columns.items()}


def cut(values: Array, begin: Ints, count: Ints) -> Array:
    """Spans of an array, one after the other; a view, where they lie so."""
    to = np.cumsum(count) - count
    total = int(count.sum())
    first = int(begin[np.argmax(count > 0)]) if total else 0
    if (begin == first + to)[count > 0].all():
        return values[first : first + total]
    target = np.empty((total, *values.shape[1:]), values.dtype)
    native.copy_spans(np.ascontiguousarray(values), target, begin, to, count)
    return target


def order_by_group(group: Ints) -> Ints:
    """The stable order by small numbers: a counting sort, by which a matrix is transposed."""
    count = len(group)
    wide = count + 1 > np.iinfo(np.int32).max
    index = np.int64 if wide else np.int32
    ones = np.broadcast_to(np.int8(1), count)
    shape = (count, int(group.max()) + 1)
    pointers = np.arange(count + 1, dtype=index)
    matrix = sparse.csr_array((ones, group.astype(index), pointers), shape=shape)
    return np.asarray(matrix.tocsc().indices)


def is_sorted(rows: Rows) -> bool:
    """Whether rows are in the order of groups, and of time within a group."""
    if rows.runs is not None:
        return rows.runs.is_sorted
    group, start = rows.group, rows.start
    later = group[1:] > group[:-1]
    later |= (group[1:] == group[:-1]) & (start[1:] >= start[:-1])
    return bool(later.all())


def sorted_rows(rows: Rows) -> Rows:
    """By group, then by start, then by end; in runs, where there are some."""
    if len(rows) < 2:
        return rows
    if rows.runs is not None:
        if rows.runs.is_sorted:
            return rows
        runs = rows.runs
        order = np.lexsort((runs.first, runs.group))
        if runs.with_spans(runs.group[order], runs.first[order], runs.count[order]).is_sorted:
            low = runs.begin[order]
            ordered = rows.spans(low, low + runs.count[order])
            assert ordered.runs is not None
            return in_runs(ordered.runs.fused(), ordered.columns)
    return with_runs(_sorted(rows))


def _sorted(rows: Rows) -> Rows:
    if not is_sorted(rows):
        small = int(rows.group.max()) < 4 * len(rows) + 1024
        rows = rows.take(
            order_by_group(rows.group) if small else np.argsort(rows.group, kind="stable")
        )
        if not is_sorted(rows):
            rows = rows.take(np.lexsort((rows.end, rows.start, rows.group)))
    if rows.are_points:
        return rows
    same = (rows.group[1:] == rows.group[:-1]) & (rows.start[1:] == rows.start[:-1])
    if (same & (rows.end[1:] < rows.end[:-1])).any():
        rows = rows.take(np.lexsort((rows.end, rows.start, rows.group)))
    return rows


def with_runs(rows: Rows) -> Rows:
    """The same rows, in runs if they lie in few."""
    if rows.runs is not None or not rows.is_plain:
        return rows
    runs = runs_of_events(rows.group, rows.start, rows.end)
    return rows if runs is None else in_runs(runs, rows.columns)


def bits(values: Array) -> Array:
    """A matrix of integers with the digits of a column: equal where its values are, bit by bit."""
    rows = len(values)
    flat = np.ascontiguousarray(values).reshape(rows, -1) if rows else values.reshape(0, 1)
    if flat.dtype.kind == "b":
        return flat.astype(np.uint8)
    if flat.dtype.kind == "U":
        return flat.view(np.uint32)
    return flat.view(np.uint64)


def digests(rows: Rows) -> NDArray[np.uint64]:
    """A number for each row by its end and payload: equal for equal ones."""
    digest = rows.end.astype(np.uint64)
    for values in rows.columns.values():
        for component in bits(values).T if len(rows) else ():
            digest = (digest ^ component.astype(np.uint64)) * _MIX
            digest ^= digest >> np.uint64(29)
    return digest


def equal_rows(a: Rows, b: Rows) -> Mask:
    """Whether row i of one is row i of the other, apart from the weight."""
    same: Mask = (a.group == b.group) & (a.start == b.start) & (a.end == b.end)
    for name, values in a.columns.items():
        left, right = values, b.columns[name]
        if left.dtype.kind == "U":
            same &= left == right
        else:
            same &= (bits(left) == bits(right)).all(axis=1)
    return same


def consolidated(rows: Rows) -> Rows:
    """The net change, in order: a row that comes as often as it goes is left out."""
    if rows.is_plain or not len(rows):
        return sorted_rows(rows)
    rows = rows.take(np.lexsort((digests(rows), rows.start, rows.group)))
    first = np.ones(len(rows), np.bool_)
    first[1:] = ~equal_rows(rows.take(slice(1, None)), rows.take(slice(None, -1)))
    begins = np.flatnonzero(first)
    net = np.add.reduceat(rows.weight.astype(np.int64), begins)
    kept = np.repeat(begins, np.abs(net))
    signs = np.repeat(np.sign(net), np.abs(net)).astype(np.int8)
    answer = rows.take(kept)
    answer = Rows(answer.group, answer.start, answer.end, signs, answer.columns)
    return sorted_rows(answer)


def difference(old: Rows, new: Rows) -> Rows:
    """What must go and come so that the old rows become the new ones."""
    if not len(old):
        return new
    return consolidated(concat([negated(old), new]))
