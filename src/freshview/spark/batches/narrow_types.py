"""Narrower types for columns: logged rows are read, checked and copied several times."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from freshview.runtime.ingest.columns import COUNT

FEWEST_ROWS = 1024
"""Below so many rows narrowing is not worth the calls."""

BLOCK_ROWS = 1 << 16
"""Rows that are narrowed at once: intermediate results fit into the processor's cache."""

RowNumbers = NDArray[np.int32]
"""Numbers of rows."""


def narrow_types(rows: pa.RecordBatch, order: RowNumbers | None = None) -> pa.RecordBatch:
    """The same numbers in narrower types where all of them fit; nodes accept any width.

    With an `order`, the result has these rows in this order.

    >>> many = pa.record_batch({"a": range(5000), "__count": [1] * 5000})
    >>> [str(t) for t in narrow_types(many).schema.types]
    ['int32', 'int8']
    """
    if order is None and rows.num_rows < FEWEST_ROWS:
        return rows
    names = rows.schema.names
    columns = [
        _narrow_column(c, order, n == COUNT) for n, c in zip(names, rows.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names)


def _narrow_column(column: pa.Array, order: RowNumbers | None, is_count: bool) -> pa.Array:
    rows = len(column) if order is None else len(order)
    if rows >= FEWEST_ROWS and not column.null_count:
        for kind in _narrower(column.type, is_count):
            narrowed = _narrowed(column, order, kind)
            if narrowed is not None:
                return narrowed
    return column if order is None else pc.take(column, pa.array(order), boundscheck=False)


def _narrower(kind: pa.DataType, is_count: bool) -> list[pa.DataType]:
    """The narrower types to try, the narrowest first."""
    if pa.types.is_int64(kind):
        return [pa.int8() if is_count else pa.int32()]
    if pa.types.is_decimal128(kind):
        narrow = [(9, pa.decimal32), (18, pa.decimal64)]
        return [make(digits, kind.scale) for digits, make in narrow if 0 <= kind.scale <= digits]
    return []


def _narrowed(column: pa.Array, order: RowNumbers | None, kind: pa.DataType) -> pa.Array | None:
    """A column of whole or decimal numbers in another type; None if one of them does not fit."""
    wide = column.type.bit_width // 64  # the words of a number, the lower one first
    words = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, wide)
    words = words[column.offset : column.offset + len(column)]
    bits = kind.bit_width
    most = 10**kind.precision if pa.types.is_decimal(kind) else 1 << (bits - 1)
    rows = len(words) if order is None else len(order)
    out = np.empty(rows, f"i{bits // 8}")
    for start in range(0, rows, BLOCK_ROWS):
        some: slice | RowNumbers = (
            slice(start, start + BLOCK_ROWS) if order is None else order[start : start + BLOCK_ROWS]
        )
        numbers = words[some, 0]
        if numbers.min() <= -most or numbers.max() >= most:
            return None
        if wide == 2 and (words[some, 1] != numbers >> 63).any():
            return None
        out[start : start + BLOCK_ROWS] = numbers
    return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(out)])
