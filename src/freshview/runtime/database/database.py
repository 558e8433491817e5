"""Streams, tables and views in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from freshview.calculus.schema import Query, Relation
from freshview.calculus.scope import relations
from freshview.calculus.types import Type
from freshview.errors import BadRow, BadValue, FreshviewError, Place, UnknownName
from freshview.factorized.order import read_order
from freshview.plan.options import Strategy
from freshview.program.terms import Program
from freshview.runtime.database.base import Base
from freshview.runtime.database.commit import commit, fill
from freshview.runtime.database.declarations import Declaration, Defined, Script
from freshview.runtime.database.engines import Engines
from freshview.runtime.database.fork import HalfChanged, watch
from freshview.runtime.database.functions import check_callable, from_python
from freshview.runtime.database.serve import AnyBase
from freshview.runtime.database.settings import Settings
from freshview.runtime.database.stored_base import StatelessBase
from freshview.runtime.ingest.change import Change, Hook, taken
from freshview.runtime.ingest.products import Combined, decomposed, given
from freshview.runtime.ingest.writer import Writer
from freshview.runtime.views.factorized import FactorizedView, handle
from freshview.runtime.views.subscriptions import Subscriptions
from freshview.runtime.views.view import Maintained, ViewHandle
from freshview.sql import Catalog, load

Batch: TypeAlias = Mapping[str, Any]


class Database:
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

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._catalog = Catalog()
        self._declared: list[Declaration] = []
        self._bases: dict[str, AnyBase] = {}
        self._views: dict[str, Maintained] = {}
        self._readers: dict[str, list[Maintained]] = {}
        self._hooks: dict[str, list[Hook]] = {}
        self._writers: dict[str, Writer] = {}
        self._lock: threading.RLock | HalfChanged = threading.RLock()
        self._version = 0
        self._changed = False
        self._fed: set[str] = set()
        self._stillness = 0
        self._engines = Engines(settings)
        self._followers = Subscriptions()
        watch(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A copy would share kernels and locks with this one."""
        raise FreshviewError(
            "a database cannot be copied or pickled",
            instead="save it with snapshot(path), and read it with freshview.restore(path)",
        )

    # -- what is declared --------------------------------------------------------------------------

    @property
    def catalog(self) -> Catalog:
        """What is declared."""
        return self._catalog

    @property
    def views(self) -> tuple[ViewHandle, ...]:
        """All the views, in the order of their declaration."""
        return tuple(handle(self, v) for v in self._views.values())

    def view(self, name: str) -> ViewHandle:
        """The view of a name."""
        return handle(self, self._view(name))

    def factorized(self, name: str) -> FactorizedView:
        """The factorized view of a name: its rows are counted, found and streamed, never listed."""
        found = self.view(name)
        if not isinstance(found, FactorizedView):
            raise UnknownName(
                f"'{found.name}' is an ordinary view",
                instead="read it with view(), or declare it with CREATE FACTORIZED VIEW",
            )
        return found

    def program(self, name: str) -> Program:
        """The trigger program that keeps a view fresh."""
        return self._view(name).program

    def execute(self, sql: str, file: str = "<text>") -> list[ViewHandle]:
        """Declare the streams, tables and views of a script: all of them, or, on an error, none.

        Gives the views that the script declares. `file` is what complaints call the script.
        """
        with self.still():
            catalog, queries = load(sql, file, self._catalog)
            views = [(q, self._settings) for q in queries]
            return self._declare(Script(sql, file), catalog, views)

    def define(self, query: Query, strategy: Strategy, *, order: str = "") -> ViewHandle:
        """Declare a view by its term, kept by a strategy of its own.

        `order` is the variable order of the strategy `factorized`, over columns; without it one is
        found.
        """
        with self.still():
            orders = {query.name: read_order(order)} if order else {}
            settings = replace(self._settings, strategy=strategy, orders=orders)
            declared = Defined(query, strategy, order)
            catalog = self._catalog.with_view(query)
            (made,) = self._declare(declared, catalog, [(query, settings)])
            return made

    def _declare(
        self, declared: Declaration, catalog: Catalog, views: list[tuple[Query, Settings]]
    ) -> list[ViewHandle]:
        """Take new relations and views over, filled with the data so far; all or none."""
        with self.still():
            bases = dict(self._bases)
            for relation in catalog.relations.values():
                kept = Base if self._settings.keep_rows else StatelessBase
                bases.setdefault(relation.name, kept(relation))
            new = {
                q.name.lower(): self._maintain(q, catalog, bases, settings) for q, settings in views
            }
            self._engines.equip(list(new.values()), bases)
            for view in new.values():
                try:
                    view.start()  # now, so that a view that cannot be filled is not declared
                except BadValue as e:
                    e.at = Place(f"view '{view.query.name}' over the rows that are there")
                    raise
            # The views hold this very dictionary, where kernels take the places of dictionaries.
            for known in self._views.values():
                known.share(bases)
            self._catalog, self._bases = catalog, bases
            self._views.update(new)
            self._readers = {
                name: [v for v in self._views.values() if v.reads(name)] for name in bases
            }
            self._declared.append(declared)
            self.rewire()
            return [handle(self, v) for v in new.values()]

    def _maintain(
        self,
        query: Query,
        catalog: Catalog,
        bases: Mapping[str, AnyBase],
        settings: Settings,
    ) -> Maintained:
        read = relations(query.term)
        used = [r for r in catalog.relations.values() if r.name in read]
        for r in used:
            if r.name in self._fed and isinstance(bases[r.name], StatelessBase):
                raise FreshviewError(
                    f"'{query.name}' comes after rows of '{r.name}', which are not kept",
                    instead="declare views before the first rows, or connect with keep_rows=True",
                )
        view = Maintained(query, used, bases, catalog.functions, settings)
        view.seen = sum(bases[r.name].size for r in used)
        return view

    def register_function(
        self, name: str, function: Callable[..., Any], result: Type | str
    ) -> None:
        """Make a Python function known to SQL.

        It must give the same answer for the same values. `result` is its type, such as `double`
        or `decimal(2)`; `double?` if it may answer NULL. It is not called with NULL: a NULL among
        the arguments makes the answer NULL.
        """
        self._catalog = self._catalog.with_function(from_python(name, function, result))

    # -- changes -----------------------------------------------------------------------------------

    def insert(self, relation: str, rows: Any) -> None:
        """Insert rows into a stream.

        One row as a tuple or a mapping, rows in a list or another iterable, a mapping from column
        names to NumPy arrays or lists, or a table: pyarrow, pandas, polars, or anything else that
        speaks Arrow's C interface.
        """
        self._change([self._taken(relation, rows, 1)])

    def delete(self, relation: str, rows: Any) -> None:
        """Delete rows, which must be there, from a stream; they come as for `insert`."""
        self._change([self._taken(relation, rows, -1)])

    def apply(self, batch: Batch, *, decompose: bool = False) -> None:
        """Change several streams at once: rows with their multiplicities, negative to delete.

        For every stream, pairs of a row and its multiplicity; or a pair of rows (in any form that
        `insert` takes) and their multiplicities; or an Arrow table with a column `__count`; or a
        `Product` of factors, or several in a list, which add up. The batch is one change: readers
        see the views before it or after it.

        With `decompose`, rows of a stream that was declared to change by products of two groups
        of columns are given as such, if they form some: a look at each row in Python that pays
        where a row costs more than that.
        """
        if not isinstance(batch, Mapping):
            raise BadRow(
                f"a batch cannot be {batch!r}",
                instead="give a mapping from the names of streams to their changes",
            )
        changes = []
        for name, rows in batch.items():
            stream = self._stream(name)
            change = self._hooked(given(stream, rows))
            if decompose and not isinstance(change, Combined):
                change = decomposed(change, self._groups(stream))
            changes.append(change)
        self._change(changes)

    def _groups(self, stream: Relation) -> Sequence[Sequence[str]]:
        for name, groups in self._settings.products.items():
            if name.lower() == stream.name.lower():
                columns = {c.name.lower(): c.name for c in stream.columns}
                return [[columns.get(c.lower(), c) for c in group] for group in groups]
        return ()

    def writer(self, relation: str) -> Writer:
        """What inserts and deletes single rows of a stream the fast way.

        Its functions take the values of a row as arguments. Where the rows are not kept and one
        kernel reads the stream, they are that kernel's own.
        """
        stream = self._stream(relation)
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
        name = self._catalog.relation(relation).name
        check_callable("the hook", hook)
        with self.still():
            self._hooks[name] = [*self._hooks.get(name, []), hook]
            self.rewire()

        def end() -> None:
            with self.still():
                left = list(self._hooks.get(name, []))
                if hook in left:
                    left.remove(hook)
                self._hooks[name] = left
                self.rewire()

        return end

    def load(self, relation: str, rows: Any) -> int:
        """Add rows to a static table, before the first change of a stream; tells how many."""
        table = self._catalog.relation(relation)
        if not table.static:
            raise BadRow(f"'{table.name}' is a stream", instead="use insert")
        change = self._hooked(taken(table, rows))
        with self.still():
            views = self._readers[table.name]
            if self._changed and views:
                raise BadRow(
                    f"'{table.name}' is a static table, and changes have arrived",
                    instead="load it first, or declare it with CREATE STREAM",
                )
            self._engines.keep([change], self._bases)
            try:
                fill(change, self._bases[table.name], views)
            finally:
                self.rewire()  # even after an error the views have other servers
            self._fed.add(table.name)
            return change.size

    def _taken(self, relation: str, rows: Any, sign: int) -> Change:
        return self._hooked(taken(self._stream(relation), rows, sign))

    def _hooked(self, change: Change) -> Change:
        hooks = self._hooks.get(change.relation.name)
        return change.through(hooks) if hooks else change

    def _stream(self, name: str) -> Relation:
        relation = self._catalog.relation(name)
        if relation.static:
            raise BadRow(
                f"'{relation.name}' is a static table",
                instead="load it before the first change, or declare it with CREATE STREAM",
            )
        return relation

    def _change(self, changes: Sequence[Change]) -> None:
        with self._lock:
            self._advance()
            self._engines.keep(changes, self._bases)
            self._commit(changes)
            self._engines.count(changes, self._views, self._bases)
        self._followers.tell()

    def _commit(self, changes: Sequence[Change]) -> None:
        shown = commit(changes, self._bases, self._readers)
        self._version += 1
        if self._engines.replace(changes, shown, self._bases):
            self.rewire()
        for change in changes:
            if change.relation.name not in self._fed and change.size:
                self._fed.add(change.relation.name)
                self._changed = True
        for view, table in shown.items():
            if table is not None:
                self._followers.note(view, self._version, table)

    # -- versions and readers ----------------------------------------------------------------------

    @property
    def version(self) -> int:
        """How many changes there were; a batch is one, and so is a single row."""
        with self.still() as version:
            return version

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """While this lasts, no batch is applied; kernels that are ready take over before."""
        with self._lock:
            self._advance()
            yield

    @contextmanager
    def still(self) -> Iterator[int]:
        """While this lasts, nothing changes, not even by a writer; gives the version."""
        with self.quiet():
            self._stillness += 1
            for writer in self._writers.values():
                self.collect(writer)
            try:
                yield self._version
            finally:
                self._stillness -= 1
                for writer in self._writers.values() if not self._stillness else ():
                    writer.divert(False)

    def collect(self, writer: Writer) -> None:
        """Count the rows that a writer gave to a kernel by itself; from now on it asks."""
        taken = writer.divert(True)
        self._version += taken
        if taken and writer.instance is not None:
            self._changed = True
            self._fed.update(r.name for r in writer.instance.kernel.relations)

    def _advance(self) -> None:
        """Let kernels that are ready now take over."""
        if self._engines.busy and self._engines.finish(self._views, self._bases):
            self.rewire()

    def rewire(self) -> None:
        """Give every writer the shortest way that is open to it now."""
        for writer in self._writers.values():
            views = self._readers[writer.relation.name]
            base = self._bases[writer.relation.name]
            plain = not self._hooks.get(writer.relation.name)
            fit = plain and all(v.built and v.history is None for v in views)
            writer.wire(base, [v.server for v in views] if fit else None)

    # -- snapshots ---------------------------------------------------------------------------------

    def snapshot(self, path: str | Path) -> None:
        """Write everything to a folder, from which `restore` makes this database again.

        The folder is made if need be. What it held before is replaced when the new snapshot is
        complete, and stays if it cannot be written.
        """
        from freshview.runtime.persistence.snapshot import folder_of, save

        with self.still():
            save(self, folder_of(path))

    def _view(self, name: str) -> Maintained:
        found = self._views.get(str(name).lower())
        if found is None:
            known = ", ".join(v.query.name for v in self._views.values()) or "none yet"
            raise UnknownName(f"there is no view '{name}'", instead=f"the views are: {known}")
        return found
