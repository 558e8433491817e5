"""What changed in a view between versions: multiset differences of what was read, as Arrow."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from freshview.errors import FreshviewError
from freshview.runtime.ingest.counted_rows import difference, net_of, with_count

if TYPE_CHECKING:
    import pyarrow as pa

MOST_VERSIONS = 1000
"""How many versions back changes are kept, unless `track` says otherwise."""


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
        if not parts:
            return with_count(self._table.slice(0, 0), 1)
        return parts[0] if len(parts) == 1 else net_of(parts)
