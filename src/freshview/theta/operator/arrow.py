"""Columns from Arrow and to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from freshview.calculus.rows import checked, wrong_arity
from freshview.calculus.schema import Column as Declared
from freshview.calculus.schema import Relation
from freshview.calculus.types import Kind, Type
from freshview.errors import BadRow
from freshview.theta.local.columns import DTYPES, Column, column, python_values

_TYPES: dict[Kind, Any] = {
    "int": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}


def arrow_type(declared: Type) -> Any:
    """The Arrow type of a column.

    >>> str(arrow_type(Type("decimal", 2))), str(arrow_type(Type("date")))
    ('decimal128(38, 2)', 'date32[day]')
    """
    if declared.kind == "decimal":
        return pa.decimal128(38, declared.scale)
    return _TYPES[declared.kind]


def to_arrow(column: Column, declared: Type) -> Any:
    """A column as an Arrow array."""
    kind = declared.kind
    if kind in ("string", "decimal"):
        return pa.array(python_values(column), arrow_type(declared))
    values = column.values.astype(np.int32) if kind == "date" else column.values
    array = pa.array(values, mask=None if column.valid.all() else ~column.valid)
    return array.cast(arrow_type(declared))


def from_arrow(relation: Relation, table: Any, declared: Declared) -> Column:
    """A column of a table, without going through Python's objects where it holds numbers."""
    name, kind = declared.name, declared.type.kind
    if name not in table.schema.names:
        raise wrong_arity(relation, table.num_columns)
    array = table.column(name)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if kind in ("decimal", "string"):
        alone = Relation(relation.name, (declared,))
        return column(kind, [checked(alone, (v,))[0] for v in array.to_pylist()])
    array = array.cast(_TYPES[kind])
    valid = np.asarray(array.is_valid())
    if not declared.type.nullable and not valid.all():
        raise BadRow(f"{relation.name}.{name} is NOT NULL", instead="declare its type with a '?'")
    if kind in ("date", "timestamp"):
        array = array.cast(pa.int32() if kind == "date" else pa.int64())
    values = np.asarray(array.fill_null(False if kind == "bool" else 0))
    if kind == "double" and not np.isfinite(values).all():
        raise BadRow(f"{relation.name}.{name} is not finite", instead="expected a finite number")
    return Column(kind, values.astype(DTYPES[kind]), valid)
