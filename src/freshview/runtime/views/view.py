"""A view: what keeps it fresh, and how its user sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from freshview.calculus.functions import Functions
from freshview.calculus.rows import Row, conform
from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.types import Type, Value
from freshview.codegen.library.load import Instance
from freshview.errors import FreshviewError, Overflow, UnknownName
from freshview.factorized.result import Result
from freshview.plan.compile import compile_queries, factorized_result
from freshview.program.terms import Program
from freshview.runtime.database.compiled_plan import headers_of
from freshview.runtime.database.explain import explain
from freshview.runtime.database.functions import check_callable
from freshview.runtime.database.judge import holds
from freshview.runtime.database.kernels import Built
from freshview.runtime.database.serve import AnyBase, NativeServer, ReferenceServer, Server
from freshview.runtime.database.settings import EngineName, Settings
from freshview.runtime.database.stored_base import StatelessBase
from freshview.runtime.ingest.columns import arranged, html, rows_of
from freshview.runtime.views.history import MOST_VERSIONS, History
from freshview.runtime.views.payloads import Payloads, variables_of

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.compute as pc  # type: ignore[import-untyped]
else:
    from freshview.runtime.ingest.lazy_imports import pa, pc

if TYPE_CHECKING:
    from freshview.runtime.database.database import Database

T = TypeVar("T")
Callback: TypeAlias = "Callable[[int, pa.Table], object]"


class Maintained:
    """A query and what runs it: a kernel once there is one, the reference engine before.

    The server is filled from the base rows when it is first needed, and built anew after `reset`:
    so no half of a batch is ever left in it.
    """

    def __init__(
        self,
        query: Query,
        relations: Sequence[Relation],
        bases: Mapping[str, AnyBase],
        functions: Functions,
        settings: Settings,
    ) -> None:
        self.query = query
        self.relations = tuple(relations)
        self.functions = functions
        self.settings = settings
        self.built: Built | None = None
        self.had_kernel = False
        self.wide = False
        """Whether its kernel has room for decimals of all digits, also where few are declared."""
        self.note = ""
        self.seen = 0
        self.rests = 0
        """Rows to come before a kernel is tried again, where one did not hold the numbers."""
        self.centre: Mapping[str, float] = {}
        """What a kernel takes from the variables of cofactors, so that it has their digits."""
        self.refills = 0
        self.history: History | None = None
        self.callbacks: list[Callback] = []
        variables = variables_of(query, relations, functions)
        self.payloads = Payloads(query, variables, functions.headers)
        self.headers = headers_of(query, functions)
        self._bases = bases
        self._names = frozenset(r.name for r in relations)
        self._server: Server | None = None
        self._suspended: tuple[Built, Server | None] | None = None
        self._program: Program | None = None
        self._result: Result | None = None

    def reads(self, relation: str) -> bool:
        """Whether changes of this relation reach the view."""
        return relation in self._names

    @property
    def program(self) -> Program:
        """The program that is run."""
        return self.built.recipe.program if self.built else self.plan()

    def plan(self) -> Program:
        """The program for the reference engine."""
        if self._program is None:
            options = self.settings.plan("batch")
            self._program = compile_queries([self.query], self.relations, options, self.functions)
        return self._program

    def result(self) -> Result:
        """How the views of a factorized view hang together, whichever engine keeps them."""
        if self._result is None:
            options = self.settings.plan("batch")
            self._result = factorized_result([self.query], self.relations, options, self.functions)
        return self._result

    @property
    def engine(self) -> EngineName:
        """Which engine serves the view."""
        return "native" if self.built else "reference"

    @property
    def server(self) -> Server:
        """The server, up to date with the base rows."""
        return self._server or self.start()

    def wake(self) -> None:
        """Be ready for a change."""
        if self._server is None:
            self.start()

    def start(self) -> Server:
        """A new server, filled from the base rows.

        A kernel whose numbers leave their range on the way is filled all the same, if they are in
        it at the end; if not, the reference engine serves the view.
        """
        if self.built:
            try:
                self._server = self._filled(self.built)
            except Overflow:
                if not self.is_kept:
                    raise
                self._server = self._exact_start(self.built)
        else:
            self._server = self._checked()
        return self._server

    def _checked(self) -> ReferenceServer:
        exact = self.exact()
        exact.check()  # rows that no engine could hold are refused
        return exact

    def _exact_start(self, built: Built) -> Server:
        """The server where a kernel meets numbers at the ends of their ranges."""
        exact = self._checked()
        if holds(built.recipe.program, self.functions, self._read(), wide=self.wide):
            return self._filled(built, wraps=True)
        self.built = None
        return exact

    def _filled(self, built: Built, *, wraps: bool = False) -> NativeServer:
        return NativeServer(
            self.query, built, self._read(), self.payloads, wraps=wraps, centre=self.centre
        )

    def refill(self, centre: Mapping[str, float]) -> bool:
        """Fill the kernel anew, with cofactors about this centre; tells whether there is one.

        Nothing is left then of the rounding errors that rows left behind which have gone.
        """
        if self.built is None or not self.is_kept:
            return False
        before, self.centre = self.centre, dict(centre)
        try:
            self.start()
        except BaseException:
            self.centre = before
            raise
        self.refills += 1
        return self.built is not None

    def exact(self) -> ReferenceServer:
        """The reference engine, filled from the base rows; its numbers are not checked yet."""
        return ReferenceServer(self.query, self.plan(), self.functions, self._read(), self.payloads)

    def _read(self) -> list[AnyBase]:
        return [self._bases[r.name] for r in self.relations]

    @property
    def is_kept(self) -> bool:
        """Whether the reference engine can take over: it has the base rows, and runs the view."""
        return not self.headers and not any(isinstance(b, StatelessBase) for b in self._read())

    def give_way(self) -> None:
        """Let the reference engine take over from a kernel that cannot follow.

        The bases have the change already. It is for whoever calls to `resume` or to `retire`.
        """
        assert self.built is not None
        exact = self.exact()  # first: it may refuse the change by itself
        self._suspended, self.built = (self.built, self._server), None
        self._server = exact

    def resume(self) -> None:
        """The kernel serves again, as it was when it gave way."""
        assert self._suspended is not None
        (self.built, self._server), self._suspended = self._suspended, None

    def retire(self) -> None:
        """The kernel that gave way is gone; the next one has room for more digits."""
        self._suspended, self.wide = None, True

    def base_rows(self) -> int:
        """How many different rows there are below the view."""
        return sum(base.size for base in self._read())

    def adopt(self, built: Built, state: Instance | None = None) -> None:
        """Be served by a kernel from now on, filled anew unless it comes with its state."""
        self.built, self.had_kernel = built, True
        payloads = self.payloads
        self._server = NativeServer(self.query, built, (), payloads, state) if state else None
        if state is not None:
            self.centre = {str(slot): x for slot, x in state.watch().centre.items()}

    def share(self, bases: Mapping[str, AnyBase]) -> None:
        """Take rows from here from now on."""
        self._bases = bases

    def reset(self) -> None:
        """Forget the server; the next use builds it anew."""
        self._server = None

    def table(self) -> pa.Table:
        """The rows in the order of the query."""
        return arranged(self.columns(), self.query)

    def columns(self) -> pa.Table:
        """The rows in any order."""
        return self._answer(lambda server: server.table())

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts, in order."""
        return self._answer(lambda server: server.rows())

    def find(self, given: Mapping[int, Value]) -> list[Row] | None:
        """The rows with these values by column, by a look-up; None where that is not enough."""
        server = self.server
        try:
            return server.find(given) if isinstance(server, NativeServer) else None
        except Overflow:
            return None

    def _answer(self, ask: Callable[[Server], T]) -> T:
        """What the server answers; the reference engine where numbers leave their range there.

        They may do so on the way only, and it knows better.
        """
        server = self.server
        try:
            return ask(server)
        except Overflow:
            if isinstance(server, ReferenceServer) or not self.is_kept:
                raise
            return ask(self.exact())


@dataclass(frozen=True)
class Statistics:
    """What a view takes and has done.

    `rows` tells how many rows each map holds, `bytes` the whole state of a kernel (0 for the
    reference engine). `visits` and `writes` count rows looked at and written: always by the
    reference engine, by kernels with `connect(profile=True)`. `note` says why there is no kernel.
    """

    engine: EngineName
    rows: Mapping[str, int]
    bytes: int
    build_seconds: float
    visits: int
    writes: int
    note: str


class ViewHandle:
    """A view as its user sees it; every read gives the rows as of the last change.

    >>> import freshview
    >>> db = freshview.connect()
    >>> _ = db.execute("CREATE STREAM r (k INT NOT NULL, v INT NOT NULL);"
    ...                "CREATE VIEW s AS SELECT k, SUM(v) AS total FROM r GROUP BY k")
    >>> db.insert("r", [(1, 10), (1, 20)])
    >>> db.view("s").to_pylist()
    [{'k': 1, 'total': 30}]
    """

    def __init__(self, db: Database, maintained: Maintained) -> None:
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
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(c.name for c in self.schema)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The streams and tables that the view reads."""
        return self._maintained.relations

    @property
    def engine(self) -> EngineName:
        """Which engine serves the view: "native" or "reference"."""
        with self._db.quiet():
            return self._maintained.engine

    @property
    def work(self) -> int:
        """How many rows the engine has looked at or written for this view so far.

        A kernel counts them if the database was opened with `profile=True`.
        """
        with self._db.quiet():
            _, visits, writes = self._maintained.server.costs()
        return visits + writes

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts; in the order of an ORDER BY."""
        with self._db.quiet():
            return self._maintained.rows()

    def to_pylist(self) -> list[dict[str, Value]]:
        """The rows as dictionaries from column names to values."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows()]

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table, in the order of an ORDER BY, else in none.

        From a kernel nothing is done per row in Python.
        """
        with self._db.quiet():
            return self._maintained.table()

    def to_pandas(self, **options: Any) -> Any:
        """The rows as a pandas DataFrame; options go to pyarrow's `Table.to_pandas`."""
        return self.to_arrow().to_pandas(**options)

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
        given = self._given(key)
        with self._db.quiet():
            found = self._maintained.find(given)
        if found is not None:
            return found
        if self._maintained.payloads:
            return [r for r in self.rows() if all(r[at] == value for at, value in given.items())]
        return rows_of(matching(self.to_arrow(), given, self._maintained.query))

    def _given(self, key: Mapping[str, Value]) -> dict[int, Value]:
        """Values by the places of their columns."""
        names = [c.lower() for c in self.columns]
        given: dict[int, Value] = {}
        for name, value in key.items():
            if name.lower() not in names:
                known = ", ".join(self.columns)
                raise UnknownName(
                    f"'{self.name}' has no column '{name}'", instead=f"its columns are {known}"
                )
            given[names.index(name.lower())] = value
        return given

    def track(self, versions: int = MOST_VERSIONS) -> None:
        """Record from now on what changes, so many versions back.

        Each change then reads the view once, and compares: the cost follows the view's size.
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
                table = self._maintained.columns()
                self._maintained.history = History(self.name, version, table, versions)
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
                left = list(self._maintained.callbacks)
                if callback in left:
                    left.remove(callback)
                self._maintained.callbacks = left

        return end

    def refill(self, centre: Mapping[str, float]) -> bool:
        """Fill the kernel of a cofactor anew from the rows that are kept, about another centre.

        Tells whether it was: the reference engine, which does not round, needs none.
        """
        with self._db.still():
            done = self._maintained.refill(centre)
            if done:
                self._db.rewire()
            return done

    def exact_rows(self, most: int) -> list[Row] | None:
        """The rows, computed anew by the reference engine, which does not round; None if it cannot.

        It takes its time: `most` is how many rows of streams and tables it may take for that.
        """
        with self._db.still():
            m = self._maintained
            return m.exact().rows() if m.is_kept and m.base_rows() <= most else None

    def statistics(self) -> Statistics:
        """What the view takes and has done so far."""
        with self._db.quiet():
            m = self._maintained
            size, visits, writes = m.server.costs()
            seconds = m.built.seconds if m.built else 0.0
            rows = dict(m.server.sizes())
            return Statistics(m.engine, rows, size, seconds, visits, writes, m.note)

    def explain(self) -> str:
        """How the view is maintained: its term after every pass, its maps, its triggers."""
        with self._db.quiet():
            m = self._maintained
            recipe = m.built.recipe if m.built else None
            return explain(m.query, m.program, m.note, recipe, m.centre if m.built else {})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as a stream of Arrow's C interface: polars, DuckDB and others read the view."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<view {self.name}({', '.join(self.columns)})>"

    def _repr_html_(self) -> str:
        return html(self.to_arrow(), self.name)


def matching(table: pa.Table, given: Mapping[int, Value], query: Query) -> pa.Table:
    """The rows of a view with these values by column."""
    for at, value in given.items():
        table = table.filter(_equals(table.column(at), value, query.columns[at].type))
    return table


def _equals(column: pa.ChunkedArray, value: Value, t: Type) -> pa.ChunkedArray:
    if value is None:
        return pc.is_null(column)
    try:
        return pc.equal(column, pa.scalar(conform(value, t), column.type))
    except (pa.ArrowException, ValueError):
        return pc.and_(pc.is_valid(column), pa.scalar(False))  # nothing equals what does not fit
