"""What changed in a view between versions: what its engine collects, as Arrow tables."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from freshview.calculus.schema import Query
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

    def table(self) -> pa.Table:
        """The rows of the view."""


class TrackedEngine(Protocol):
    """What runs a view whose changes are recorded."""

    @property
    def change_source(self) -> ChangeSource | None:
        """What collects the changes of the view; None where two reads must be compared."""


class TrackedView(Protocol):
    """A view whose changes are recorded."""

    query: Query

    @property
    def engine(self) -> TrackedEngine:
        """What runs it now."""

    def columns(self) -> pa.Table:
        """Its rows as they are."""


class ChangeCollector:
    """Tells the changes of a view: its engine collects them, else two reads are compared.

    Engines may be replaced between changes, and the next one goes on with what was told of the last
    one. They hold the same rows, but for sums of doubles, which may be rounded otherwise: then the
    difference is a change of its own.
    """

    def __init__(self, view: TrackedView) -> None:
        self._view = view
        self._source: ChangeSource | None = None
        self._shown: pa.Table | None = None
        """The rows that were shown last, where no engine collects changes."""
        self._before: pa.Table | None = None
        """Those that were shown before the last change."""
        self._pending: list[pa.Table] = []
        """What is to be told with the next change."""
        self._last_pending: list[pa.Table] = []
        """The same of the last change, which may be refused."""
        self._delta: pa.Table | None = None
        """What the last change did to the view."""
        self._refused: list[pa.Table] = []
        """A change that the engine told and takes back: it will tell that, too."""
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
            self._carry_over()
            source.collect()
            self._source, self._shown, self._refused = source, None, []

    def _carry_over(self) -> None:
        """Tell with the next change what the new engine of the view shows otherwise."""
        if self._shown is not None:
            self._pending.append(difference(self._shown, self._view.columns()))
        elif self._source is not None and any(
            c.type.kind == "double" for c in self._view.query.columns
        ):
            with suppress(FreshviewError):  # it may have lost its state: nothing is known then
                old = [with_count(self._source.table(), -1), self._source.changes()]
                new = with_count(self._view.columns(), 1)
                self._pending.append(net_of([new, *old, *self._refused]))

    def hold(self) -> None:
        """Hold the rows that are shown, as another engine will tell the next change."""
        self._source, self._shown, self._refused = None, self._view.columns(), []

    def end(self) -> pa.Table:
        """After a change: what it changed."""
        if self._source is not None:
            delta = _together([*self._refused, self._source.changes()])
            self._refused = []
        else:
            self._before, self._shown = self._shown, self._view.columns()
            delta = difference(self._before, self._shown)
        self._last_pending, self._pending, self._delta = self._pending, [], delta
        return _together([*self._last_pending, delta])

    def take_back(self) -> None:
        """The change that was told last is refused, and nothing of it shall be told."""
        self._pending = self._last_pending
        if self._source is None:
            self._shown = self._before
        elif self._delta is not None:
            self._refused = [self._delta]

    def nothing(self) -> pa.Table:
        """No row, with the columns of changes."""
        if self._empty is None:
            self._empty = with_count(self._view.columns().slice(0, 0), 1)
        return self._empty


def _together(parts: list[pa.Table]) -> pa.Table:
    return parts[0] if len(parts) == 1 else net_of(parts)


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
        return _together(parts)
