"""Elements of rings in Arrow columns.

Numbers are Arrow columns of their own types. An element of a ring (a cofactor, a pair, a relation)
has no Arrow type: it is sent as text (`element_text.py`), in blocks, logs, snapshots and results
alike. Users read the numbers in a cofactor (`runtime/views/payloads.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column
from freshview.calculus.types import Type
from freshview.distributed.terms import Distributed
from freshview.durable.work import Role
from freshview.errors import NotNative
from freshview.runtime.ingest.columns import arrow_type
from freshview.spark.nodes.element_text import decode, encode


def refuse_elements(distributed: Distributed, role: Role) -> None:
    """Refuse kernels for maps with ring elements: kernels cannot exchange them."""
    temporary = [placement for r in distributed.routines for placement in r.maps]
    temporary += [placement for q in distributed.readouts for placement in q.maps]
    for placement in (*distributed.maps, *temporary):
        if is_element(placement.payload):
            raise NotNative(
                f"the map '{placement.name}' of the {role} holds elements of {placement.payload}, "
                "which kernels do not exchange with other nodes"
            )


def is_element(t: Type) -> bool:
    """Whether values of a type are sent as encoded bytes."""
    return t.kind == "ring"


def encoded(cells: Iterable[object]) -> pa.Array:
    """Elements as a column of bytes.

    >>> from freshview.algebra import Cofactor
    >>> decoded(encoded([Cofactor.of("x", 3), 0]))
    [Cofactor(1, {'x': 3}, {('x', 'x'): 9}), 0]
    """
    return pa.array([encode(x) for x in cells], pa.binary())


def decoded(column: pa.Array | pa.ChunkedArray) -> list[object]:
    """The inverse of `encoded`."""
    return [decode(data) for data in column.to_pylist()]


def values_of(column: pa.Array | pa.ChunkedArray, t: Type) -> list[Any]:
    """The Python values of a column."""
    values: list[Any] = decoded(column) if is_element(t) else column.to_pylist()
    return values


def schema_with_elements(columns: Iterable[Column]) -> pa.Schema:
    """The Arrow schema of rows between nodes."""
    return pa.schema([pa.field(c.name, _arrow(c.type), c.type.nullable) for c in columns])


def _arrow(t: Type) -> pa.DataType:
    return pa.binary() if is_element(t) else arrow_type(t)


def rows_with_elements(columns: Iterable[Column], table: pa.Table) -> list[Row]:
    """The rows of a table with encoded elements, as Python values."""
    cells = [values_of(cell, c.type) for cell, c in zip(table.columns, columns, strict=True)]
    return list(zip(*cells, strict=True))
