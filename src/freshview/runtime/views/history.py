"""What changed in a view between versions: what its engine collects, as Arrow tables."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

from freshview.errors import FreshviewError
from freshview.runtime.ingest.counted_rows import difference, net_of, with_count

if TYPE_CHECKING:
    import pyarrow as pa

MOST_VERSIONS = 1000
"""How many versions back changes are kept, unless `track` says otherwise."""


class ChangeSource(Protocol):
    """What collects the changes of a view while they are made."""

    def collect(self) -> None:
        """Collect them from now on."""

    def changes(self) -> pa.Table:
        """What changed since this was last asked, with a column `__count`."""


class TrackedEngine(Protocol):
    """What runs a view whose changes are recorded."""

    @property
    def change_source(self) -> ChangeSource | None:
        """What collects the changes of the view; None where two reads must be compared."""


class TrackedView(Protocol):
    """A view whose changes are recorded."""

    @property
    def engine(self) -> TrackedEngine:
        """What runs it now."""

    def columns(self) -> pa.Table:
        """Its rows as they are."""


class ChangeCollector:
    """Tells the changes of a view: its engine collects them, else two reads are compared.

    Engines may be replaced between changes. What was told of one goes on with the next: where the
    rows that were shown are held, the difference is a change of its own.
    """

    def __init__(self, view: TrackedView) -> None:
        self._view = view
        self._source: ChangeSource | None = None
        self._shown: pa.Table | None = None
        """The rows that were shown last, where no engine collects changes."""
        self._untold: list[pa.Table] = []
        self._empty: pa.Table | None = None

    @property
    def is_collected(self) -> bool:
        """Whether the engine collects changes, so that nobody reads the view for them."""
        return self._source is not None

    def begin(self) -> None:
        """Before a change: have the engine collect, or hold the rows that are shown."""
        source = self._view.engine.change_source
        if source is None:
            if self._source is not None or self._shown is None:
                self.hold()
        elif source is not self._source:
            if self._shown is not None:
                self._untold.append(difference(self._shown, self._view.columns()))
            source.collect()
            self._source, self._shown = source, None

    def hold(self) -> None:
        """Hold the rows that are shown, as another engine will tell the next change."""
        self._source, self._shown = None, self._view.columns()

    def end(self) -> pa.Table:
        """After a change: what it changed."""
        if self._source is not None:
            part = self._source.changes()
        else:
            shown, self._shown = self._shown, self._view.columns()
            part = difference(shown, self._shown)
        if self._untold:
            part = net_of([*self._untold, part])
            self._untold = []
        return part

    def take_back(self, part: pa.Table) -> None:
        """A change that was told is refused: the next one tells that it went."""
        self._untold.append(part)

    def nothing(self) -> pa.Table:
        """No row, with the columns of changes."""
        if self._empty is None:
            self._empty = with_count(self._view.columns().slice(0, 0), 1)
        return self._empty


class History:
    """The changes of a view, version by version, as far back as they are kept."""

    def __init__(self, name: str, version: int, view: TrackedView, versions: int) -> None:
        self.name = name
        self.first = version
        self.versions = versions
        self.collector = ChangeCollector(view)
        self.collector.begin()
        self._parts: deque[tuple[int, pa.Table]] = deque()

    def add(self, version: int, part: pa.Table) -> bool:
        """Record what a version changed; tells whether that is anything."""
        changed: bool = part.num_rows > 0
        if changed:
            self._parts.append((version, part))
        self.first = max(self.first, version - self.versions)
        while self._parts and self._parts[0][0] <= self.first:
            self._parts.popleft()
        return changed

    def since(self, version: int, now: int) -> pa.Table:
        """What changed after a version."""
        if not isinstance(version, int) or not self.first <= version <= now:
            raise FreshviewError(
                f"the changes of '{self.name}' since version {version!r} are not known",
                instead=f"they are kept from version {self.first} to {now}",
            )
        parts = [part for at, part in self._parts if at > version]
        if not parts:
            return self.collector.nothing()
        return parts[0] if len(parts) == 1 else net_of(parts)
