"""What a database holds: everything that a snapshot saves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freshview.calculus.clock import Steps, progress_of, steps_from_start, steps_of
from freshview.calculus.schema import Relation
from freshview.errors import BadRow, UnknownName
from freshview.runtime.database.commit import commit
from freshview.runtime.database.declarations import Declaration
from freshview.runtime.database.expiry import Expiry
from freshview.runtime.ingest.change import Change
from freshview.runtime.ingest.event_time import EventTimes, StreamTime
from freshview.runtime.relations.stored_base import AnyBase
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.group import ViewGroup
from freshview.runtime.views.maintained import MaintainedView
from freshview.sql import Catalog

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(slots=True)
class State:
    """Declarations, rows, views and the version; whoever uses it has the lock of the database."""

    settings: DatabaseSettings
    catalog: Catalog = field(default_factory=Catalog)
    declarations: list[Declaration] = field(default_factory=list)
    bases: dict[str, AnyBase] = field(default_factory=dict)
    views: dict[str, MaintainedView] = field(default_factory=dict)
    groups: list[ViewGroup] = field(default_factory=list)
    """The views by what keeps them; each is in one group."""
    readers: dict[str, list[ViewGroup]] = field(default_factory=dict)
    """The groups that read a relation, by its name."""
    version: int = 0
    has_changes: bool = False
    """Whether rows of a stream have arrived, after which static tables take no more."""
    fed: set[str] = field(default_factory=set)
    """The relations that rows have reached."""
    times: EventTimes = field(default_factory=EventTimes)
    """How far the time of streams has come that have one."""
    clock: Steps = field(default_factory=Steps)
    """How far the clock has been moved that views read as now()."""
    progress: dict[str, Steps] = field(default_factory=dict)
    """The steps of the watermarks that views read, by stream."""
    expiry: Expiry = field(default_factory=Expiry)

    def view(self, name: str) -> MaintainedView:
        """The view of a name."""
        view = self.views.get(str(name).lower())
        if view is None:
            known = ", ".join(v.query.name for v in self.views.values()) or "none yet"
            raise UnknownName(f"there is no view '{name}'", instead=f"the views are: {known}")
        return view

    def regroup(self, groups: Iterable[ViewGroup]) -> None:
        """Let groups take the places of those that their views were in; the others stay."""
        new = list(groups)
        moved = {view.number for group in new for view in group.views}
        stay = [g for g in self.groups if not any(v.number in moved for v in g.views)]
        self.groups = [*stay, *new]
        for group in new:
            for view in group.views:
                view.group = group
        self.readers = {name: [g for g in self.groups if g.reads(name)] for name in self.bases}

    def stream(self, name: str) -> Relation:
        """The stream of a name; a static table is refused."""
        relation = self.catalog.relation(name)
        if relation.static:
            raise BadRow(
                f"'{relation.name}' is a static table",
                instead="load it before the first change, or declare it with CREATE STREAM",
            )
        return relation

    def commit(self, changes: Sequence[Change]) -> dict[MaintainedView, pa.Table | None]:
        """Apply changes, without their late rows, as the next version; see `commit.commit`."""
        admission = self.times.admit(changes)
        marks = self.expiry.due(admission.changes, self.times, self.bases.values())
        progress = dict(self._progress(admission.times))
        steps = [change for change, _ in progress.values()]
        whole = [*marks, *admission.changes, *steps]
        changes_by_view = commit(whole, self.bases, self.readers)
        self.times.accept(admission)
        self.times.accept(self.times.admit(steps))
        self.progress |= {name: after for name, (_, after) in progress.items()}
        for mark in marks:
            self.expiry.confirm(mark, self.readers[mark.relation.name])
        self.version += 1
        for change in admission.changes:
            if change.relation.name not in self.fed and change.size:
                self.fed.add(change.relation.name)
                self.has_changes = True
        return changes_by_view

    def _progress(
        self, times: Mapping[str, StreamTime]
    ) -> Iterator[tuple[str, tuple[Change, Steps]]]:
        """The steps of watermarks, by stream, that views read and a change is about to bring."""
        for name, steps in self.progress.items():
            time = times.get(name) or self.times.by_stream.get(name)
            if time is None or time.watermark is None:
                continue
            rows, after = steps.to(time.watermark)
            if rows:
                counts = [count for _, count in rows]
                relation = progress_of(self.catalog.relation(name))
                yield name, (Change(relation, [row for row, _ in rows], counts=counts), after)

    def follow_progress(self) -> None:
        """Take the steps of watermarks from the rows that are kept, and those that are new."""
        for relation in self.catalog.relations.values():
            if relation.time is None or relation.time.promise:
                continue
            base = self.bases.get(progress_of(relation).name)
            if base is not None and relation.name not in self.progress:
                self.progress[relation.name] = steps_of(base.rows, steps_from_start(relation))

    def count_rows(self, rows: int, relation: str) -> None:
        """Count rows of a relation that came one by one, each a version."""
        self.version += rows
        if rows:
            self.has_changes = True
            self.fed.add(relation)
