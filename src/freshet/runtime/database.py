"""Streams, tables and views in this process."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from freshet.calculus.functions import Function
from freshet.calculus.rows import Row, RowLike
from freshet.calculus.schema import Query
from freshet.calculus.scope import relations
from freshet.calculus.types import Type, read_type
from freshet.errors import BadRow, UnknownName
from freshet.ivm.options import Mode
from freshet.plan.compile import compile_queries
from freshet.plan.options import Options, Strategy
from freshet.program.terms import Program
from freshet.runtime.base import Base, consolidate
from freshet.runtime.view import Maintained, ViewHandle
from freshet.sql import Catalog, load

Batch = Mapping[str, Iterable[tuple[RowLike, int]]]


def connect(strategy: Strategy = "auto", mode: Mode = "batch", *, strict: bool = False) -> Database:
    """An empty database in this process.

    `strategy` says how views are kept: `reeval`, `first-order`, `project`, `higher-order`, or
    `auto`, which chooses for each view. `mode` says whether triggers take whole batches or single
    rows. `strict` refuses a view that a change would make recompute, naming the node.
    """
    return Database(Options(strategy=strategy, mode=mode, strict=strict))


class Database:
    """Streams, tables and views that stay fresh.

    Every change is a batch, applied in full or not at all: rows are checked before anything
    changes, and an error on the way leaves every view as it was.

    The rows of all the relations are kept, besides the maps of the views: so a view that is
    declared later starts with the data so far, and a deletion of what is not there is refused.

    >>> db = connect()
    >>> _ = db.execute("CREATE STREAM sales (item STRING NOT NULL, amount INT NOT NULL)")
    >>> db.insert("sales", [("pen", 3), ("ink", 4), ("pen", 5)])
    >>> _ = db.execute("CREATE VIEW totals AS "
    ...                "SELECT item, SUM(amount) AS amount FROM sales GROUP BY item")
    >>> db.delete("sales", [("pen", 3)])
    >>> sorted(db.view("totals").rows())
    [('ink', 4), ('pen', 5)]
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._catalog = Catalog()
        self._bases: dict[str, Base] = {}
        self._views: dict[str, Maintained] = {}
        self._changed = False

    @property
    def catalog(self) -> Catalog:
        """What is declared."""
        return self._catalog

    @property
    def views(self) -> tuple[ViewHandle, ...]:
        """All the views, in the order of their declaration."""
        return tuple(ViewHandle(v) for v in self._views.values())

    def execute(self, sql: str, file: str = "<text>") -> list[ViewHandle]:
        """Declare the streams, tables and views of a script: all of them, or, on an error, none.

        Gives the views that the script declares. `file` is what complaints call the script.
        """
        catalog, queries = load(sql, file, self._catalog)
        bases = dict(self._bases)
        for relation in catalog.relations.values():
            bases.setdefault(relation.name, Base(relation))
        new = {q.name.lower(): self._maintain(q, catalog, bases) for q in queries}
        for view in new.values():
            view.start()  # now, so that a view that cannot be filled is not declared
        self._catalog, self._bases = catalog, bases
        self._views.update(new)
        return [ViewHandle(v) for v in new.values()]

    def _maintain(self, query: Query, catalog: Catalog, bases: Mapping[str, Base]) -> Maintained:
        read = relations(query.term)
        used = [r for r in catalog.relations.values() if r.name in read]
        program = compile_queries([query], used, self._options, catalog.functions)
        return Maintained(query, program, bases, catalog.functions)

    def insert(self, relation: str, rows: Iterable[RowLike]) -> None:
        """Insert rows into a stream."""
        self.apply({relation: [(row, 1) for row in rows]})

    def delete(self, relation: str, rows: Iterable[RowLike]) -> None:
        """Delete rows, which must be there, from a stream."""
        self.apply({relation: [(row, -1) for row in rows]})

    def apply(self, batch: Batch) -> None:
        """Change several streams at once: rows with their multiplicities, negative to delete.

        The batch is one change: readers see the views before it or after it.
        """
        changes: dict[str, dict[Row, int]] = {}
        for name, rows in batch.items():
            base = self._base(name)
            if base.relation.static:
                raise BadRow(
                    f"'{base.relation.name}' is a static table",
                    instead="load it before the first change, or declare it with CREATE STREAM",
                )
            changes[base.relation.name] = consolidate(base.relation, rows)
        for name, change in changes.items():
            self._bases[name].check(change)
        self._commit({name: change for name, change in changes.items() if change})

    def _commit(self, changes: Mapping[str, Mapping[Row, int]]) -> None:
        touched: list[Maintained] = []
        try:
            for view in self._views.values():
                for name, change in changes.items():
                    if view.reads(name):
                        touched.append(view)
                        view.engine.apply(name, change)
        except BaseException:
            # The bases are not changed yet, so these views come back as they were.
            for view in touched:
                view.reset()
            raise
        for name, change in changes.items():
            self._bases[name].apply(change)
        self._changed = self._changed or bool(changes)

    def load(self, relation: str, rows: Iterable[RowLike]) -> int:
        """Add rows to a static table, before the first change of a stream; tells how many."""
        base = self._base(relation)
        name = base.relation.name
        if not base.relation.static:
            raise BadRow(f"'{name}' is a stream", instead="use insert")
        if self._changed and any(v.reads(name) for v in self._views.values()):
            raise BadRow(
                f"'{name}' is a static table, and changes have arrived",
                instead="load it first, or declare it with CREATE STREAM",
            )
        given = [(row, 1) for row in rows]
        change = consolidate(base.relation, given)
        base.check(change)
        base.apply(change)
        try:
            self._refill(name)
        except BaseException:
            base.apply({row: -count for row, count in change.items()})
            self._refill(name)
            raise
        return len(given)

    def _refill(self, relation: str) -> None:
        """Build the engines of the views that read a relation anew."""
        for view in self._views.values():
            if view.reads(relation):
                view.reset()
                view.start()

    def view(self, name: str) -> ViewHandle:
        """The view of a name."""
        return ViewHandle(self._view(name))

    def program(self, name: str) -> Program:
        """The trigger program that keeps a view fresh."""
        return self._view(name).program

    def register_function(
        self, name: str, function: Callable[..., Any], result: Type | str
    ) -> None:
        """Make a Python function known to SQL.

        It must give the same answer for the same values. `result` is its type, such as `double`
        or `decimal(2)`; `double?` if it may answer NULL. It is not called with NULL: a NULL among
        the arguments makes the answer NULL.
        """
        t = read_type(result) if isinstance(result, str) else result
        known = Function(
            name.lower(),
            function,
            lambda *_: t.not_null(),
            _arity(function),
            partial=t.nullable,
        )
        self._catalog = self._catalog.with_function(known)

    def _base(self, name: str) -> Base:
        return self._bases[self._catalog.relation(name).name]

    def _view(self, name: str) -> Maintained:
        found = self._views.get(name.lower())
        if found is None:
            known = ", ".join(v.query.name for v in self._views.values()) or "none yet"
            raise UnknownName(f"there is no view '{name}'", instead=f"the views are: {known}")
        return found


def _arity(function: Callable[..., Any]) -> tuple[int, int]:
    """The fewest and the most arguments that a function takes by position."""
    kinds = list(inspect.signature(function).parameters.values())
    takes = [p for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    most = 1 << 30 if any(p.kind == p.VAR_POSITIONAL for p in kinds) else len(takes)
    return sum(p.default is p.empty for p in takes), most
