"""A view as its user sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from freshview.calculus.rows import Row, conform
from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.types import Type, Value
from freshview.errors import FreshviewError, UnknownName
from freshview.runtime.functions import check_callable, without
from freshview.runtime.ingest.columns import rows_of
from freshview.runtime.settings import EngineName
from freshview.runtime.views.history import MOST_VERSIONS, History
from freshview.runtime.views.maintained import Callback, MaintainedView
from freshview.runtime.views.result import Rows

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    from freshview.runtime.ingest.lazy_imports import pa, pc


class ViewHost(Protocol):
    """What a view needs of its database."""

    def quiet(self) -> AbstractContextManager[None]:
        """While this lasts, no batch is applied."""

    def still(self) -> AbstractContextManager[int]:
        """While this lasts, nothing changes, not even by a writer; gives the version."""

    def rewire(self) -> None:
        """Let the writers learn that a view needs to see every row, or has another kernel."""


@dataclass(frozen=True)
class Statistics:
    """What a view takes and has done.

    `rows` tells how many rows each map of the view holds, `bytes` the whole state of a kernel (0
    for the reference engine). `visits` and `writes` count rows looked at and written: always by the
    reference engine, by kernels with `connect(profile=True)`. `note` says why there is no kernel.
    A kernel that keeps several views has one state, and counts for all of them; `explain` names
    them.
    """

    engine: EngineName
    rows: Mapping[str, int]
    bytes: int
    build_seconds: float
    visits: int
    writes: int
    note: str


class ViewHandle(Rows):
    """A view as its user sees it; every read gives the rows as of the last change.

    >>> import freshview
    >>> db = freshview.connect()
    >>> _ = db.execute("CREATE STREAM r (k INT NOT NULL, v INT NOT NULL);"
    ...                "CREATE VIEW s AS SELECT k, SUM(v) AS total FROM r GROUP BY k")
    >>> db.insert("r", [(1, 10), (1, 20)])
    >>> db.view("s").to_pylist()
    [{'k': 1, 'total': 30}]
    """

    def __init__(self, db: ViewHost, maintained: MaintainedView) -> None:
        self._db = db
        self._maintained = maintained

    @property
    def name(self) -> str:
        """The name of the view."""
        return self._maintained.query.name

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns with their types."""
        return self._maintained.query.columns

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The streams and tables that the view reads."""
        return self._maintained.relations

    @property
    def engine(self) -> EngineName:
        """Which engine serves the view: "native" or "reference"."""
        with self._db.quiet():
            return self._maintained.engine_name

    @property
    def work(self) -> int:
        """How many rows the engine has looked at or written so far, for all the views it keeps.

        A kernel counts them if the database was opened with `profile=True`.
        """
        with self._db.quiet():
            _, visits, writes = self._maintained.engine.costs()
        return visits + writes

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts; in the order of an ORDER BY."""
        with self._db.quiet():
            return self._maintained.rows()

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table, in the order of an ORDER BY, else in none.

        From a kernel nothing is done per row in Python.
        """
        with self._db.quiet():
            return self._maintained.table()

    def read(self) -> tuple[int, pa.Table]:
        """A version of the database and the rows as they are at it."""
        with self._db.still() as version:
            return version, self._maintained.table()

    def lookup(self, **key: Value) -> list[Row]:
        """The rows whose columns have the given values; None finds NULL.

        With values for all the columns that the view is grouped by, a kernel looks the row up.
        Otherwise the columns are compared where they lie, one after the other: a look at each row
        of the view, but none of them in Python.
        """
        values = self._values_by_column(key)
        with self._db.quiet():
            rows = self._maintained.find(values)
        if rows is not None:
            return rows
        if self._maintained.payloads:
            return [r for r in self.rows() if all(r[at] == value for at, value in values.items())]
        return rows_of(matching(self.to_arrow(), values, self._maintained.query))

    def _values_by_column(self, key: Mapping[str, Value]) -> dict[int, Value]:
        """Values by the places of their columns."""
        names = [c.lower() for c in self.columns]
        values: dict[int, Value] = {}
        for name, value in key.items():
            if name.lower() not in names:
                known = ", ".join(self.columns)
                raise UnknownName(
                    f"'{self.name}' has no column '{name}'", instead=f"its columns are {known}"
                )
            values[names.index(name.lower())] = value
        return values

    def track(self, versions: int = MOST_VERSIONS) -> None:
        """Record from now on what changes, so many versions back.

        The engine collects what a change does to the view while it is made, at a cost that
        follows the change. Where that is not possible, as `explain` says then, each change reads
        the view once and compares: the cost follows the view's size.
        """
        if not isinstance(versions, int) or versions < 1:
            raise FreshviewError(
                f"the changes of '{self.name}' cannot be kept for {versions!r} versions",
                instead="give an integer from 1 on",
            )
        if self._maintained.payloads.nested:
            raise FreshviewError(
                f"the changes of '{self.name}' are not recorded, since it has categories",
                instead="read the view after a change",
            )
        with self._db.still() as version:
            if self._maintained.history is None:
                self._maintained.history = History(self.name, version, self._maintained, versions)
                self._db.rewire()
            self._maintained.history.versions = versions

    def changes(self, since: int) -> pa.Table:
        """What changed after a version: the columns, and `__count`, negative for rows that went.

        Changes are recorded from the first `track` or `subscribe` on.
        """
        with self._db.still() as version:
            history = self._maintained.history
            if history is None:
                raise FreshviewError(
                    f"the changes of '{self.name}' are not recorded",
                    instead="call its track() before the changes that you want to see",
                )
            return history.since(since, version)

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call `callback(version, changes)` after every change that changes this view.

        Calls come in the order of the versions, one at a time, by a thread that changes the data;
        an error in one is shown as a warning, and the change stays. Gives a function that ends
        the subscription.
        """
        check_callable("the callback", callback)
        self.track(self._maintained.history.versions if self._maintained.history else MOST_VERSIONS)
        with self._db.still():
            self._maintained.callbacks = [*self._maintained.callbacks, callback]

        def end() -> None:
            with self._db.still():
                self._maintained.callbacks = without(self._maintained.callbacks, callback)

        return end

    def refill(self, centre: Mapping[str, float]) -> bool:
        """Fill the kernel of a cofactor anew from the rows that are kept, about another centre.

        Tells whether it was: the reference engine, which does not round, needs none.
        """
        with self._db.still():
            done = self._maintained.group.refill(centre)
            if done:
                self._db.rewire()
            return done

    def exact_rows(self, most: int) -> list[Row] | None:
        """The rows, computed anew by the reference engine, which does not round; None if it cannot.

        It takes its time: `most` is how many rows of streams and tables it may take for that.
        """
        with self._db.still():
            m = self._maintained
            known = m.group.can_recompute and m.group.base_rows() <= most
            return m.recomputed().rows() if known else None

    def statistics(self) -> Statistics:
        """What the view takes and has done so far."""
        with self._db.quiet():
            m = self._maintained
            size, visits, writes = m.engine.costs()
            seconds = m.group.built.seconds if m.group.built else 0.0
            sizes = m.engine.sizes()
            own = {map_.name for map_ in m.program.maps}
            rows = {name: n for name, n in sizes.items() if name in own}
            return Statistics(m.engine_name, rows, size, seconds, visits, writes, m.group.note)

    def explain(self, *, verbose: bool = False) -> str:
        """How the view is kept: the choice, what it is expected to cost, its joins, its engine.

        With `verbose` also its term after every rule, its maps and its triggers.
        """
        with self._db.quiet():
            m = self._maintained
            from freshview.runtime.views.explain import explain

            group = m.group
            plan = group.built.plan if group.built else None
            centre = group.centre if group.built else {}
            others = [v.query.name for v in group.views if v is not m]
            return explain(
                m.query,
                m.program,
                group.note,
                plan,
                centre,
                group.arrival,
                others,
                statistics=m.settings.statistics,
                verbose=verbose,
            )

    def __repr__(self) -> str:
        return f"<view {self.name}({', '.join(self.columns)})>"


def matching(table: pa.Table, values: Mapping[int, Value], query: Query) -> pa.Table:
    """The rows of a view with these values by column."""
    for at, value in values.items():
        table = table.filter(_equals(table.column(at), value, query.columns[at].type))
    return table


def _equals(column: pa.ChunkedArray, value: Value, t: Type) -> pa.ChunkedArray:
    if value is None:
        return pc.is_null(column)
    try:
        return pc.equal(column, pa.scalar(conform(value, t), column.type))
    except (pa.ArrowException, ValueError):
        return pc.and_(pc.is_valid(column), pa.scalar(False))  # nothing equals what does not fit
