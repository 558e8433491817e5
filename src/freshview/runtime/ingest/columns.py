"""Arrow columns and rows: each made from the other, and columns put in the order of a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from freshview.calculus.domain import INT_MAX
from freshview.calculus.rows import Row, left_range, scaled
from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.types import DAY_TIME, Type, Value
from freshview.errors import BadRow

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    from freshview.runtime.ingest.lazy_imports import pa, pc

COUNT = "__count"
"""The column of a table of changes that tells how often a row comes, or goes if it is negative."""

WIDEST = 38
"""Digits of the decimals that views show: all that Arrow's 128 bits hold."""


def arrow_type(t: Type) -> pa.DataType:
    """The Arrow type that shows values of a type.

    >>> str(arrow_type(Type("decimal", 2))), str(arrow_type(Type("date")))
    ('decimal128(38, 2)', 'date32[day]')
    """
    if t.kind == "decimal":
        return pa.decimal128(WIDEST, t.scale)
    if t.span == DAY_TIME.span:
        return pa.duration("us")
    return {
        "int": pa.int64(),
        "double": pa.float64(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
        "bool": pa.bool_(),
        "null": pa.bool_(),
        "string": pa.string(),
    }[t.kind]


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """The Arrow schema of a view or a relation."""
    return pa.schema([pa.field(c.name, arrow_type(c.type), c.type.nullable) for c in columns])


def table_of(columns: Sequence[Column], rows: Sequence[Row], name: str) -> pa.Table:
    """Rows as an Arrow table."""
    schema = arrow_schema(columns)
    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    try:
        arrays = [pa.array(c, f.type) for c, f in zip(cells, schema, strict=True)]
    except (pa.ArrowInvalid, OverflowError) as e:
        raise left_range(name) from e
    return pa.Table.from_arrays(arrays, schema=schema)


def with_intervals(columns: Sequence[Column], table: pa.Table) -> pa.Table:
    """A table of a kernel, in which intervals are whole numbers, as the columns declare them."""
    for i, column in enumerate(columns):
        if column.type.span == DAY_TIME.span:
            values = table.column(i).cast(arrow_type(column.type))
            field = pa.field(column.name, values.type, column.type.nullable)
            table = table.set_column(i, field, values)
    return table


def rows_of(table: pa.Table) -> list[Row]:
    """An Arrow table as rows of Python values.

    >>> rows_of(pa.table({"k": [1, 2], "v": ["a", None]}))
    [(1, 'a'), (2, None)]
    """
    if not table.num_columns:
        return [()] * int(table.num_rows)
    return list(zip(*(_values(c) for c in table.columns), strict=True))


def _values(column: pa.ChunkedArray) -> list[Value]:
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.timestamp("us", column.type.tz))  # as fine as Python's
    values: list[Value] = column.to_pylist()
    return values


def is_within(column: pa.Array) -> bool:
    """Whether all the values are of the domain that all engines have."""
    ends = _ENDS.get(str(column.type))
    if ends is None or not len(column):
        return True
    extremes = pc.min_max(column.view(getattr(pa, f"int{column.type.bit_width}")()))
    low, high = extremes["min"].as_py(), extremes["max"].as_py()
    return low is None or (ends[0] <= low and high <= ends[1])


_DAY = 86_400_000_000
_DAYS = (date.min - date(1970, 1, 1)).days, (date.max - date(1970, 1, 1)).days
_ENDS = {
    "int64": (-INT_MAX, INT_MAX),
    "date32[day]": _DAYS,
    "timestamp[us]": (_DAYS[0] * _DAY, (_DAYS[1] + 1) * _DAY - 1),
}
"""The smallest and the largest value, as integers, by the name of the Arrow type."""


def rows_in(relation: Relation, table: pa.Table) -> list[Row]:
    """The rows of a table for a relation: columns are found by name; values are not checked yet."""
    names = [c.name for c in relation.columns]
    positions = {str(name).lower(): i for i, name in reversed(list(enumerate(table.column_names)))}
    for name in names:
        if name.lower() not in positions:
            raise BadRow(
                f"the table has no column '{name}'",
                instead=f"'{relation.name}' needs {', '.join(names)}",
            )
    wanted = [positions[name.lower()] for name in names]
    for i, name in enumerate(table.column_names):
        if i not in wanted:
            raise BadRow(
                f"'{relation.name}' has no column '{name}'",
                instead=f"its columns are {', '.join(names)}",
            )
    chosen = table.select(wanted)
    try:
        _check_buffers(chosen)
        return _exact(relation, chosen, rows_of(chosen))
    except UnicodeDecodeError as e:
        raise BadRow(f"a text of '{relation.name}' is not UTF-8: {e.object!r}") from e
    except (pa.ArrowException, ValueError, OverflowError) as e:
        raise BadRow(f"a column of '{relation.name}' cannot be read: {e}") from e


def _exact(relation: Relation, table: pa.Table, rows: list[Row]) -> list[Row]:
    """The rows with decimals as their columns write them, where these hold them.

    An Arrow column says once for all its values how many digits stand after the point; that some
    of these are zeros is no reason to refuse them.
    """
    longer = {
        i: c.type.scale
        for i, (c, type_) in enumerate(zip(relation.columns, table.schema.types, strict=True))
        if c.type.kind == "decimal" and pa.types.is_decimal(type_) and type_.scale > c.type.scale
    }
    if not longer:
        return rows
    return [tuple(_shorter(v, longer.get(i)) for i, v in enumerate(row)) for row in rows]


def _shorter(value: Value, scale: int | None) -> Value:
    try:
        return scaled(value, scale) if scale is not None and isinstance(value, Decimal) else value
    except ValueError:
        return value  # it will be refused with its place


def _check_buffers(table: pa.Table) -> None:
    """ArrowInvalid where a table is damaged: to read it would take the process with it.

    Text that is not UTF-8 can be read, and then be shown.
    """
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as e:
        if "UTF8" not in str(e):
            raise


def arranged(table: pa.Table, query: Query) -> pa.Table:
    """The table in the order of the query's ORDER BY, ties by the other columns, NULL smallest.

    A query without ORDER BY has no order.
    """
    if not query.order or table.num_rows < 2:
        return table
    at = [f"c{i}" for i in range(table.num_columns)]
    first = {o.var: o for o in reversed(query.order)}
    keys = []
    for o in query.order:
        direction = "descending" if o.descending else "ascending"
        place = "at_start" if o.nulls_first else "at_end"
        keys.append((at[query.vars.index(o.var)], direction, place))
    for i, var in enumerate(query.vars):
        if var not in first:
            keys.append((at[i], "ascending", "at_start"))
    return table.take(pc.sort_indices(table.rename_columns(at), sort_keys=keys))


def html(table: pa.Table, name: str, limit: int = 20) -> str:
    """The first rows as an HTML table, for notebooks."""
    from html import escape

    head = "".join(f"<th>{escape(str(c))}</th>" for c in table.column_names)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(v)}</td>" for v in row) + "</tr>"
        for row in rows_of(table.slice(0, limit))
    )
    more = f", {table.num_rows - limit} more" if table.num_rows > limit else ""
    count = "1 row" if table.num_rows == 1 else f"{table.num_rows} rows"
    return (
        f"<table><caption>{escape(name)}: {count}{more and ' (' + more[2:] + ')'}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: object) -> str:
    from html import escape

    return "NULL" if value is None else escape(str(value))
