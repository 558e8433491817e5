"""Changes of a view merged into a table that has a row for each key, or every row that it ever had.

The statements are SQL that Spark and other databases share. Each may be run again for the same
version: it finds its own work done, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from freshview.errors import FreshviewError
from freshview.runtime.ingest.columns import COUNT
from freshview.runtime.ingest.counted_rows import by_number

VERSION = "__version"
"""The version of changes, and of the rows of a table that has one for each key."""
FROM, UNTIL = "__from", "__until"
"""The versions from which and until which a row of a history was in the view."""


def check_key(view: str, columns: Sequence[str], key: Sequence[str]) -> None:
    """Refuse a key that is not made of columns of a view."""
    for name in key:
        if name not in columns:
            raise FreshviewError(
                f"the key of the sink of '{view}' has '{name}', which is no column of it",
                instead=f"name some of {', '.join(columns)}",
            )


def check_rows(view: str, changes: pa.Table, key: Sequence[str]) -> None:
    """Refuse changes with two new rows of a key: they cannot be told apart in the table."""
    counts = changes.column(COUNT)
    new = changes.filter(pc.greater(counts, 0))
    if not new.num_rows:
        return
    numbered, names = by_number(new.select(list(key)))
    distinct = numbered.group_by(names, use_threads=False).aggregate([]).num_rows
    if distinct < new.num_rows or pc.max(new.column(COUNT)).as_py() > 1:
        raise FreshviewError(
            f"'{view}' has several rows of one key ({', '.join(key)})",
            instead="name columns that tell its rows apart, or append its changes (without a key)",
        )


def last_by_key(changes: pa.Table, key: Sequence[str]) -> pa.Table:
    """Of each key the row that came; the one that went if none came.

    >>> rows = {"k": [1, 1, 2], "s": [5, 6, 7], COUNT: [-1, 1, -1]}
    >>> last_by_key(pa.table(rows), ["k"]).sort_by("k").to_pylist()
    [{'k': 1, 's': 6, '__count': 1}, {'k': 2, 's': 7, '__count': -1}]
    """
    at = pa.array(range(changes.num_rows), pa.int64())
    order = pc.sort_indices(changes.select([COUNT]), sort_keys=[(COUNT, "ascending")])
    arranged = changes.take(order)
    numbered, names = by_number(arranged.select(list(key)))
    last = numbered.append_column("at", at).group_by(names, use_threads=False)
    return arranged.take(last.aggregate([("at", "max")]).column("at_max").sort())


def merge_rows(table: str, source: str, columns: Sequence[str], key: Sequence[str]) -> str:
    """The statement by which a table follows the view: a row for each key, as it is now."""
    named = [*columns, VERSION]
    return (
        f"MERGE INTO {table} AS t USING {source} AS s ON {_same(key)}\n"
        f"WHEN MATCHED AND s.{_q(COUNT)} < 0 THEN DELETE\n"
        f"WHEN MATCHED THEN UPDATE SET {_list(f'{_q(c)} = s.{_q(c)}' for c in named)}\n"
        f"WHEN NOT MATCHED AND s.{_q(COUNT)} > 0 THEN INSERT ({_list(map(_q, named))}) "
        f"VALUES ({_list(f's.{_q(c)}' for c in named)})"
    )


def merge_history(table: str, source: str, columns: Sequence[str], key: Sequence[str]) -> str:
    """The statement that ends the rows that went, and begins those that came."""
    count, now = f"s.{_q(COUNT)}", f"s.{_q(VERSION)}"
    since, until = f"t.{_q(FROM)}", f"t.{_q(UNTIL)}"
    gone = f"{count} < 0 AND {until} IS NULL AND {since} < {now}"
    there = f"{count} > 0 AND {since} = {now}"
    named = [*columns, FROM]
    values = [*(f"s.{_q(c)}" for c in columns), now]
    return (
        f"MERGE INTO {table} AS t USING {source} AS s ON {_same(key)} "
        f"AND (({gone}) OR ({there}))\n"
        f"WHEN MATCHED AND {count} < 0 THEN UPDATE SET {_q(UNTIL)} = {now}\n"
        f"WHEN NOT MATCHED AND {count} > 0 THEN INSERT ({_list(map(_q, named))}, {_q(UNTIL)}) "
        f"VALUES ({_list(values)}, NULL)"
    )


def _same(key: Sequence[str]) -> str:
    return " AND ".join(f"t.{_q(k)} IS NOT DISTINCT FROM s.{_q(k)}" for k in key)


def _list(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _q(name: str) -> str:
    """A quoted name."""
    return "`" + name.replace("`", "``") + "`"
