"""Tuples as Arrow blocks: how they travel between processes, and how state is written down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from freshview.calculus.schema import Column as Declared
from freshview.temporal import Stamps
from freshview.theta.local.columns import DTYPES, Array, Column, Tuples, column
from freshview.theta.operator.arrow import to_arrow

_META = ("key", "hash", "time", "position", "seen", "weight", "number", "size")


def to_block(tuples: Tuples, declared: Sequence[Declared]) -> pa.RecordBatch:
    """A record batch: the columns by their places, then what joiners know of each tuple."""
    both = zip(tuples.columns, declared, strict=True)
    cells = [to_arrow(c, d.type) for c, d in both]
    stamps = tuples.stamps
    meta = [
        tuples.key,
        tuples.hash,
        stamps.time,
        stamps.position,
        stamps.seen,
        tuples.weight,
        tuples.number,
        tuples.size,
    ]
    names = [*(str(place) for place in range(len(cells))), *_META]
    return pa.record_batch([*cells, *(pa.array(a) for a in meta)], names=names)


def from_block(block: pa.RecordBatch, declared: Sequence[Declared]) -> Tuples:
    """The inverse of `to_block`."""
    columns = tuple(column_of(block.column(str(k)), d) for k, d in enumerate(declared))
    meta = {name: _array(block.column(name)) for name in _META}
    stamps = Stamps(meta["time"], meta["position"], meta["seen"])
    rest = (meta[name] for name in ("weight", "number", "size"))
    return Tuples(columns, meta["key"], meta["hash"], stamps, *rest)


def column_of(array: pa.Array, declared: Declared) -> Column:
    """A column of an array that `to_arrow` wrote."""
    kind = declared.type.kind
    if kind in ("string", "decimal"):
        return column(kind, array.to_pylist())
    valid = np.asarray(array.is_valid())
    if kind in ("date", "timestamp"):
        array = array.cast(pa.int32() if kind == "date" else pa.int64())
    values = np.asarray(array.fill_null(False if kind == "bool" else 0))
    return Column(kind, values.astype(DTYPES[kind]), valid)


def _array(array: pa.Array) -> Array:
    return np.array(array)  # a copy: weights are written to
