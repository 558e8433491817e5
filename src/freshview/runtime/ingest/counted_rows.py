"""Multisets of rows as Arrow tables: the last column tells how often a row counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshview.runtime.ingest.columns import COUNT

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    from freshview.runtime.ingest.lazy_imports import pa, pc


def with_count(table: pa.Table, count: int) -> pa.Table:
    """Rows that count so often each."""
    return table.append_column(COUNT, pa.repeat(pa.scalar(count, pa.int64()), table.num_rows))


def by_number(table: pa.Table) -> tuple[pa.Table, list[str]]:
    """A table whose columns are called by number, and these names.

    Arrow takes some names for paths; and a view may have two columns of a name, or one that is
    called like the counts.
    """
    names = [f"c{i}" for i in range(table.num_columns)]
    return table.rename_columns(names), names


def summed(table: pa.Table) -> pa.Table:
    """Each row once, in the order of first occurrence, with the sum of its counts."""
    numbered, [*keys, count] = by_number(table)
    sums = numbered.group_by(keys, use_threads=False).aggregate([(count, "sum")])
    return sums.select([*keys, f"{count}_sum"]).rename_columns(table.column_names)


def net(table: pa.Table) -> pa.Table:
    """The same without the rows that cancel out."""
    sums = summed(table)
    return sums.filter(pc.not_equal(sums.column(sums.num_columns - 1), 0))


def net_of(parts: list[pa.Table]) -> pa.Table:
    """The net rows of several tables, which have the column names of the first one."""
    numbered = [by_number(part)[0] for part in parts]
    rows = net(pa.concat_tables(numbered, promote_options="permissive"))
    return rows.rename_columns(parts[0].column_names)


def difference(old: pa.Table, new: pa.Table) -> pa.Table:
    """New - old: the rows of both that do not cancel out, with a column `__count`.

    >>> old = pa.table({"k": [1, 1, 2]})
    >>> difference(old, pa.table({"k": [1, 3]})).to_pylist()
    [{'k': 1, '__count': -1}, {'k': 2, '__count': -1}, {'k': 3, '__count': 1}]
    """
    change = net_of([with_count(old, -1), with_count(new, 1)])
    return change.rename_columns([*new.column_names, COUNT])
