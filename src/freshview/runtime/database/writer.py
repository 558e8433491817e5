"""Single rows, the fast way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol
from weakref import ref

from freshview.calculus.rows import Row, RowLike
from freshview.calculus.schema import Relation
from freshview.calculus.types import Value
from freshview.codegen.library.load import Chain, Instance, RowCall, Sign
from freshview.errors import FreshviewError
from freshview.runtime.database.fork import HalfChanged
from freshview.runtime.database.route import Route
from freshview.runtime.database.state import State
from freshview.runtime.ingest.change import Change

MOST = 64
"""Relations of a kernel whose rows can be sent elsewhere."""


class WriterHost(Protocol):
    """What a writer needs of its database."""

    lock: threading.RLock | HalfChanged
    """Held while rows change."""

    @property
    def state(self) -> State:
        """Counts the rows that kernels took without the database."""

    def insert(self, relation: str, rows: object) -> None:
        """Insert rows into a stream."""

    def delete(self, relation: str, rows: object) -> None:
        """Delete rows from a stream."""


class Writer:
    """Inserts and deletes single rows of a stream; each call is a change of its own.

    `insert` and `delete` take the values of a row as arguments. They are attributes, and may be
    stored: they stay correct whatever is declared later. On a route they are functions of its
    first kernel, which gives the row to the others under the lock of the database; a single
    kernel needs no lock but its own.
    """

    insert: RowCall
    delete: RowCall

    def __init__(self, db: WriterHost, relation: Relation) -> None:
        self.relation = relation
        self.instance: Instance | None = None
        self._index = 0
        self._alone = self._paused = False
        self._chains: tuple[Chain, Chain] = ([], [])
        self._db = ref(db)
        self._slow = (_Slow(db, relation, 1), _Slow(db, relation, -1))
        self.insert, self.delete = self._slow

    def wire(self, route: Route | None) -> None:
        """Take the shortest way; None where every row must be seen by the database."""
        steps = route.steps if route and route.steps[0][1] < MOST else ()
        first, index = steps[0] if steps else (None, 0)
        alone = len(steps) == 1 and route is not None and not route.keeps_rows
        if first is not self.instance or alone != self._alone:
            paused = self._paused
            self.pause()  # whoever holds the old functions goes through the database from now on
            self.close()
            self.instance, self._index, self._alone = first, index, alone
            self._chains = ([], [])
            if first is not None:
                chains = (None, None) if alone else self._chains
                self.insert = first.insert_row(index, self._slow[0], chains[0])
                self.delete = first.delete_row(index, self._slow[1], chains[1])
            self._divert(paused)
        lock = getattr(self._db(), "lock", None)
        if route is None or first is None or alone or not isinstance(lock, _Lock):
            return
        inserts, deletes = self._chains
        inserts[:] = [lock.acquire, lock.release, _Undo(route, 1)]
        deletes[:] = [lock.acquire, lock.release, _Undo(route, -1)]
        inserts += [x.insert_row(i) for x, i in steps[1:]]
        deletes += [x.delete_row(i) for x, i in steps[1:]]

    def close(self) -> None:
        """Send every row through the database from now on, which may refuse it."""
        for chain in self._chains:
            chain.clear()
        self.insert, self.delete = self._slow

    def pause(self) -> None:
        """Send every row through the database, which learns how many a kernel took without it."""
        self._divert(True)

    def resume(self) -> None:
        """Let rows go straight to the kernel again."""
        self._divert(False)

    def collect(self) -> None:
        """Let the database count the rows that a kernel took without it."""
        self._divert(self._paused)

    def _divert(self, on: bool) -> None:
        self._paused = on
        if self.instance is None:
            return
        rows = self.instance.divert(self._index, on)
        db = self._db()
        if db is not None and rows:
            db.state.count_rows(rows, self.relation.name)


_Lock = type(threading.RLock())


class _Undo:
    """Takes a row back from the kernels of a route."""

    def __init__(self, route: Route, sign: Sign) -> None:
        self._route = route
        self._sign: Sign = sign

    def __call__(self, others: int, row: Row) -> None:
        """Take the row back from the first kernel and so many others."""
        change = Change(self._route.relation, [row], sign=self._sign)
        self._route.take_back(change, 1 + others)


class _Slow:
    """The way through the database: its hooks, its rows, its views, its subscriptions."""

    def __init__(self, db: WriterHost, relation: Relation, sign: Sign) -> None:
        self._db = ref(db)
        self._relation = relation
        self._sign = sign

    def __call__(self, *values: Value) -> None:
        db = self._db()
        if db is None:
            raise FreshviewError(
                "the database of this writer is gone", instead="keep a reference to the database"
            )
        row: RowLike = values
        change: Callable[[str, object], None] = db.insert if self._sign > 0 else db.delete
        change(self._relation.name, [row])
