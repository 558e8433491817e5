"""Pushed rows in any form, as an Arrow table with counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from freshview.calculus.domain import is_int
from freshview.calculus.rows import checked
from freshview.calculus.schema import Relation
from freshview.errors import BadRow, Place
from freshview.runtime.ingest.change import counted_change, row_change
from freshview.runtime.ingest.columns import COUNT, table_of
from freshview.runtime.ingest.consolidate import too_often
from freshview.spark.io.rows import fit_rows


def counted_table(relation: Relation, rows: object) -> pa.Table:
    """The rows of a relation with their counts; `BadRow` for the first one that does not fit.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> r = Relation("r", (Column("a", INT), Column("b", INT)))
    >>> counted_table(r, [(1, 2)]).to_pylist() == counted_table(r, [((1, 2), 1)]).to_pylist()
    True
    """
    rows = _reusable(rows)
    change = counted_change(relation, rows) if _has_counts(rows) else row_change(relation, rows)
    if change.table is None:
        net = change.net()
        for row, count in net.items():
            if not is_int(count):
                raise too_often(relation.name, row)
        table = table_of(relation.columns, list(net), relation.name)
        return table.append_column(COUNT, pa.array(net.values(), pa.int64()))
    table = _table(change.table)
    if change.counts is None and COUNT in table.column_names:
        change = counted_change(relation, table)
        table = change.table
    fit = _fitted(relation, table)
    if change.counts is None:
        counts = pa.repeat(pa.scalar(1, pa.int64()), fit.num_rows)
    elif len(change.counts) == fit.num_rows:
        counts = pa.array(change.counts, pa.int64())
    else:
        counts = change.each(fit.num_rows)  # refuses
    return fit.append_column(COUNT, counts)


def plain_table(relation: Relation, rows: object) -> pa.Table:
    """The rows of a relation in their order, without counts."""
    change = row_change(relation, _reusable(rows))
    if change.table is None:
        typed = []
        for number, row in enumerate(change.python_rows(), 1):
            try:
                typed.append(checked(relation, row))
            except BadRow as e:
                raise e.located(Place(f"row {number} of '{relation.name}'")) from e.__cause__
        return table_of(relation.columns, typed, relation.name)
    return _fitted(relation, _table(change.table))


def deletion_flags(relation: Relation, deleted: object, size: int) -> list[bool]:
    """For each row whether it is deleted; none is without `deleted`."""
    if deleted is None:
        return [False] * size
    if isinstance(deleted, str | bytes | Mapping) or not isinstance(deleted, Iterable):
        deleted = [deleted]
    flags = deleted.to_pylist() if hasattr(deleted, "to_pylist") else list(deleted)
    flags = [value.item() if hasattr(value, "item") else value for value in flags]
    if len(flags) != size or not all(isinstance(value, bool) for value in flags):
        raise BadRow(
            f"{deleted!r} does not say which of the {size} rows of '{relation.name}' are deleted",
            instead="give a list with True or False for every row",
        )
    return flags


def _fitted(relation: Relation, table: pa.Table) -> pa.Table:
    """A table in the columns and types of a relation; refuse other columns and values."""
    names = [c.name for c in relation.columns]
    left = {name.lower() for name in names}
    for name in table.column_names:
        if name.lower() not in left:
            twice = name.lower() in {n.lower() for n in names}
            raise BadRow(
                f"the table of rows of '{relation.name}' has two columns '{name}'"
                if twice
                else f"'{relation.name}' has no column '{name}'",
                instead=f"its columns are {', '.join(names)}",
            )
        left.remove(name.lower())
    try:
        table.validate(full=True)
    except (pa.ArrowException, UnicodeDecodeError) as e:
        raise BadRow(f"a column of '{relation.name}' cannot be read: {e}") from e
    fit = fit_rows(relation, table)
    if fit.rejected:
        raise BadRow(fit.rejected[0].reason)
    return fit.table


def _reusable(rows: object) -> object:
    """The rows in a form that can be read more than once."""
    if hasattr(rows, "toArrow"):
        return rows.toArrow()  # a DataFrame of Spark's
    return list(rows) if isinstance(rows, Iterator) else rows


def _table(rows: object) -> pa.Table:
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    return pa.table(rows)


def _has_counts(rows: object) -> bool:
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
