"""Rows as users give them, made into tuples: numbers, keys, stamps, hashes and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from freshview.calculus.rows import RowLike, checked
from freshview.calculus.schema import Relation
from freshview.errors import BadRow
from freshview.temporal import Stamps
from freshview.temporal.terms import MOST_TIME, Times
from freshview.theta.keys import keys_by_content, keys_by_number
from freshview.theta.local.columns import Column, Tuples, byte_sizes, column
from freshview.theta.local.common_kind import hash_rows
from freshview.theta.local.indexes import join_hashes
from freshview.theta.local.predicate import BoundTheta
from freshview.theta.operator.arrow import from_arrow
from freshview.theta.operator.source import Source
from freshview.theta.terms import Numbers, Side

MOST_COPIES = (1 << 31) - 1
"""How often a row may come or go in one change."""


def read_columns(source: Source, rows: object) -> tuple[Column, ...]:
    """The columns of an Arrow table, of a mapping from names to arrays, or of a list of rows."""
    if isinstance(rows, pa.Table | pa.RecordBatch):
        return tuple(from_arrow(source.relation, rows, c) for c in source.relation.columns)
    if isinstance(rows, Mapping):
        try:
            table = pa.table(dict(rows))
        except (pa.ArrowException, ValueError, TypeError) as e:
            raise BadRow(f"the columns of '{source.name}' cannot be read: {e}") from e
        return read_columns(source, table)
    if hasattr(rows, "__arrow_c_stream__"):
        return read_columns(source, pa.table(rows))
    if not isinstance(rows, Iterable):
        raise BadRow(
            f"the rows of '{source.name}' cannot be {rows!r}",
            instead="give a list of rows, a table or a mapping from columns to arrays",
        )
    return _from_rows(source.relation, list(rows))


def read_changes(
    source: Source, changes: Iterable[tuple[RowLike, int]]
) -> tuple[list[RowLike], Numbers]:
    """Rows and how often each comes or goes; those that do neither are left out."""
    rows, weights = [], []
    for change in changes:
        if not isinstance(change, tuple | list) or len(change) != 2:
            raise BadRow(
                f"a change of '{source.name}' cannot be {change!r}",
                instead="give pairs of a row and how often it comes, such as ((1, 2), -1)",
            )
        row, count = change
        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            raise BadRow(
                f"a row of '{source.name}' cannot come {count!r} times", instead="give an integer"
            )
        if abs(int(count)) > MOST_COPIES:
            raise BadRow(
                f"a row of '{source.name}' cannot come {count} times at once",
                instead=f"give {MOST_COPIES} at most",
            )
        if count:
            rows.append(row)
            weights.append(int(count))
    return rows, np.array(weights, np.int64)


def check_times(source: Source, times: Times) -> None:
    """Refuse times that windows cannot add to."""
    if (
        times.dtype == np.int64
        and len(times)
        and max(-int(times.min()), int(times.max())) > MOST_TIME
    ):
        raise BadRow(
            f"a row of '{source.name}' has a time beyond {MOST_TIME}",
            instead="leave such rows out, or join without a window over time",
        )


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
