"""Tuples by columns: arrays of values with what a joiner must know about each tuple.

Integers, dates (in days) and timestamps (in microseconds) are 64-bit integers, doubles are doubles;
texts and decimals are Python's objects. NULL has a place in the array and no validity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from freshview.calculus.rows import Row
from freshview.calculus.types import Kind, Value
from freshview.temporal import Stamps
from freshview.theta.terms import Hashes, Keys, Mask, Numbers

Array: TypeAlias = NDArray[Any]
DTYPES: dict[Kind, type] = {
    "int": np.int64,
    "date": np.int64,
    "timestamp": np.int64,
    "double": np.float64,
    "bool": np.bool_,
    "string": object,
    "decimal": object,
}
_EPOCH, _FIRST_DAY = datetime(1970, 1, 1), date(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Column:
    """The values of a column; where `valid` is false, NULL."""

    kind: Kind
    values: Array
    valid: Mask

    def take(self, rows: Numbers | Mask) -> Column:
        """Some of the rows, by number or by mask."""
        return Column(self.kind, self.values[rows], self.valid[rows])


@dataclass(frozen=True, slots=True)
class Tuples:
    """Tuples of one side, as they travel and as they are stored.

    `hash` is that of the columns that an equality compares, `number` the place in the stream,
    `size` the bytes that a tuple counts for; a deletion has a negative weight.
    """

    columns: tuple[Column, ...]
    key: Keys
    hash: Hashes
    stamps: Stamps
    weight: Numbers
    number: Numbers
    size: Numbers

    def __len__(self) -> int:
        return len(self.key)

    def take(self, rows: Numbers | Mask) -> Tuples:
        """Some of the tuples, by number or by mask."""
        return Tuples(
            tuple(c.take(rows) for c in self.columns),
            self.key[rows],
            self.hash[rows],
            self.stamps.take(rows),
            self.weight[rows],
            self.number[rows],
            self.size[rows],
        )

    def arrays(self) -> list[Array]:
        """All the arrays, in one order."""
        cells = [a for c in self.columns for a in (c.values, c.valid)]
        stamps = [self.stamps.time, self.stamps.position, self.stamps.seen]
        return [*cells, self.key, self.hash, *stamps, self.weight, self.number, self.size]

    def with_arrays(self, arrays: Sequence[Array]) -> Tuples:
        """Tuples of the same columns in other arrays: the inverse of `arrays`."""
        width = 2 * len(self.columns)
        cells, rest = arrays[:width], arrays[width:]
        columns = tuple(
            Column(c.kind, cells[2 * i], cells[2 * i + 1]) for i, c in enumerate(self.columns)
        )
        key, hashes, time, position, seen, weight, number, size = rest
        return Tuples(columns, key, hashes, Stamps(time, position, seen), weight, number, size)


def concat(parts: Sequence[Tuples]) -> Tuples:
    """Tuples one after the other; there must be a part."""
    if len(parts) == 1:
        return parts[0]
    together = zip(*(p.arrays() for p in parts), strict=True)
    return parts[0].with_arrays([np.concatenate(arrays) for arrays in together])


def column(kind: Kind, values: Sequence[Value]) -> Column:
    """A column of Python's values.

    >>> column("int", [3, None]).values.tolist(), column("int", [3, None]).valid.tolist()
    ([3, 0], [True, False])
    """
    valid = np.array([v is not None for v in values], np.bool_)
    cells: Sequence[Value]
    if (code := _CODES.get(kind)) is not None:
        moments = cast("Sequence[datetime | None]", values)
        cells = [0 if v is None else code(v) for v in moments]
    else:
        empty = "" if kind == "string" else Decimal(0) if kind == "decimal" else 0
        cells = [empty if v is None else v for v in values]
    array: Array = np.empty(len(cells), DTYPES[kind])
    array[:] = cells
    return Column(kind, array, valid)


def python_values(column: Column) -> list[Value]:
    """The inverse of `column`."""
    decode = _DECODES.get(column.kind)
    cells: list[Value] = column.values.tolist()
    if decode is not None:
        cells = [decode(v) for v in column.values.tolist()]
    if column.valid.all():
        return cells
    return [v if ok else None for v, ok in zip(cells, column.valid.tolist(), strict=True)]


def python_rows(columns: Sequence[Column]) -> list[Row]:
    """The rows of some columns."""
    return list(zip(*(python_values(c) for c in columns), strict=True))


def byte_sizes(columns: Sequence[Column], rows: int) -> Numbers:
    """How many bytes each row takes as columns: eight a number, its length for a text.

    >>> byte_sizes([column("int", [1, 2]), column("string", ["a", "bcd"])], 2).tolist()
    [17, 19]
    """
    sizes = np.full(rows, 8 * len(columns), np.int64)
    for c in columns:
        if c.kind == "string":
            sizes += np.fromiter(map(len, c.values.tolist()), np.int64, rows)
    return sizes


def _days(day: date) -> int:
    return (day - _FIRST_DAY).days


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


_CODES: dict[Kind, Callable[[datetime], int]] = {"date": _days, "timestamp": _microseconds}
_DECODES: dict[Kind, Callable[[int], Value]] = {
    "date": lambda days: _FIRST_DAY + timedelta(days=days),
    "timestamp": lambda us: _EPOCH + timedelta(microseconds=us),
}
