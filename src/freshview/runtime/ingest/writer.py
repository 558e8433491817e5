"""Single rows, the fast way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from freshview.calculus.rows import RowLike
from freshview.calculus.schema import Relation
from freshview.codegen.library.load import Instance, RowCall
from freshview.errors import FreshviewError, Overflow
from freshview.runtime.database.serve import AnyBase, NativeServer, Server
from freshview.runtime.database.stored_base import StatelessBase, StoredBase

if TYPE_CHECKING:
    from freshview.runtime.database.database import Database


MOST = 64
"""Relations of a kernel whose rows can be sent elsewhere."""


class Writer:
    """Inserts and deletes single rows of a stream; each call is a change of its own.

    `insert` and `delete` take the values of a row as arguments. They are attributes, and may be
    kept: whatever is declared later, they do the right thing.
    """

    insert: RowCall
    delete: RowCall

    def __init__(self, db: Database, relation: Relation) -> None:
        self.relation = relation
        self.instance: Instance | None = None
        self._index = 0
        self._db = ref(db)
        self._slow = (_Slow(db, relation, 1), _Slow(db, relation, -1))
        self.insert, self.delete = self._slow

    def wire(self, base: AnyBase, servers: Sequence[Server] | None) -> None:
        """Take the shortest way: one kernel's own functions where there is nothing else to do.

        `servers` is None where every row must be seen by the database.
        """
        kernels = [s for s in servers or () if isinstance(s, NativeServer)]
        alone = None
        if len(kernels) == 1 and isinstance(base, StatelessBase):
            index = kernels[0].index[self.relation.name]
            alone = kernels[0].instance if index < MOST else None
        db = self._db()
        if db is not None and self.instance is not alone:
            db.collect(self)  # who kept the old functions is sent to the database from now on
        steps: list[Any] | None = None
        if servers is not None:
            steps = _steps(self.relation, base, kernels)
        for slow, sign in zip(self._slow, (0, 1), strict=True):
            slow.steps = [_Step(s[sign], s[1 - sign], x) for x, s in steps] if steps else steps
            slow.check = (
                base.faulty if _checked(base, sign) and isinstance(base, StoredBase) else None
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
        """Ask the database about every row, whatever there is to say."""
        self.insert, self.delete = self._slow

    def divert(self, on: bool) -> int:
        """Send the rows through the database or, again, straight on; tells how many came since."""
        return 0 if self.instance is None else self.instance.divert(self._index, on)


def _checked(base: AnyBase, sign: int) -> bool:
    return bool(sign or base.relation.key)


def _steps(
    relation: Relation, base: AnyBase, kernels: Sequence[NativeServer]
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
    """The way through the database: its lock, its rows, its views, its followers."""

    def __init__(self, db: Database, relation: Relation, sign: int) -> None:
        self._db = ref(db)
        self._relation = relation
        self._sign = sign
        self.steps: list[_Step] | None = None
        self.check: Callable[[], bool] | None = None

    def __call__(self, *values: Any) -> None:
        db = self._db()
        if db is None:
            raise FreshviewError("the database of this writer is gone", instead="keep it")
        if not self._through(db, values):
            # The usual door: it tells followers, and it finds the words for what is wrong.
            row: RowLike = values
            (db.insert if self._sign > 0 else db.delete)(self._relation.name, [row])

    def _through(self, db: Database, values: tuple[Any, ...]) -> bool:
        """Give the row to all the kernels; False where there is more to do, and nothing was."""
        with db._lock:
            steps = self.steps
            if steps is None or db._engines.busy:
                return False
            done = 0
            try:
                for step in steps:
                    step.take(*values)
                    done += 1
                    if done == 1 and self.check is not None and self.check():
                        raise _Refused
            except BaseException as e:
                for step in reversed(steps[:done]):
                    with step.instance.wrapping():
                        step.back(*values)
                if isinstance(e, _Refused | Overflow):
                    return False  # the database finds out whether it is so
                raise
            db._version += 1
            db._changed = True
            db._fed.add(self._relation.name)
            return True


class _Refused(Exception):
    """A row that the base does not admit."""
