"""Tuples as Arrow blocks: how they travel between processes, and how state is written down.

What a joiner knows of tuples is often the same for all of a batch, as their weights and sizes are;
such a number is written once, into the metadata.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from freshview.calculus.schema import Column as Declared
from freshview.temporal import Stamps
from freshview.theta.local.columns import DTYPES, Array, Column, Tuples, column
from freshview.theta.operator.arrow import to_arrow

_META = ("key", "hash", "time", "position", "seen", "weight", "number", "size")
_SAME = b"same"
"""The name of the metadata: for each array that is left out, its type and its number."""


def to_block(
    tuples: Tuples, declared: Sequence[Declared], marks: Mapping[str, Array] | None = None
) -> pa.RecordBatch:
    """A record batch: the columns by their places, then what joiners know of each tuple.

    `marks` are other numbers of each tuple, for `numbers_of`.
    """
    both = zip(tuples.columns, declared, strict=True)
    columns = {str(k): to_arrow(c, d.type) for k, (c, d) in enumerate(both)}
    stamps = tuples.stamps
    known = [
        tuples.key,
        tuples.hash,
        stamps.time,
        stamps.position,
        stamps.seen,
        tuples.weight,
        tuples.number,
        tuples.size,
    ]
    same: dict[str, tuple[str, float]] = {}
    for name, numbers in {**dict(zip(_META, known, strict=True)), **(marks or {})}.items():
        if name != "key" and len(numbers) and (numbers == numbers[0]).all():
            same[name] = numbers.dtype.str, numbers[0].item()
        else:
            columns[name] = pa.array(numbers)
    block = pa.record_batch(list(columns.values()), names=list(columns))
    return block.replace_schema_metadata({_SAME: json.dumps(same)})


def numbers_of(block: pa.RecordBatch, name: str) -> Array:
    """What each tuple of a block has under a name."""
    same = json.loads((block.schema.metadata or {}).get(_SAME, b"{}"))
    if name in same:
        dtype, number = same[name]
        return np.full(block.num_rows, number, dtype)
    return np.array(block.column(name))  # a copy: weights are written to


def from_block(block: pa.RecordBatch, declared: Sequence[Declared]) -> Tuples:
    """The inverse of `to_block`."""
    columns = tuple(column_of(block.column(str(k)), d) for k, d in enumerate(declared))
    meta = {name: numbers_of(block, name) for name in _META}
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
