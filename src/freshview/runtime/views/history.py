"""What changed in a view between versions: multiset differences of what was read, as Arrow."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from freshview.errors import FreshviewError
from freshview.runtime.ingest.columns import COUNT

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    from freshview.runtime.ingest.lazy_imports import pa, pc

MOST_VERSIONS = 1000
"""How many versions back changes are kept, unless `track` is told otherwise."""


def difference(old: pa.Table, new: pa.Table) -> pa.Table:
    """New - old: the rows of both that do not cancel out, with a column `__count`.

    >>> old = pa.table({"k": [1, 1, 2]})
    >>> difference(old, pa.table({"k": [1, 3]})).sort_by("k").to_pylist()
    [{'k': 1, '__count': -1}, {'k': 2, '__count': -1}, {'k': 3, '__count': 1}]
    """
    return _added([_counted(old, -1), _counted(new, 1)], new.column_names)


def merged(parts: list[pa.Table]) -> pa.Table:
    """Several tables of changes as one, without what cancels out."""
    if len(parts) == 1:
        return parts[0]
    return _added([_numbered(p) for p in parts], parts[0].column_names[:-1])


def no_changes(table: pa.Table) -> pa.Table:
    """The table of changes of a view that did not change."""
    return _named(_counted(table.slice(0, 0), 1), table.column_names)


def _counted(table: pa.Table, count: int) -> pa.Table:
    counts = pa.repeat(pa.scalar(count, pa.int64()), table.num_rows)
    return _numbered(table.append_column(COUNT, counts))


def _numbered(table: pa.Table) -> pa.Table:
    """Columns by number: a view may have two of a name, or one that is called like the counts."""
    return table.rename_columns([f"c{i}" for i in range(table.num_columns)])


def _named(table: pa.Table, names: list[str]) -> pa.Table:
    return table.rename_columns([*names, COUNT])


def _added(parts: list[pa.Table], names: list[str]) -> pa.Table:
    whole = pa.concat_tables(parts, promote_options="permissive")
    *keys, count = whole.column_names
    total = whole.group_by(keys).aggregate([(count, "sum")])
    total = total.select([*keys, f"{count}_sum"])
    return _named(total.filter(pc.not_equal(total.column(len(keys)), 0)), names)


class History:
    """The changes of a view, version by version, as far back as they are kept."""

    def __init__(self, name: str, version: int, table: pa.Table, versions: int) -> None:
        self.name = name
        self.first = version
        self.versions = versions
        self._table = table
        self._parts: deque[tuple[int, pa.Table]] = deque()

    def add(self, version: int, table: pa.Table) -> pa.Table | None:
        """Note what the view is at a new version; gives what changed, or None."""
        part = difference(self._table, table)
        if part.num_rows:
            self._table = table
            self._parts.append((version, part))
        self.first = max(self.first, version - self.versions)
        while self._parts and self._parts[0][0] <= self.first:
            self._parts.popleft()
        return part if part.num_rows else None

    def since(self, version: int, now: int) -> pa.Table:
        """What changed after a version."""
        if not isinstance(version, int) or not self.first <= version <= now:
            raise FreshviewError(
                f"the changes of '{self.name}' since version {version!r} are not known",
                instead=f"they are kept from version {self.first} to {now}",
            )
        parts = [part for at, part in self._parts if at > version]
        return merged(parts) if parts else no_changes(self._table)
