"""Tables of pyarrow in forms that every engine takes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from freshview.calculus.rows import expected
from freshview.calculus.schema import Column, Relation
from freshview.errors import BadRow
from freshview.runtime.ingest.convert_columns import convert_column, needs_conversion

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    from freshview.runtime.ingest.lazy_imports import pa, pc

_last: list[tuple[Relation, pa.Schema]] = []
"""The schema that came last and is as usual: batches are mostly like the one before."""


def normalize_types(relation: Relation, table: pa.Table) -> pa.Table:
    """A table of pyarrow in forms that kernels know, so that every engine takes the same ones.

    Floats of 16 bits get 32, runs are written out, and what a library has made of a type of Arrow
    is that again. Values of another type are converted where they stand for exactly one value of
    the relation's. Nested columns are refused.
    """
    schema = table.schema
    if _last and _last[0][0] is relation and schema.equals(_last[0][1]):
        return table
    unusual, extension = _unusual(), pa.BaseExtensionType
    declared = [_declared(relation, field.name) for field in schema]
    others = [
        c is not None and needs_conversion(field.type, c.type)
        for c, field in zip(declared, schema, strict=True)
    ]
    if not any(others) and not any(
        t.id in unusual or isinstance(t, extension) for t in schema.types
    ):
        _last[:] = [(relation, schema)]
        return table
    columns = []
    for field, column, target in zip(schema, table.columns, declared, strict=True):
        if isinstance(field.type, extension):
            column = _stored(column)
        if pa.types.is_run_end_encoded(column.type):
            column = pc.run_end_decode(column)
        if pa.types.is_float16(column.type):
            column = column.cast(pa.float32())
        if pa.types.is_nested(column.type):
            raise _nested(relation, field)
        if target is not None and needs_conversion(column.type, target.type):
            column = convert_column(relation, target, column)
        columns.append(column)
    return type(table).from_arrays(columns, names=schema.names)


def _declared(relation: Relation, name: object) -> Column | None:
    named = (c for c in relation.columns if c.name.lower() == str(name).lower())
    return next(named, None)


def _stored(column: pa.Array) -> pa.Array:
    """What an extension type is made of."""
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([c.storage for c in column.chunks], column.type.storage_type)
    return column.storage


def _nested(relation: Relation, field: pa.Field) -> BadRow:
    column = _declared(relation, field.name)
    words = expected(column.type) if column else "columns of single values"
    name = f"{relation.name}.{field.name}"
    return BadRow(f"{name} cannot hold Arrow's {field.type}", instead=f"expected {words}")


@cache
def _unusual() -> frozenset[int]:
    """The types of Arrow that kernels do not know, by number."""
    cell = pa.int32()
    lists = (pa.list_(cell), pa.large_list(cell), pa.list_(cell, 1), pa.map_(cell, cell))
    views = (pa.list_view(cell), pa.large_list_view(cell))
    unions = (pa.sparse_union([]), pa.dense_union([]))
    others = (pa.float16(), pa.run_end_encoded(cell, cell), pa.struct([]))
    return frozenset(t.id for t in (*lists, *views, *unions, *others))
