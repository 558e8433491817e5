"""Arrow columns of other types, where their values stand for exactly one of the relation's type.

The rules are those of `calculus/convert.py`, for whole columns at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from freshview.calculus.convert import WHOLE_DOUBLES
from freshview.calculus.rows import bad_value, conform
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import Type
from freshview.errors import Place
from freshview.runtime.ingest.columns import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    from freshview.runtime.ingest.lazy_imports import pa, pc


def needs_conversion(source: pa.DataType, t: Type) -> bool:
    """Whether columns of an Arrow type are converted for a column of a relation.

    >>> needs_conversion(pa.float64(), Type("decimal", 2)), needs_conversion(pa.int8(), Type("int"))
    (True, False)
    """
    if pa.types.is_dictionary(source):
        source = source.value_type
    return _conversion(source, t) is not None


def convert_column(relation: Relation, column: Column, values: pa.Array) -> pa.Array:
    """The column as the relation has it; the first value that stands for none is refused."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    convert = _conversion(values.type, column.type)
    assert convert is not None
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    try:
        exact = convert(values, column.type)
    except (pa.ArrowException, OverflowError):
        exact = None
    return exact if exact is not None else _one_by_one(relation, column, values)


def _one_by_one(relation: Relation, column: Column, values: pa.Array) -> pa.Array:
    out = []
    for number, value in enumerate(values.to_pylist(), 1):
        try:
            out.append(None if value is None else conform(value, column.type))
        except ValueError as e:
            at = Place(f"row {number} of '{relation.name}'")
            raise bad_value(relation, column, value, at) from e
    return pa.array(out, arrow_type(column.type))


_Conversion: TypeAlias = "Callable[[pa.Array, Type], pa.Array | None]"
"""Converts all the values of an array; None or an error of Arrow's where some are not exact."""


def _conversion(source: pa.DataType, t: Type) -> _Conversion | None:
    is_text = str(source) in ("string", "large_string", "string_view")
    is_moment = pa.types.is_timestamp(source) and source.tz in (None, "UTC", "+00:00")
    is_day = pa.types.is_date32(source) or pa.types.is_date64(source)
    match t.kind:
        case "int" if pa.types.is_float32(source) or pa.types.is_float64(source):
            return _integers
        case "decimal" if pa.types.is_float32(source) or pa.types.is_float64(source):
            return _decimals
        case "decimal" | "date" | "timestamp" if is_text:
            return _from_texts
        case "date" if is_moment:
            return _days
        case "timestamp" if is_day or (is_moment and source.tz is not None):
            return _moments
    return None


def _integers(values: pa.Array, t: Type) -> pa.Array | None:
    low, high = pc.min_max(values).values()
    ends = [x.as_py() for x in (low, high) if x.is_valid]
    return None if any(abs(x) > WHOLE_DOUBLES for x in ends) else values.cast(pa.int64())


def _decimals(values: pa.Array, t: Type) -> pa.Array | None:
    """Doubles that are the nearest ones to decimals of the column's digits."""
    import numpy as np

    doubles = values.to_numpy(zero_copy_only=False)
    if values.null_count:
        doubles = np.where(values.is_valid().to_numpy(zero_copy_only=False), doubles, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        units = np.rint(doubles.astype(np.float64) * 10.0**t.scale)
        nearest = (units / 10.0**t.scale).astype(doubles.dtype)
        if t.scale > 22 or not np.all((nearest == doubles) & (np.abs(units) <= WHOLE_DOUBLES >> 3)):
            return None
    wide = np.empty((len(units), 2), np.int64)
    wide[:, 0] = units
    wide[:, 1] = wide[:, 0] >> 63
    cells = pa.Array.from_buffers(arrow_type(t), len(units), [None, pa.py_buffer(wide)])
    return pc.if_else(values.is_valid(), cells, None) if values.null_count else cells


def _from_texts(values: pa.Array, t: Type) -> pa.Array:
    return values.cast(pa.large_string()).cast(arrow_type(t))


def _days(values: pa.Array, t: Type) -> pa.Array | None:
    days = values.cast(pa.date32())
    plain = values.cast(pa.timestamp(values.type.unit))
    return days if pc.all(pc.equal(days.cast(plain.type), plain)).as_py() in (True, None) else None


def _moments(values: pa.Array, t: Type) -> pa.Array:
    return values.cast(pa.timestamp("us"))
