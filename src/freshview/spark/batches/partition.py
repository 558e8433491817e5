"""Hash partitioning of whole columns: the same as `distributed.partition.worker` for each row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import DTypeLike, NDArray

from freshview.distributed.partition import NULL, STEP, STEP_2
from freshview.spark.batches.narrow_types import BLOCK_ROWS, RowNumbers, narrow_types

Codes = NDArray[np.uint64]
WorkerNumbers = NDArray[np.integer[Any]]
_DAY = 86_400_000_000
_EXACT = 1 << 53
"""Below it, doubles are exact, and so their quotient by a power of ten is rounded once."""


_NOBODY = np.empty(0, np.int32)

FEW_WORKERS = 6
"""Up to so many workers, rows are selected worker by worker instead of sorted."""


def workers_of(columns: Sequence[pa.Array], rows: int, workers: int) -> WorkerNumbers:
    """For each row the worker of its values in these columns."""
    numbers = np.empty(rows, np.min_scalar_type(workers - 1))
    even = workers & (workers - 1) == 0
    for start in range(0, rows, BLOCK_ROWS):
        end = min(start + BLOCK_ROWS, rows)
        block = [c.slice(start, end - start) for c in columns]
        mixed = _hashes(block, end - start)
        # A division takes longer than all the rest.
        numbers[start:end] = mixed & np.uint64(workers - 1) if even else mixed % np.uint64(workers)
    return numbers


def _hashes(columns: Sequence[pa.Array], rows: int) -> Codes:
    mixed = np.zeros(rows, np.uint64)
    for column in columns:
        mixed ^= _codes(column)
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(STEP)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(STEP_2)
        mixed ^= mixed >> np.uint64(32)
    return mixed


def partition_rows(
    batch: pa.RecordBatch, by: Sequence[int], workers: int, kept: pa.Array | None = None
) -> list[pa.RecordBatch]:
    """The rows of each worker, hashed by the columns at the positions `by`.

    With `kept`, a mask, only the rows that it selects. Their types are narrowed.
    """
    if workers == 1:
        return [narrow_types(batch if kept is None else batch.filter(kept))]
    homes = [
        _rows_by_worker(batch, by, workers, kept, start)
        for start in range(0, batch.num_rows, BLOCK_ROWS)
    ]
    parts = [[places[i] for places in homes] for i in range(workers)]
    order = np.concatenate([_NOBODY, *(places for part in parts for places in part)])
    together = narrow_types(batch, order)
    sizes = [sum(map(len, part)) for part in parts]
    ends = accumulate(sizes)
    return [together.slice(end - size, size) for end, size in zip(ends, sizes, strict=True)]


def _rows_by_worker(
    batch: pa.RecordBatch, by: Sequence[int], workers: int, kept: pa.Array | None, start: int
) -> list[RowNumbers]:
    """The row numbers of each worker in a block."""
    columns = [batch.column(i).slice(start, BLOCK_ROWS) for i in by]
    rows = min(BLOCK_ROWS, batch.num_rows - start)
    if kept is None:
        places = np.arange(start, start + rows, dtype=np.int32)
    else:
        those = kept.slice(start, BLOCK_ROWS)
        columns = [c.filter(those) for c in columns]
        places = (np.flatnonzero(_numpy(those, np.bool_)) + start).astype(np.int32)
    home = workers_of(columns, len(places), workers)
    if workers <= FEW_WORKERS:
        return [places[home == i] for i in range(workers)]
    # Numbers of 8 and 16 bits are sorted by counting, which takes a tenth of the time.
    places = places[np.argsort(home, kind="stable")]
    return np.split(places, np.cumsum(np.bincount(home, minlength=workers))[:-1])


def rows_of_worker(
    batch: pa.RecordBatch, by: Sequence[int], worker: int, workers: int
) -> pa.RecordBatch:
    """The rows of one worker."""
    home = workers_of([batch.column(i) for i in by], batch.num_rows, workers)
    return batch.filter(pa.array(home == worker))


def _codes(column: pa.Array) -> Codes:
    kind = column.type
    filled = _without_null(column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        codes = _text(filled)
    elif pa.types.is_decimal(kind):
        codes = _decimal(filled)
    elif pa.types.is_date32(kind):
        days = filled.cast(pa.int32()).to_numpy(zero_copy_only=False).astype(np.int64)
        codes = (days * _DAY).view(np.uint64)
    elif pa.types.is_timestamp(kind):
        codes = _numpy(filled.cast(pa.timestamp("us")).cast(pa.int64()), np.int64).view(np.uint64)
    elif pa.types.is_boolean(kind):
        codes = _double(_numpy(filled.cast(pa.int8()), np.float64))
    else:
        codes = _double(_numpy(filled, np.float64))
    if column.null_count:
        codes = np.where(_numpy(column.is_null(), np.bool_), np.uint64(NULL), codes)
    return codes


def _numpy(column: pa.Array, kind: DTypeLike) -> Any:
    return column.to_numpy(zero_copy_only=False).astype(kind)


def _without_null(column: pa.Array) -> pa.Array:
    """A column with NULL replaced: its code is set later."""
    if not column.null_count:
        return column
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pc.fill_null(column, "")
    if pa.types.is_boolean(kind):
        return pc.fill_null(column, False)
    zero = pa.scalar(0, pa.int32() if pa.types.is_date32(kind) else pa.int64())
    return pc.fill_null(column, zero.cast(kind))


def _double(numbers: NDArray[np.float64]) -> Codes:
    return (numbers + 0.0).view(np.uint64)


def _text(column: pa.Array) -> Codes:
    encoded = column.dictionary_encode()
    codes = [crc32(s.encode()) for s in encoded.dictionary.to_pylist()]
    table = np.array(codes, np.uint64) if codes else np.zeros(1, np.uint64)
    hashes: Codes = table[_numpy(encoded.indices, np.int64)]
    return hashes


def _decimal(column: pa.Array) -> Codes:
    """Decimals as the nearest doubles, as Python rounds them."""
    if column.type.bit_width != 128:
        column = column.cast(pa.decimal128(38, column.type.scale))
    words = np.frombuffer(column.buffers()[1], np.int64)[2 * column.offset :]
    low, high = words[: 2 * len(column) : 2], words[1 : 2 * len(column) : 2]
    scale = column.type.scale
    small = (high == low >> 63) & (np.abs(low) < _EXACT) if 0 <= scale <= 22 else high != high
    numbers = low / np.float64(10.0**scale)
    for i in np.flatnonzero(~small).tolist():
        numbers[i] = float(column[i].as_py())
    return _double(numbers)
