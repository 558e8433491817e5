"""Batches from a user, checked and converted to the types of their relation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from freshview.calculus.casts import MOST_DIGITS
from freshview.calculus.rows import bad_value, conform_to, expected
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import Value
from freshview.errors import BadRow
from freshview.runtime.ingest.columns import COUNT, arrow_schema, is_within

Batch: TypeAlias = pa.Table | pa.RecordBatch | Iterable[pa.RecordBatch]
"""Rows of a relation by its column names; `COUNT`, if present, is the multiplicity."""


def validated(relation: Relation, batch: Batch, wanted: Relation | None = None) -> pa.RecordBatch:
    """The rows in the columns and types of a relation, and `COUNT`; `BadRow` if they do not fit.

    With `wanted`, only its columns are returned; the others are validated, too.
    """
    table = _table(relation, batch)
    places = {str(n).lower(): i for i, n in reversed(list(enumerate(table.column_names)))}
    names = [c.name for c in relation.columns]
    for name in names:
        if name.lower() not in places:
            instead = f"'{relation.name}' needs {', '.join(names)}"
            raise BadRow(f"the table has no column '{name}'", instead=instead)
    for name in table.column_names:
        if name != COUNT and name.lower() not in {n.lower() for n in names}:
            instead = f"its columns are {', '.join(names)}"
            raise BadRow(f"'{relation.name}' has no column '{name}'", instead=instead)
    kept = {c.name for c in (wanted or relation).columns}
    columns = []
    for i, f in enumerate(arrow_schema(relation.columns)):
        column = table.column(places[f.name.lower()])
        if f.name in kept:
            columns.append(_column(relation, i, column, f.type))
        elif not _is_fine(relation.columns[i], column, f.type):
            _column(relation, i, column, f.type)
    columns.append(_counts(relation, table))
    return pa.RecordBatch.from_arrays(columns, [*(c for c in names if c in kept), COUNT])


def as_table(relation: Relation, batch: Batch) -> pa.Table:
    """Rows as an Arrow table, not validated yet; `BadRow` if they cannot be read."""
    return _table(relation, batch)


def _table(relation: Relation, batch: Batch) -> pa.Table:
    try:
        if isinstance(batch, pa.Table):
            return batch
        if hasattr(batch, "__arrow_c_stream__") or hasattr(batch, "__arrow_c_array__"):
            return pa.table(batch)
        batches = list(batch)
        return pa.Table.from_batches(batches, None if batches else arrow_schema(relation.columns))
    except (pa.ArrowException, TypeError, ValueError) as e:
        raise BadRow(f"the rows of '{relation.name}' cannot be read: {e}") from e


def _column(relation: Relation, i: int, column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    wanted = relation.columns[i]
    where = f"column '{wanted.name}' of '{relation.name}'"
    instead = f"give {expected(wanted.type)}"
    try:
        _check_buffers(column)
        if pa.types.is_decimal(kind) and pa.types.is_floating(column.type):
            raise BadRow(f"{where} has doubles", instead=instead)
        if pa.types.is_timestamp(column.type) and column.type.tz is not None:
            raise BadRow(f"{where} has a time zone", instead=instead)
        cast = column if _holds(column.type, kind) else column.cast(kind)
    except (pa.ArrowException, UnicodeDecodeError) as e:
        raise BadRow(f"{where} cannot be read: {e}", instead=instead) from e
    one = cast.combine_chunks() if cast.num_chunks != 1 else cast.chunk(0)
    if one.null_count and not wanted.type.nullable:
        raise BadRow(f"{where} has NULL", instead=instead)
    if pa.types.is_floating(kind) and not pc.all(pc.is_finite(one), min_count=0).as_py():
        raise BadRow(f"{where} has NaN or an infinity", instead=instead)
    if not is_within(one):
        raise BadRow(f"{where} has a value that no engine holds", instead=instead)
    return _sized(relation, wanted, one)


def _sized(relation: Relation, wanted: Column, column: pa.Array) -> pa.Array:
    """The values, if they are as large as the column is declared."""
    if not wanted.size or column.null_count == len(column):
        return column
    if wanted.type.kind == "string":
        large = column.filter(pc.greater(pc.utf8_length(column), wanted.size)).slice(0, 1)
    elif pa.types.is_decimal(column.type) and column.type.precision <= wanted.size:
        return column
    else:
        decimal = pa.types.is_decimal(column.type)
        wide = pa.decimal128(MOST_DIGITS, column.type.scale) if decimal else column.type
        ends = pc.min_max(column.cast(wide))
        large = [ends["min"], ends["max"]]
    for value in large:
        if not _has_size(wanted, value.as_py()):
            raise bad_value(relation, wanted, value.as_py())
    return column


def _has_size(wanted: Column, value: Value) -> bool:
    try:
        conform_to(value, wanted)
    except ValueError:
        return False
    return True


def _check_buffers(column: pa.ChunkedArray) -> None:
    """ArrowInvalid if a column is damaged: reading it would crash the process."""
    plain = pa.types.is_primitive(column.type) and not pa.types.is_decimal(column.type)
    column.validate(full=not plain)


def _is_fine(wanted: Column, column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    """Whether a column fits by its type alone; if not, it may fit after a conversion."""
    if column.null_count and not wanted.type.nullable:
        return False
    if wanted.size:
        return False
    if pa.types.is_floating(kind) or not _holds(column.type, kind):
        return False
    return all(is_within(chunk) for chunk in column.chunks)


def _holds(actual: pa.DataType, kind: pa.DataType) -> bool:
    """Whether values of a type are values of another one; decimals may have fewer digits."""
    if pa.types.is_decimal(kind) and pa.types.is_decimal(actual):
        return bool(actual.scale == kind.scale and actual.precision <= kind.precision)
    return bool(actual == kind)


def _counts(relation: Relation, table: pa.Table) -> pa.Array:
    if COUNT not in table.column_names:
        return pa.repeat(pa.scalar(1, pa.int64()), table.num_rows)
    counts = table.column(COUNT)
    if not pa.types.is_integer(counts.type) or counts.null_count:
        instead = "give one integer a row, negative for deletions"
        raise BadRow(f"the counts of '{relation.name}' are not integers", instead=instead)
    try:
        out = counts.cast(pa.int64()).combine_chunks()
    except pa.ArrowInvalid:
        out = None
    if out is None or not is_within(out):
        raise BadRow(
            f"a count of '{relation.name}' does not fit into 64 bits",
            instead="give counts from -9223372036854775807 to 9223372036854775807",
        )
    return out
