"""Events as columns, each with a weight: what comes, what goes, and how two sets differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from freshview.signal.arrays import Array as Array

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Index: TypeAlias = Ints | Mask | slice

_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Rows:
    """Parallel arrays, one entry an event: its group by number, its lifetime, how often it comes.

    A weight is 1 for an event that comes and -1 for one that goes. Payload columns are arrays of
    numbers, or matrices with a row an event.
    """

    group: Ints
    start: Ints
    end: Ints
    weight: NDArray[np.int8]
    columns: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.start)

    def take(self, index: Index) -> Rows:
        """Some of the rows."""
        return Rows(
            self.group[index],
            self.start[index],
            self.end[index],
            self.weight[index],
            {name: values[index] for name, values in self.columns.items()},
        )

    def with_columns(self, columns: Mapping[str, Array]) -> Rows:
        """The same events with another payload."""
        return Rows(self.group, self.start, self.end, self.weight, columns)

    def with_lifetimes(self, start: Ints, end: Ints) -> Rows:
        """The same events at other times."""
        return Rows(self.group, start, end, self.weight, self.columns)

    def inserts(self) -> Rows:
        """Those that come."""
        return self if self.is_plain else self.take(self.weight > 0)

    def deletes(self) -> Rows:
        """Those that go."""
        return self.take(slice(0, 0)) if self.is_plain else self.take(self.weight < 0)

    @property
    def is_plain(self) -> bool:
        """Whether nothing goes."""
        return not len(self) or int(self.weight.min()) > 0


def points(group: Ints, start: Ints, columns: Mapping[str, Array]) -> Rows:
    """Events of one unit of time that come."""
    return Rows(group, start, start + 1, np.ones(len(start), np.int8), columns)


def negated(rows: Rows) -> Rows:
    """What takes rows back."""
    return Rows(rows.group, rows.start, rows.end, -rows.weight, rows.columns)


def concat(parts: Sequence[Rows]) -> Rows:
    """One part after the other; all have the same columns."""
    full = [p for p in parts if len(p)] or list(parts[:1])
    if len(full) == 1:
        return full[0]
    return Rows(
        np.concatenate([p.group for p in full]),
        np.concatenate([p.start for p in full]),
        np.concatenate([p.end for p in full]),
        np.concatenate([p.weight for p in full]),
        {name: np.concatenate([p.columns[name] for p in full]) for name in full[0].columns},
    )


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


def is_sorted(group: Ints, start: Ints) -> bool:
    """Whether rows are in the order of groups, and of time within a group."""
    later = group[1:] > group[:-1]
    later |= (group[1:] == group[:-1]) & (start[1:] >= start[:-1])
    return bool(later.all())


def sorted_rows(rows: Rows) -> Rows:
    """By group, then by start, then by end."""
    if len(rows) < 2:
        return rows
    if not is_sorted(rows.group, rows.start):
        small = int(rows.group.max()) < 4 * len(rows) + 1024
        rows = rows.take(
            order_by_group(rows.group) if small else np.argsort(rows.group, kind="stable")
        )
        if not is_sorted(rows.group, rows.start):
            rows = rows.take(np.lexsort((rows.end, rows.start, rows.group)))
    same = (rows.group[1:] == rows.group[:-1]) & (rows.start[1:] == rows.start[:-1])
    if (same & (rows.end[1:] < rows.end[:-1])).any():
        rows = rows.take(np.lexsort((rows.end, rows.start, rows.group)))
    return rows


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
