"""Rows in fewer bytes: what is written down once is read, checked and copied several times."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]

from freshet.spark.run.node import COUNT

FEW = 1024
"""Rows for which it is not worth the calls."""


def tight(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The same numbers in narrower types where all of them fit; nodes take any width.

    >>> many = pa.record_batch({"a": range(5000), "__count": [1] * 5000})
    >>> [str(t) for t in tight(many).schema.types]
    ['int32', 'int8']
    """
    if rows.num_rows < FEW:
        return rows
    names = rows.schema.names
    columns = [
        _narrowed(c, pa.int8() if n == COUNT else pa.int32())
        for n, c in zip(names, rows.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names)


def _narrowed(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if not pa.types.is_int64(column.type):
        return column
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:  # one of them does not fit
        return column
