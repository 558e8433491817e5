"""Arrow tables from sources, converted to the types of a relation; malformed rows are rejected.

Columns are converted as a whole. Only if that fails, each value is converted by itself, so that one
malformed row slows down its column and not the batch.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from freshview.calculus.rows import bad_value, conform
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import Value
from freshview.errors import BadRow, FreshviewError
from freshview.runtime.ingest import csv
from freshview.runtime.ingest.columns import arrow_schema, arrow_type, is_within

CORRUPT = "__corrupt"
"""The column with the text of an unreadable record, else NULL."""


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that does not fit its relation, with the reason."""

    relation: str
    reason: str
    row: str


@dataclass
class TypedRows:
    """Typed rows of a relation, their positions in the input, and the rejected rows."""

    table: pa.Table
    at: pa.Array
    rejected: list[RejectedRow] = field(default_factory=list)


def fit_rows(relation: Relation, table: pa.Table, *, delimiter: str = "") -> TypedRows:
    """The rows of a table in the types of the relation; columns are matched by name.

    With a `delimiter` the texts are fields of CSV lines: an empty one is NULL, or the empty text in
    a column without NULL, and an unreadable record is parsed again as a line.

    >>> from freshview.calculus.types import INT
    >>> r = Relation("r", (Column("a", INT),))
    >>> got = fit_rows(r, pa.table({"a": ["1", "x", None]}))
    >>> got.table.to_pylist(), [one.row for one in got.rejected]
    ([{'a': 1}], ['{"a": "x"}', '{"a": null}'])
    """
    table, at, again = _set_apart(relation, table, delimiter)
    positions = {name.lower(): i for i, name in reversed(list(enumerate(table.column_names)))}
    reasons: dict[int, str] = {}
    columns = []
    for c in relation.columns:
        if c.name.lower() not in positions:
            raise BadRow(
                f"the rows for '{relation.name}' have no column '{c.name}'",
                instead=f"its columns are {', '.join(c.name for c in relation.columns)}",
            )
        values = one_array(table.column(positions[c.name.lower()]))
        columns.append(_column(relation, c, values, bool(delimiter), reasons))
    typed = pa.Table.from_arrays(columns, schema=arrow_schema(relation.columns))
    rejected = list(again.rejected)
    if reasons:
        for i, reason in sorted(reasons.items()):
            row = {n: _plain(v[i]) for n, v in zip(table.column_names, table.columns, strict=True)}
            rejected.append(RejectedRow(relation.name, reason, json.dumps(row, default=str)))
        good = pa.array([i for i in range(typed.num_rows) if i not in reasons], pa.int64())
        typed, at = typed.take(good), at.take(good)
    if again.table.num_rows:
        typed, at = pa.concat_tables([typed, again.table]), pa.concat_arrays([at, again.at])
        order = pc.sort_indices(at)
        typed, at = typed.take(order), at.take(order)
    return TypedRows(typed, at, rejected)


def _set_apart(
    relation: Relation, table: pa.Table, delimiter: str
) -> tuple[pa.Table, pa.Array, TypedRows]:
    """The readable records, their positions, and the result of parsing the others again."""
    empty = pa.Table.from_pylist([], schema=arrow_schema(relation.columns))
    again = TypedRows(empty, pa.array([], pa.int64()))
    everywhere = pa.array(np.arange(table.num_rows))
    if CORRUPT not in table.column_names:
        return table, everywhere, again
    corrupt = table.column(CORRUPT)
    if corrupt.null_count == len(corrupt):
        return table.drop_columns([CORRUPT]), everywhere, again
    rows, at = [], []
    for i, text in enumerate(corrupt.to_pylist()):
        if text is None:
            continue
        try:
            parsed = list(csv.parse(iter([text]), "", relation, delimiter or ","))
            rows += parsed
            at += [i] * len(parsed)
        except FreshviewError as e:
            reason = f"{e.what}; {e.instead}" if e.instead else e.what
            again.rejected.append(RejectedRow(relation.name, reason, text))
    if rows:
        cells = zip(*rows, strict=True)
        arrays = [pa.array(c, f.type) for c, f in zip(cells, empty.schema, strict=True)]
        again.table = pa.Table.from_arrays(arrays, schema=empty.schema)
        again.at = pa.array(at, pa.int64())
    fine = one_array(pc.is_null(corrupt))
    return table.filter(fine).drop_columns([CORRUPT]), everywhere.filter(fine), again


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """The chunks of a column as one array."""
    column = column.combine_chunks()
    return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column


def _column(
    relation: Relation, c: Column, values: pa.Array, fields: bool, reasons: dict[int, str]
) -> pa.Array:
    """The typed values of a column; those that do not fit are NULL and have a reason."""
    if fields and _is_text(values.type):
        values = _unquoted(c, values)
    typed = _cast(c, values)
    if typed is None:
        typed = _one_by_one(relation, c, values, reasons)
    if not c.type.nullable and typed.null_count:
        for i in pc.indices_nonzero(pc.is_null(typed)).to_pylist():
            reasons.setdefault(i, str(bad_value(relation, c, None)))
    return typed


def _unquoted(c: Column, values: pa.Array) -> pa.Array:
    """Empty fields of CSV lines: NULL, or the empty text in a column without NULL."""
    if c.type.kind == "string" and not c.type.nullable:
        return pc.fill_null(values, "")
    return pc.if_else(pc.equal(values, ""), pa.scalar(None, values.type), values)


_FAST = {
    "int": pa.types.is_integer,
    "decimal": lambda t: pa.types.is_decimal(t) or pa.types.is_integer(t),
    "double": lambda t: pa.types.is_floating(t) or pa.types.is_integer(t),
    "date": pa.types.is_date,
    "timestamp": lambda t: pa.types.is_timestamp(t) and t.tz is None,
    "bool": pa.types.is_boolean,
    "string": lambda t: False,
}


def _is_text(t: pa.DataType) -> bool:
    return bool(pa.types.is_string(t) or pa.types.is_large_string(t))


def _cast(c: Column, values: pa.Array) -> pa.Array | None:
    """All the values converted at once, or None if one of them does not fit."""
    target = arrow_type(c.type)
    if pa.types.is_null(values.type):
        return values.cast(target)
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        # Spark's own timestamps are instants: their UTC time is kept.
        values = values.cast(pa.timestamp(values.type.unit, "UTC")).cast(
            pa.timestamp(values.type.unit)
        )
    text = _is_text(values.type)
    if not text and not _FAST[c.type.kind](values.type):
        return None
    if text and c.type.kind == "int" and pc.any(pc.match_substring(values, "x")).as_py():
        return None  # Arrow reads 0x10 as a number; no database does
    try:
        typed = values.cast(target)
    except pa.ArrowException:
        return None
    if not is_within(typed):
        return None
    if c.type.kind == "double" and not pc.all(pc.is_finite(typed)).as_py() and len(typed):
        if typed.null_count < len(typed):
            return None
    return pc.add(typed, 0.0) if c.type.kind == "double" else typed  # there is one zero


def _one_by_one(
    relation: Relation, c: Column, values: pa.Array, reasons: dict[int, str]
) -> pa.Array:
    good: list[object] = []
    for i in range(len(values)):
        value = _plain(values[i])
        try:
            good.append(value_of(c, value))
        except (ValueError, TypeError, OverflowError):
            reasons.setdefault(i, str(bad_value(relation, c, value)))
            good.append(None)
    return pa.array(good, arrow_type(c.type))


def _plain(scalar: pa.Scalar) -> object:
    """A Python value, or words for a timestamp that Python cannot represent."""
    try:
        value = scalar.as_py()
    except (ValueError, OverflowError):
        return "a moment outside of the years 1 to 9999"
    # Where pandas is there, it is asked for nanoseconds.
    return f"a moment finer than microseconds: {value}" if _is_finer(value) else value


def _is_finer(value: object) -> bool:
    return bool(getattr(value, "nanosecond", 0))


def value_of(c: Column, value: Any) -> Value:
    """A value in the type of its column, also from its text; ValueError if it does not fit."""
    if value is None:
        return None  # NULL is checked for the whole column
    if isinstance(value, str) and c.type.kind != "string":
        value = csv.READERS[c.type.kind](value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return conform(value, c.type)


def names_of(relation: Relation) -> Sequence[str]:
    """The columns of a relation."""
    return [c.name for c in relation.columns]
