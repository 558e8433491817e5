"""Single rows, the fast way."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol
from weakref import ref

from freshview.calculus.rows import RowLike
from freshview.calculus.schema import Relation
from freshview.calculus.types import Value
from freshview.codegen.library.load import Instance, RowCall
from freshview.errors import FreshviewError, NotAdmitted, Overflow
from freshview.runtime.database.state import State
from freshview.runtime.relations.stored_base import AnyBase, StatelessBase, StoredBase
from freshview.runtime.views.engines import KernelViewEngine, ViewEngine

MOST = 64
"""Relations of a kernel whose rows can be sent elsewhere."""


class WriterHost(Protocol):
    """What a writer needs of its database."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Held while rows change."""

    @property
    def state(self) -> State:
        """Counts the rows that kernels took without the database."""

    @property
    def is_building(self) -> bool:
        """Whether kernels are being built, so that the database must look at every change."""

    def insert(self, relation: str, rows: object) -> None:
        """Insert rows into a stream."""

    def delete(self, relation: str, rows: object) -> None:
        """Delete rows from a stream."""


class Writer:
    """Inserts and deletes single rows of a stream; each call is a change of its own.

    `insert` and `delete` take the values of a row as arguments. They are attributes, and may be
    stored: they stay correct whatever is declared later.
    """

    insert: RowCall
    delete: RowCall

    def __init__(self, db: WriterHost, relation: Relation) -> None:
        self.relation = relation
        self.instance: Instance | None = None
        self._index = 0
        self._db = ref(db)
        self._slow = (_Slow(db, relation, 1), _Slow(db, relation, -1))
        self.insert, self.delete = self._slow

    def wire(self, base: AnyBase, engines: Sequence[ViewEngine] | None) -> None:
        """Take the shortest way: one kernel's own functions where there is nothing else to do.

        `engines` is None where every row must be seen by the database.
        """
        kernels = [e for e in engines or () if isinstance(e, KernelViewEngine)]
        alone = None
        if len(kernels) == 1 and isinstance(base, StatelessBase):
            index = kernels[0].index[self.relation.name]
            alone = kernels[0].instance if index < MOST else None
        if self.instance is not alone:
            self.pause()  # whoever holds the old functions goes through the database from now on
        steps: list[tuple[Instance, tuple[RowCall, RowCall]]] | None = None
        if engines is not None:
            steps = _steps(self.relation, base, kernels)
        for slow, sign in zip(self._slow, (0, 1), strict=True):
            slow.steps = (
                [_Step(s[sign], s[1 - sign], x) for x, s in steps] if steps is not None else None
            )
        if alone is self.instance and alone is not None:
            return
        self.instance = alone
        if alone is None:
            self.insert, self.delete = self._slow
        else:
            self._index = index
            self.insert = alone.insert_row(index, self._slow[0])
            self.delete = alone.delete_row(index, self._slow[1])

    def close(self) -> None:
        """Send every row through the database from now on, which may refuse it."""
        self.insert, self.delete = self._slow

    def pause(self) -> None:
        """Send every row through the database, which learns how many a kernel took without it."""
        if self.instance is None:
            return
        rows = self.instance.divert(self._index, True)
        db = self._db()
        if db is not None:
            db.state.count_rows(rows, [r.name for r in self.instance.kernel.relations])

    def resume(self) -> None:
        """Let rows go straight to the kernel again."""
        if self.instance is not None:
            self.instance.divert(self._index, False)


def _steps(
    relation: Relation, base: AnyBase, kernels: Sequence[KernelViewEngine]
) -> list[tuple[Instance, tuple[RowCall, RowCall]]] | None:
    """The functions that take a row and take it back, with their kernels, base first."""
    if not isinstance(base, StoredBase | StatelessBase):
        return None
    where = [(base.instance, 0)] if isinstance(base, StoredBase) else []
    where += [(k.instance, k.index[relation.name]) for k in kernels]
    return [(x, (x.insert_row(i), x.delete_row(i))) for x, i in where]


class _Step(NamedTuple):
    """A kernel's functions for single rows: one takes a row, the other takes it back."""

    take: RowCall
    back: RowCall
    instance: Instance


class _Slow:
    """The way through the database: its lock, its rows, its views, its subscriptions."""

    def __init__(self, db: WriterHost, relation: Relation, sign: int) -> None:
        self._db = ref(db)
        self._relation = relation
        self._sign = sign
        self.steps: list[_Step] | None = None

    def __call__(self, *values: Value) -> None:
        db = self._db()
        if db is None:
            raise FreshviewError("the database of this writer is gone", instead="keep it")
        if not self._through(db, values):
            # The usual door: it notifies subscribers, and it explains what is wrong.
            row: RowLike = values
            (db.insert if self._sign > 0 else db.delete)(self._relation.name, [row])

    def _through(self, db: WriterHost, values: tuple[Value, ...]) -> bool:
        """Give the row to all the kernels; False where there is more to do, and nothing was."""
        with db.lock:
            steps = self.steps
            if steps is None or db.is_building:
                return False
            done = 0
            try:
                for step in steps:
                    step.take(*values)
                    done += 1
            except BaseException as e:
                for step in reversed(steps[:done]):
                    with step.instance.wrapping():
                        step.back(*values)
                if isinstance(e, NotAdmitted | Overflow):
                    return False  # the database finds out whether it is so
                raise
            state = db.state
            state.version += 1  # as `count_rows` does, without a call for every row
            state.has_changes = True
            state.fed.add(self._relation.name)
            return True
