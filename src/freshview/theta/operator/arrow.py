"""Columns from Arrow and to it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from freshview.calculus.domain import INT_MAX
from freshview.calculus.rows import bad_value, checked, expected
from freshview.calculus.schema import Column as Declared
from freshview.calculus.schema import Relation
from freshview.calculus.types import Kind, Type
from freshview.errors import BadRow
from freshview.theta.local.columns import DTYPES, Column, column, python_values

_TYPES: dict[Kind, pa.DataType] = {
    "int": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}


def arrow_type(declared: Type) -> pa.DataType:
    """The Arrow type of a column.

    >>> str(arrow_type(Type("decimal", 2))), str(arrow_type(Type("date")))
    ('decimal128(38, 2)', 'date32[day]')
    """
    if declared.kind == "decimal":
        return pa.decimal128(38, declared.scale)
    return _TYPES[declared.kind]


def to_arrow(column: Column, declared: Type) -> pa.Array:
    """A column as an Arrow array."""
    kind = declared.kind
    if kind in ("string", "decimal"):
        return pa.array(python_values(column), arrow_type(declared))
    values = column.values.astype(np.int32) if kind == "date" else column.values
    array = pa.array(values, mask=None if column.valid.all() else ~column.valid)
    return array.cast(arrow_type(declared))


def from_arrow(relation: Relation, table: pa.Table, declared: Declared) -> Column:
    """A column of a table, without going through Python's objects where it holds numbers."""
    name, kind = declared.name, declared.type.kind
    _check_names(relation, table.schema.names)
    array = table.column(name)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if kind in ("decimal", "string"):
        alone = Relation(relation.name, (declared,))
        return column(kind, [checked(alone, (v,))[0] for v in array.to_pylist()])
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not _is_read_as(array.type, kind):
        raise BadRow(
            f"{relation.name}.{name} cannot hold Arrow's {array.type}",
            instead=f"expected {expected(declared.type)}",
        )
    try:
        array = array.cast(_TYPES[kind])
    except pa.ArrowInvalid as e:
        raise BadRow(
            f"{relation.name}.{name} cannot hold all its values: {e}",
            instead=f"expected {expected(declared.type)}",
        ) from e
    valid = np.asarray(array.is_valid())
    if not declared.type.nullable and not valid.all():
        raise BadRow(f"{relation.name}.{name} is NOT NULL", instead="declare its type with a '?'")
    if kind in ("date", "timestamp"):
        array = array.cast(pa.int32() if kind == "date" else pa.int64())
    values = np.asarray(array.fill_null(False if kind == "bool" else 0))
    if kind == "double" and not np.isfinite(values).all():
        raise BadRow(f"{relation.name}.{name} is not finite", instead="expected a finite number")
    if kind == "int" and len(values) and values.min() < -INT_MAX:
        raise bad_value(relation, declared, int(values.min()))
    values = values.astype(DTYPES[kind])
    return Column(kind, values + 0.0 if kind == "double" else values, valid)  # there is one zero


def _check_names(relation: Relation, names: list[str]) -> None:
    declared = [c.name for c in relation.columns]
    for name in names:
        if name not in declared:
            raise BadRow(
                f"'{relation.name}' has no column '{name}'",
                instead=f"its columns are {', '.join(declared)}",
            )
    for name in declared:
        if names.count(name) != 1:
            raise BadRow(
                f"the table has {'no' if name not in names else 'more than one'} column '{name}'",
                instead=f"'{relation.name}' needs {', '.join(declared)}",
            )


def _is_read_as(arrow: pa.DataType, kind: Kind) -> bool:
    """Whether values of an Arrow type are those of a kind, without a change of meaning."""
    types = pa.types
    match kind:
        case _ if types.is_null(arrow):
            return True
        case "int":
            return bool(types.is_integer(arrow))
        case "double":
            return bool(types.is_integer(arrow) or types.is_floating(arrow))
        case "bool":
            return bool(types.is_boolean(arrow))
        case "date":
            return bool(types.is_date(arrow))
        case "timestamp":
            return bool(types.is_timestamp(arrow) and arrow.tz is None)
        case _:
            return False
