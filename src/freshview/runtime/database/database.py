"""Streams, tables and views in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, SupportsIndex

from freshview.calculus.schema import Query
from freshview.calculus.types import Type
from freshview.errors import FreshviewError
from freshview.plan.options import Strategy
from freshview.program.terms import Program
from freshview.runtime.database.batches import Batch, batch_changes
from freshview.runtime.database.commit import fill
from freshview.runtime.database.declarations import Declaration, Defined
from freshview.runtime.database.declare import (
    Planned,
    declare,
    settings_of,
    static_table,
)
from freshview.runtime.database.fork import HalfChanged, watch
from freshview.runtime.database.route import Routes, route_of
from freshview.runtime.database.session import only_declares, run
from freshview.runtime.database.state import State
from freshview.runtime.database.table_calls import TableCalls
from freshview.runtime.database.tiering import Tiering
from freshview.runtime.database.timed import TimedDatabase
from freshview.runtime.database.writer import Writer
from freshview.runtime.functions import check_callable, from_python, without
from freshview.runtime.ingest.change import Change, Hook, row_change
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.handles import factorized_handle, handle
from freshview.runtime.views.result import Result
from freshview.runtime.views.subscriptions import Subscriptions
from freshview.runtime.views.view import ViewHandle
from freshview.sql.catalog import Catalog

if TYPE_CHECKING:
    from freshview.runtime.views.factorized import FactorizedView

_VALUES = frozenset((int, float, str, bool, type(None), Decimal, date, datetime))
"""Of the first value of a row, where a tuple is plainly one row, and not a tuple of rows."""


class Database(TimedDatabase):
    """Streams, tables and views that stay fresh.

    Every change is a batch, applied in full or not at all: rows are checked before anything
    changes, and an error on the way leaves every view as it was. Any number of threads may use a
    database: one change or read happens at a time.

    The rows of all the relations are kept, besides the maps of the views: so a view that is
    declared later starts with the data so far, and a deletion of what is not there is refused.

    >>> import freshview
    >>> db = freshview.connect()
    >>> _ = db.execute("CREATE STREAM sales (item STRING NOT NULL, amount INT NOT NULL)")
    >>> db.insert("sales", [("pen", 3), ("ink", 4), ("pen", 5)])
    >>> _ = db.execute("CREATE VIEW totals AS "
    ...                "SELECT item, SUM(amount) AS amount FROM sales GROUP BY item")
    >>> db.delete("sales", [("pen", 3)])
    >>> sorted(db.view("totals").rows())
    [('ink', 4), ('pen', 5)]
    """

    def __init__(self, settings: DatabaseSettings) -> None:
        self.state = State(settings)
        self.lock: threading.RLock | HalfChanged = threading.RLock()
        self._hooks: dict[str, list[Hook]] = {}
        self._writers: dict[str, Writer] = {}
        self._singles: dict[str, Writer] = {}
        self._routes = Routes()
        self._stillness = 0
        self._tiering = Tiering(settings)
        self._subscriptions = Subscriptions()
        self.calls = TableCalls(self)
        watch(self)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """A copy would share kernels and locks with this one."""
        raise FreshviewError(
            "a database cannot be copied or pickled",
            instead="save it with snapshot(path), and read it with freshview.restore(path)",
        )

    # -- what is declared --------------------------------------------------------------------------

    @property
    def catalog(self) -> Catalog:
        """What is declared."""
        return self.state.catalog

    @property
    def views(self) -> tuple[ViewHandle, ...]:
        """All the views, in the order of their declaration."""
        return tuple(handle(self, v) for v in self.state.views.values())

    def view(self, name: str) -> ViewHandle:
        """The view of a name."""
        return handle(self, self.state.view(name))

    def factorized(self, name: str) -> FactorizedView:
        """The factorized view of a name: its rows are counted, found and streamed, never listed."""
        return factorized_handle(self, self.state.view(name))

    def program(self, name: str) -> Program:
        """The trigger program that keeps a view fresh."""
        return self.state.view(name).program

    def execute(self, sql: str, file: str = "<text>", *, policy: str = "") -> list[ViewHandle]:
        """Declare the streams, tables and views of a script: all of them, or, on an error, none.

        Gives its views. `file` is what errors call it; `policy` is for views that name none. With
        statements like INSERT, each is done or refused by itself, as in `sql`.
        """
        if only_declares(sql):
            return self.declare_script(sql, file, policy)
        return run(self, sql, file, policy, asks=False)[0]

    def sql(self, sql: str, file: str = "<text>") -> Result:
        """Run a script, one statement after the other; gives what the last one answers.

        A SELECT by itself is asked once; INSERT, UPDATE, DELETE and MERGE are one change each.
        """
        return run(self, sql, file, "", asks=True)[1] or Result.of((), ())

    def declare_script(self, sql: str, file: str, policy: str = "") -> list[ViewHandle]:
        """Declare all that a script of declarations says, or, on an error, nothing."""
        return self.calls.declare(sql, file, policy)

    def define(self, query: Query, strategy: Strategy, *, order: str = "") -> ViewHandle:
        """Declare a view by its term, kept by a strategy of its own.

        `order` is the variable order of the strategy `factorized`, over columns; without it one is
        found.
        """
        with self.still():
            settings = settings_of(self.state.settings, query.name, strategy, order)
            declaration = Defined(query, strategy, order)
            catalog = self.state.catalog.with_view(query)
            (view,) = self.declare(declaration, catalog, [(query, settings)])
            return view

    def declare(
        self, declaration: Declaration, catalog: Catalog, views: Planned
    ) -> list[ViewHandle]:
        """Take over a catalog with new views, which a declaration has made."""
        new = declare(self.state, self._tiering, declaration, catalog, views)
        self.rewire()
        return [handle(self, view) for view in new]

    def register_function(
        self, name: str, function: Callable[..., object], result: Type | str, **how: bool
    ) -> None:
        """Make a Python function known to SQL.

        It must give the same answer for the same values. `result` is its type, such as `double`
        or `decimal(2)`; `double?` if it may answer NULL. Its answer for a NULL is NULL, without it.
        With `vectorized=True` it takes Arrow arrays, one for each argument, and gives one as long.
        """
        known = from_python(name, function, result, **how)
        self.state.catalog = self.state.catalog.with_function(known)

    # -- changes -----------------------------------------------------------------------------------

    def insert(self, relation: str, rows: object) -> None:
        """Insert rows into a stream.

        One row as a tuple or a mapping, rows in a list or another iterable, a mapping from column
        names to NumPy arrays or lists, or a table: pyarrow, pandas, polars, or anything else that
        speaks Arrow's C interface.
        """
        if type(rows) is tuple and (writer := self._single(relation, rows)):
            writer.insert(*rows)
        elif not self._routes.change(self, relation, rows, 1):
            self._change([self._row_change(relation, rows, 1)])

    def delete(self, relation: str, rows: object) -> None:
        """Delete rows, which must be there, from a stream; they come as for `insert`."""
        if type(rows) is tuple and (writer := self._single(relation, rows)):
            writer.delete(*rows)
        elif not self._routes.change(self, relation, rows, -1):
            self._change([self._row_change(relation, rows, -1)])

    def apply(self, batch: Batch, *, decompose: bool = False) -> None:
        """Change several streams at once: rows with their multiplicities, negative to delete.

        For every stream, pairs of a row and its multiplicity; or a pair of rows (in any form that
        `insert` takes) and their multiplicities; or an Arrow table with a column `__count`; or a
        `Product` of factors, or several in a list, which add up. The batch is one change: readers
        see the views before it or after it.

        With `decompose`, rows of a stream that was declared to change by products are given as
        such, if they form some: a look at each row in Python.
        """
        if type(batch) is dict and not decompose and self._routes.apply(self, batch):
            return
        self._change(batch_changes(self.state, batch, self._hooked, decompose=decompose))

    def writer(self, relation: str) -> Writer:
        """What inserts and deletes single rows of a stream the fast way.

        Its functions take the values of a row as arguments. Where the rows are not kept and one
        kernel reads the stream, they are that kernel's own.
        """
        stream = self.state.stream(relation)
        with self.still():
            if stream.name not in self._writers:
                self._writers[stream.name] = Writer(self, stream)
                self.rewire()
            return self._writers[stream.name]

    def on_event(self, relation: str, hook: Hook) -> Callable[[], None]:
        """Let a function see every row of a relation before it is checked and applied.

        `hook(row, count)` gets a tuple and its multiplicity and gives a row, None to drop it, or
        a list of rows. All the rows of the relation become Python values for it, also those of
        Arrow tables. Gives a function that takes the hook away.
        """
        name = self.state.catalog.relation(relation).name
        check_callable("the hook", hook)
        with self.still():
            self._hooks[name] = [*self._hooks.get(name, []), hook]
            self.rewire()

        def end() -> None:
            with self.still():
                self._hooks[name] = without(self._hooks.get(name, []), hook)
                self.rewire()

        return end

    def load(self, relation: str, rows: object) -> int:
        """Add rows to a static table, before the first change of a stream; tells how many."""
        with self.still():
            table = static_table(self.state, relation)
            change = self._hooked(row_change(table, rows))
            self._tiering.prepare([change], self.state)
            try:  # other groups may read the table now
                fill(change, self.state.bases[table.name], self.state.readers[table.name])
            finally:
                self.rewire()  # even after an error the views have other engines
            self.state.fed.add(table.name)
            return change.size

    def _single(self, relation: str, rows: tuple[object, ...]) -> Writer | None:
        """What takes rows one by one, if this is plainly one row, and its relation has a route."""
        if not rows or type(rows[0]) not in _VALUES:
            return None
        if relation not in self._singles and relation in self._routes.by_name:
            self.writer(relation)
        return self._singles.get(relation)

    def _row_change(self, relation: str, rows: object, sign: int) -> Change:
        return self._hooked(row_change(self.state.stream(relation), rows, sign))

    def _hooked(self, change: Change) -> Change:
        hooks = self._hooks.get(change.relation.name)
        return change.through(hooks) if hooks else change

    def change_by(self, change: Callable[[], Change | None]) -> None:
        """Make one change; nothing else changes while it is computed from what is there."""
        with self.still():
            if (computed := change()) is not None:
                self._follow([self._hooked(computed)])
        self._subscriptions.deliver()

    def _change(self, changes: Sequence[Change]) -> None:
        self._follow(changes)
        self._subscriptions.deliver()

    def _follow(self, changes: Sequence[Change]) -> None:
        with self.lock:
            self._advance()
            if self._tiering.prepare(changes, self.state):
                self.rewire()
            for writer in self._writers.values():
                writer.collect()
            try:
                self._commit(changes)
            except BaseException:
                self._routes.are_stale = True  # views may have other kernels now
                raise
            finally:
                if self._routes.are_stale:
                    self.rewire()
            self._tiering.count_rows(changes, self.state)
            if self._routes.by_name and self._tiering.is_building:
                self.rewire()  # it must look at every change from now on

    def _commit(self, changes: Sequence[Change]) -> None:
        state = self.state
        changes_by_view = state.commit(changes)
        followed = dict.fromkeys(g for c in changes for g in state.readers[c.relation.name])
        if self._tiering.replace(changes, followed, state):
            self.rewire()
        for view, part in changes_by_view.items():
            if part is not None:
                self._subscriptions.record(view, state.version, part)

    # -- versions and readers ----------------------------------------------------------------------

    @property
    def version(self) -> int:
        """How many changes there were; a batch is one, and so is a single row."""
        with self.still() as version:
            return version

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """While this lasts, no batch is applied; kernels that are ready take over before."""
        with self.lock:
            self._advance()
            yield

    @contextmanager
    def still(self) -> Iterator[int]:
        """While this lasts, nothing changes, not even by a writer; gives the version."""
        with self.quiet():
            self._stillness += 1
            for writer in self._writers.values():
                writer.pause()
            try:
                yield self.state.version
            finally:
                self._stillness -= 1
                for writer in self._writers.values() if not self._stillness else ():
                    writer.resume()

    @property
    def is_building(self) -> bool:
        """Whether kernels are being built in the background."""
        return self._tiering.is_building

    def after_fork(self, is_whole: bool) -> None:
        """In a new process, go on; or, where a change was under way, refuse to be used."""
        if is_whole:
            self._tiering.forked()
            self._subscriptions.forked()
        else:
            for writer in self._writers.values():
                writer.close()

    def _advance(self) -> None:
        """Let kernels that are ready now take over."""
        if self._tiering.is_building and self._tiering.finish(self.state):
            self.rewire()

    def rewire(self) -> None:
        """Find the shortest way that is open to the rows of every relation now."""
        routes, waits = {}, False
        for relation in self.state.catalog.relations.values():
            name = relation.name
            seen = relation.static or relation.time is not None or self._hooks.get(name)
            groups, base = self.state.readers[name], self.state.bases[name]
            waits = waits or not all(g.is_started for g in groups)
            route = route_of(relation, base, groups) if not (seen or self.is_building) else None
            if route is not None:
                routes[name] = route
            if name in self._writers:
                self._writers[name].wire(route)
        for name in self._writers.keys() - self.state.bases.keys():
            self._writers.pop(name).wire(None)
        self._routes.by_name, self._routes.are_stale = routes, waits
        self._singles = {name: w for name, w in self._writers.items() if name in routes}

    # -- snapshots ---------------------------------------------------------------------------------

    def snapshot(self, path: str | Path) -> None:
        """Write everything to a folder, from which `restore` makes this database again.

        The folder is made if need be. What it held before is replaced when the new snapshot is
        complete, and stays if it cannot be written.
        """
        from freshview.runtime.persistence.manifest import folder_of
        from freshview.runtime.persistence.save import save

        with self.still():
            save(self.state, folder_of(path))
