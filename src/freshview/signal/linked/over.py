"""Signal queries over the views of a database, and their results as views.

What a change of the database does to the views goes into the query, one version at a time, and what
that does to the result goes into a stream of the database, which a view shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np
import pyarrow as pa

from freshview.errors import FreshviewError
from freshview.signal.execute.events import Events
from freshview.signal.execute.intake import COUNT
from freshview.signal.execute.query import Query
from freshview.signal.language.events import EventOperators
from freshview.signal.linked.tables import check_sizes, columns_of, net, rows_of_source, to_rows
from freshview.signal.terms import BadSignal


class View(Protocol):
    """What is needed of a view."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    def to_arrow(self) -> pa.Table:
        """The rows."""

    def changes(self, since: int) -> pa.Table:
        """What changed after a version, with a column `__count`."""

    def subscribe(self, callback: Callable[[int, pa.Table], object]) -> Callable[[], None]:
        """Call a function after every change, until the function that this gives is called."""


class Database(Protocol):
    """What is needed of a database."""

    def execute(self, sql: str) -> object:
        """Declare streams and views."""

    def apply(self, batch: Mapping[str, object]) -> None:
        """Change streams."""

    def view(self, name: str) -> View:
        """The view of a name."""

    @property
    def views(self) -> tuple[object, ...]:
        """All the views, each with its `name`."""

    def still(self) -> AbstractContextManager[int]:
        """While this lasts, nothing changes; gives the version."""


class Follower(Protocol):
    """A query that takes in batches."""

    def push(self, data: object) -> Events:
        """Take in a batch, and say how the result changed."""

    def result(self) -> Events:
        """All that the query says now."""


def sources_of(query: Query, inputs: str | Mapping[str, str]) -> dict[str, str]:
    """The view of each source of a query."""
    names = query.sources
    if isinstance(inputs, str):
        if len(names) != 1:
            raise BadSignal(
                f"'{inputs}' cannot be all of {', '.join(names)}",
                instead="give the view of each source by its name",
            )
        return {names[0]: inputs}
    if set(inputs) != set(names):
        raise BadSignal(
            f"there are views for {', '.join(inputs) or 'no source'}",
            instead=f"give one for each of {', '.join(names)}",
        )
    return dict(inputs)


def over(
    db: Database, plan: EventOperators, inputs: str | Mapping[str, str], *, view: str = ""
) -> Linked:
    """A signal query over views: `inputs` has the view of each source, or that of the only one.

    With `view`, the result is a view of that name, which SQL reads; the stream under it is called
    `<view>_events`, and changes only by this. See `columns_of` for its columns.
    """
    return Linked(db, plan, inputs, view)


class Linked:
    """A signal query that follows views. Its result is that of the last version, or says why not.

    Changes that the query refuses, such as events that overlap, are kept, and tried again together
    with those that come after them: once the views are right again, so is the result.
    """

    def __init__(
        self,
        db: Database,
        plan: EventOperators,
        inputs: str | Mapping[str, str],
        view: str,
        shown: pa.Table | None = None,
        query: Follower | None = None,
    ) -> None:
        """With `shown`, the result goes into a stream of the name `view`, which has these rows.

        Another `query` of the plan may follow elsewhere.
        """
        self._db, self._view = db, view
        self._stream = view if shown is not None else f"{view}_events"
        self._described = plan.query()
        self.query: Follower = query or self._described
        self._inputs = sources_of(self._described, inputs)
        self._refused: dict[str, list[pa.Table]] = {}
        self.problem: FreshviewError | None = None
        """Why the result does not follow, if it does not."""
        self._ends: list[Callable[[], None]] = []
        with db.still() as version:
            self.version = version
            tables = {s: db.view(v).to_arrow() for s, v in self._inputs.items()}
            try:
                self._ends = [
                    db.view(v).subscribe(self._changed)
                    for v in dict.fromkeys(self._inputs.values())
                ]
                self._begin(tables, shown)
            except BaseException:
                self.close()
                raise

    def _begin(self, tables: Mapping[str, pa.Table], shown: pa.Table | None) -> None:
        """Take in the views as they are, and let the view of the result show what comes of it."""
        batch = {s: self._chosen(s, t) for s, t in tables.items()}
        source = self._described.declared(next(iter(tables)))
        time = tables[source.name].schema.field(source.time).type
        check_sizes(self._described)
        self._columns = columns_of(self._described, time)
        change = to_rows(self.query.push(batch), self._columns)
        if not self._view:
            return
        known = {getattr(v, "name", "") for v in self._db.views}
        if shown is None and self._view in known:
            shown = self._db.view(self._view).to_arrow()
        if shown is not None:
            if shown.column_names != [c.name for c in self._columns]:
                raise BadSignal(
                    f"there is a view '{self._view}' of other columns", instead="choose a new name"
                )
            gone = shown.cast(change.select(shown.column_names).schema)
            change = net([change, gone.append_column(COUNT, _minus(len(shown)))])
        else:
            declared = ", ".join(map(str, self._columns))
            self._db.execute(
                f"CREATE STREAM `{self._stream}` ({declared});"
                f"CREATE VIEW `{self._view}` AS SELECT * FROM `{self._stream}`;"
            )
        self._show(change)

    def _chosen(self, source: str, table: pa.Table) -> pa.Table:
        declared = self._described.declared(source)
        return rows_of_source(table, declared.columns, source, self._inputs[source])

    def _changed(self, version: int, part: pa.Table) -> None:
        """Follow all the views to the version that the database has now."""
        if version <= self.version:
            return
        with self._db.still() as now:
            # There was no change between the last call and this one, or it would have called.
            changes = {
                s: self._db.view(v).changes(since=version - 1) for s, v in self._inputs.items()
            }
        self.version = now
        for source, table in changes.items():
            self._refused.setdefault(source, []).append(self._chosen(source, table))
        batch = {s: net(parts) for s, parts in self._refused.items()}
        try:
            change = self.query.push(batch)
        except FreshviewError as e:
            self._refused = {s: [table] for s, table in batch.items()}
            self.problem = e
            raise
        self.problem, self._refused = None, {}
        if self._view:
            self._show(to_rows(change, self._columns))

    def _show(self, change: pa.Table) -> None:
        if len(change):
            self._db.apply({self._stream: change})

    def result(self) -> Events:
        """All that the query says, as of `version`."""
        if self.problem is not None:
            raise BadSignal(
                f"the views have rows that the query refuses: {self.problem}",
                instead="correct them; the result then follows by itself",
            )
        return self.query.result()

    def close(self) -> None:
        """Do not follow the views any more."""
        for end in self._ends:
            end()
        self._ends = []


def _minus(rows: int) -> pa.Array:
    return pa.array(np.full(rows, -1, np.int64))
