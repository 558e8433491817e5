"""Pushed rows in any form, as an Arrow table with counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from freshview.calculus.schema import Relation
from freshview.errors import BadRow
from freshview.runtime.ingest.change import counted, taken
from freshview.runtime.ingest.columns import table_of
from freshview.spark.io.rows import fit_rows
from freshview.spark.nodes.node import COUNT


def counted_table(relation: Relation, rows: Any) -> pa.Table:
    """The rows of a relation with their counts; `BadRow` for the first one that does not fit.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> r = Relation("r", (Column("a", INT), Column("b", INT)))
    >>> counted_table(r, [(1, 2)]).to_pylist() == counted_table(r, [((1, 2), 1)]).to_pylist()
    True
    """
    if hasattr(rows, "toArrow"):
        rows = rows.toArrow()  # a DataFrame of Spark's
    change = counted(relation, rows) if _has_counts(rows) else taken(relation, rows)
    if change.table is None:
        net = change.net()
        table = table_of(relation.columns, list(net), relation.name)
        return table.append_column(COUNT, pa.array(net.values(), pa.int64()))
    table = change.table if isinstance(change.table, pa.Table) else _table(change.table)
    fit = fit_rows(relation, table)
    if fit.rejected:
        raise BadRow(fit.rejected[0].reason)
    if change.counts is None:
        counts = pa.repeat(pa.scalar(1, pa.int64()), fit.table.num_rows)
    else:
        counts = pa.array(change.counts, pa.int64())
    return fit.table.append_column(COUNT, counts)


def _table(rows: Any) -> pa.Table:
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    return pa.table(rows)


def _has_counts(rows: Any) -> bool:
    """Whether rows come with counts: beside them, or in a column."""
    if isinstance(rows, tuple):
        return len(rows) == 2 and _is_many(rows[0]) and not _is_many(rows[1])
    if isinstance(rows, list):
        return bool(rows) and all(
            isinstance(r, tuple | list) and len(r) == 2 and isinstance(r[0], tuple | list | Mapping)
            for r in rows
        )
    return hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__")


def _is_many(value: object) -> bool:
    return hasattr(value, "__arrow_c_stream__") or (
        isinstance(value, list) and bool(value) and isinstance(value[0], tuple | list | Mapping)
    )
