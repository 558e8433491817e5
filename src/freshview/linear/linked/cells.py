"""A view with row, column and value as a matrix, and what changed of it since it was last read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freshview.linear.kernels.semiring import Array, Semiring
from freshview.linear.language.terms import Input
from freshview.linear.linked.labels import BadCell, Labels

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Columns:
    """The columns of a view, checked: no NULL, and numbers where there must be some."""

    view: str
    row: pa.ChunkedArray
    column: pa.ChunkedArray | None
    value: Array


@dataclass(frozen=True)
class Cells:
    """The cells of a matrix that have a value, by their place row by row; the others are zero."""

    places: Array
    values: Array


def columns(view: str, table: pa.Table, i: Input, ring: Semiring) -> Columns:
    """Row, column and value; a column vector needs no column, a Boolean matrix no value."""
    names, count = table.column_names, table.num_columns
    vector, edges = i.cols.number == 1, ring.name == "boolean"
    if not (count == 3 or (count == 2 and (vector or edges))):
        raise BadCell(
            f"'{view}' has the columns {', '.join(names)}",
            instead=f"a view for {i.name} has three: row, column and value",
        )
    for name, column in zip(names, table.columns, strict=True):
        if column.null_count:
            raise BadCell(
                f"'{view}' has NULL in '{name}'",
                instead="leave such rows out of the view",
            )
    if count == 2 and not vector:
        value: Array = np.ones(table.num_rows, dtype=ring.dtype)
    else:
        value = numbers(view, names[-1], table.column(count - 1), ring)
    between = table.column(1) if count == 3 or not vector else None
    return Columns(view, table.column(0), between, value)


def numbers(view: str, name: str, column: pa.ChunkedArray, ring: Semiring) -> Array:
    """A column of numbers as the cells of a semiring."""
    import pyarrow as pa

    kind = column.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if not (numeric or pa.types.is_boolean(kind)):
        raise BadCell(
            f"'{view}' has '{name}' of type {kind}, which is not a number",
            instead="the last column is the value of the cell",
        )
    if ring.name == "boolean" and pa.types.is_boolean(kind):
        values: Array = np.asarray(column, dtype=np.bool_)
        return values
    try:
        values = np.asarray(column.cast(pa.float64()))
    except pa.ArrowInvalid as e:
        raise BadCell(f"a number in '{name}' of '{view}' is too large for a double: {e}") from None
    if not ring.is_valid(values):
        raise BadCell(f"a number in '{name}' of '{view}' is infinite or not a number")
    return values.astype(ring.dtype)


def cells(c: Columns, rows: Labels, cols: Labels) -> Cells:
    """The cells by their places, in order."""
    at = rows.find(c.row, c.view, "row")
    width = len(cols.keys)
    places = at * width
    if c.column is not None:
        places = places + cols.find(c.column, c.view, "column")
    order = np.argsort(places, kind="stable")
    places = places[order]
    twice = np.flatnonzero(places[1:] == places[:-1])
    if len(twice):
        i, j = divmod(int(places[twice[0]]), width)
        raise BadCell(
            f"'{c.view}' has the cell ({rows.keys[i]!r}, {cols.keys[j]!r}) twice",
            instead="GROUP BY row and column",
        )
    return Cells(places, c.value[order])


def dense(c: Cells, shape: tuple[int, int], ring: Semiring) -> Array:
    """The whole matrix."""
    matrix = np.full(shape, ring.zero, dtype=ring.dtype)
    matrix.reshape(-1)[c.places] = c.values
    return matrix


def changed(old: Cells, new: Cells, width: int, ring: Semiring) -> list[tuple[int, int, float]]:
    """The cells that are not what they were, with their new values."""
    places = np.union1d(old.places, new.places)
    before, after = (_spread(c, places, ring) for c in (old, new))
    differ = np.flatnonzero(before != after)
    i, j = np.divmod(places[differ], width)
    return list(zip(i.tolist(), j.tolist(), after[differ].tolist(), strict=True))


def _spread(c: Cells, places: Array, ring: Semiring) -> Array:
    values: Array = np.full(len(places), ring.zero, dtype=ring.dtype)
    values[np.searchsorted(places, c.places)] = c.values
    return values
