"""Rows as users give them, made into tuples: numbers, keys, stamps, hashes and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from freshview.calculus.rows import RowLike, checked
from freshview.calculus.schema import Relation
from freshview.errors import BadRow
from freshview.temporal import Stamps
from freshview.theta.keys import keys_by_content, keys_by_number
from freshview.theta.local.columns import Column, Tuples, byte_sizes, column
from freshview.theta.local.common_kind import hash_rows
from freshview.theta.local.indexes import join_hashes
from freshview.theta.local.predicate import BoundTheta
from freshview.theta.operator.arrow import from_arrow
from freshview.theta.operator.source import Source
from freshview.theta.terms import Numbers, Side


def read_columns(source: Source, rows: object) -> tuple[Column, ...]:
    """The columns of an Arrow table, of a mapping from names to arrays, or of a list of rows."""
    if isinstance(rows, pa.Table | pa.RecordBatch):
        return tuple(from_arrow(source.relation, rows, c) for c in source.relation.columns)
    if isinstance(rows, Mapping):
        table = pa.table({c.name: rows[c.name] for c in source.relation.columns if c.name in rows})
        return read_columns(source, table)
    if not isinstance(rows, Iterable):
        raise BadRow(
            f"the rows of '{source.name}' cannot be {rows!r}",
            instead="give a list of rows, an Arrow table or a mapping from columns to arrays",
        )
    return _from_rows(source.relation, list(rows))


def stamped(
    source: Source,
    side: Side,
    theta: BoundTheta,
    columns: tuple[Column, ...],
    weights: Numbers,
    seed: int,
    before: int,
    seen: int,
) -> Tuples:
    """Tuples of a batch: `before` of this source came earlier, `seen` of the other one."""
    count = len(weights)
    numbers = np.arange(before, before + count, dtype=np.int64)
    if source.time is not None:
        time = columns[source.time].values
    elif source.clock is not None:
        time = source.clock.stamp(count)
    else:
        time = np.zeros(count, np.int64)
    mine = 2 * seed + (side == "S")
    by_content = source.retracts and bool(columns)
    key = (
        keys_by_content(mine, hash_rows(list(columns)))
        if by_content
        else keys_by_number(mine, numbers)
    )
    size = byte_sizes(columns, count)
    stamps = Stamps(time, numbers, np.full(count, seen, np.int64))
    plain = Tuples(columns, key, np.zeros(count, np.uint64), stamps, weights, numbers, size)
    hashes = join_hashes(theta, side, plain)
    return Tuples(columns, key, hashes, stamps, weights, numbers, size)


def _from_rows(relation: Relation, rows: Sequence[RowLike]) -> tuple[Column, ...]:
    checked_rows = [checked(relation, row) for row in rows]
    cells = list(zip(*checked_rows, strict=True)) or [()] * len(relation.columns)
    return tuple(column(c.type.kind, v) for c, v in zip(relation.columns, cells, strict=True))
