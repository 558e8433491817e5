"""Table functions over signals: each call is a stream that follows the relation of the call.

The stream has the name of the call, so views read it as they read any other; equal calls are one
stream. A call over a stream reads it through a view of the columns that it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from freshview.calculus.schema import Column, Query
from freshview.calculus.scope import base_relations
from freshview.errors import FreshviewError, UnknownName, UnsupportedSql
from freshview.runtime.compile.script_cache import load_script
from freshview.runtime.database.batches import Batch
from freshview.runtime.database.declarations import Declaration, Script
from freshview.runtime.database.declare import Planned, under_policy
from freshview.runtime.database.session import alone
from freshview.runtime.database.state import State
from freshview.runtime.views.result import Result
from freshview.sql.catalog import Catalog

if TYPE_CHECKING:
    import pyarrow as pa

    from freshview.runtime.views.view import ViewHandle
    from freshview.signal.language.events import EventOperators
    from freshview.signal.linked.over import Linked
    from freshview.sql.statements import TableCall
else:
    from freshview.runtime.ingest.lazy_imports import pa


class CallHost(Protocol):
    """What calls need of their database."""

    @property
    def state(self) -> State:
        """What is declared, and its rows."""

    @property
    def views(self) -> tuple[ViewHandle, ...]:
        """The views."""

    def view(self, name: str) -> ViewHandle:
        """The view of a name."""

    def execute(self, sql: str) -> list[ViewHandle]:
        """Declare streams and views."""

    def sql(self, sql: str) -> Result:
        """Run a script."""

    def apply(self, batch: Batch) -> None:
        """Change streams."""

    def still(self) -> AbstractContextManager[int]:
        """While this lasts, nothing changes."""

    def declare(
        self, declaration: Declaration, catalog: Catalog, views: Planned
    ) -> list[ViewHandle]:
        """Take over a catalog with new views."""


@dataclass(frozen=True)
class PlannedCall:
    """A call with its plan, and the view that it reads."""

    call: TableCall
    plan: EventOperators
    input: str
    projected: str
    """What declares the view that it reads, where that is not there yet."""
    stream: str
    """What declares the stream of its result."""

    @property
    def declared(self) -> str:
        """What declares both."""
        return f"{self.projected}{self.stream}"


def may_call(sql: object) -> bool:
    """Whether a script may call table functions: all of them have arguments with names."""
    return isinstance(sql, str) and "=>" in sql


def load_with_calls(
    sql: str, file: str, catalog: Catalog
) -> tuple[Catalog, list[Query], list[PlannedCall]]:
    """What a script declares, with the streams of its calls, each before the view that reads it."""
    from freshview.sql.load import load
    from freshview.sql.parse.statements import parse_with_ends
    from freshview.sql.statements import CreateView

    queries: list[Query] = []
    calls: list[PlannedCall] = []
    for statement, begin, end in parse_with_ends(sql, file):
        for call in statement.calls if isinstance(statement, CreateView) else ():
            if statement.replaces:  # type: ignore[union-attr]
                raise UnsupportedSql(
                    f"OR REPLACE of a view with {call.function}() is not supported",
                    instead="drop the view first",
                    at=call.at,
                )
            if catalog.has(call.name):
                continue
            planned = plan_call(call, catalog)
            catalog, more = load(planned.declared, file, catalog)
            queries += more
            calls.append(planned)
        catalog, more = load(alone(sql, begin, end), file, catalog)
        queries += more
    last = {query.name.lower(): query for query in queries}
    kept = [q for q in queries if last[q.name.lower()] is q and q.name.lower() in catalog.views]
    return catalog, kept, calls


def plan_call(call: TableCall, catalog: Catalog) -> PlannedCall:
    """The plan of a call, over what is declared."""
    from freshview.signal.language.calls import call_plan
    from freshview.signal.linked.tables import check_sizes, columns_of

    name = catalog.declared_as(call.relation)
    if not catalog.has(name):
        raise UnknownName(
            f"there is no table, stream or view '{call.relation}'",
            instead="declare it first",
            at=call.at,
        )
    is_view = name.lower() in catalog.views
    columns = catalog.view(name).columns if is_view else catalog.relation(name).columns
    try:
        plan = call_plan(
            call.function, name, dict(call.arguments), {c.name: c.type.kind for c in columns}
        )
        query = plan.query(keep_result=False)
        check_sizes(query)
    except FreshviewError as e:
        raise e.located(call.at) from None
    source = query.declared()
    shown = ", ".join(map(str, columns_of(query, _time(columns, source.time))))
    stream = f"CREATE STREAM `{call.name}` ({shown});"
    if is_view:
        return PlannedCall(call, plan, name, "", stream)
    names = ", ".join(f"`{n}`" for n in source.columns)
    input_ = f"{name}({', '.join(source.columns)})"
    projected = f"CREATE VIEW `{input_}` AS SELECT {names} FROM `{name}`;"
    return PlannedCall(call, plan, input_, "" if catalog.has(input_) else projected, stream)


def _time(columns: tuple[Column, ...], name: str) -> pa.DataType | None:
    kinds = {"timestamp": pa.timestamp("us"), "date": pa.date32()}
    return next((kinds.get(c.type.kind) for c in columns if c.name == name), None)


class TableCalls:
    """The calls that views of a database read, while they do; and the scripts that make them."""

    def __init__(self, db: CallHost) -> None:
        self._db = db
        self._calls: dict[str, PlannedCall] = {}
        self._links: dict[str, Linked] = {}
        self.waits = False
        """While a snapshot is read: streams follow from `restart` on."""

    @property
    def inputs(self) -> set[str]:
        """The views that only calls read."""
        return {c.input for c in self._calls.values() if "(" in c.input}

    def declare(self, sql: str, file: str, policy: str) -> list[ViewHandle]:
        """Declare all that a script of declarations says, or, on an error, nothing."""
        db = self._db
        with db.still():
            before = db.state.catalog
            calls: Sequence[PlannedCall] = ()
            if may_call(sql):
                catalog, queries, calls = load_with_calls(sql, file, before)
            else:
                catalog, queries = load_script(sql, file, before)
            planned = under_policy(queries, policy, db.state.settings)
            views = db.declare(Script(sql, file, policy), catalog, planned)
            self._start(calls, before)
            self._drop_unread()
            hidden = self.inputs
            return [v for v in views if v.name not in hidden]

    @contextmanager
    def calling(self, calls: Sequence[TableCall]) -> Iterator[None]:
        """While this lasts, the results of calls are there to be read."""
        if not calls:
            yield
            return
        db = self._db
        with db.still():
            count = len(db.state.declarations)
            try:
                for call in calls:
                    before = db.state.catalog
                    if before.has(call.name):
                        continue
                    planned = plan_call(call, before)
                    catalog, queries = load_script(planned.declared, "<text>", before)
                    views = under_policy(queries, "", db.state.settings)
                    db.declare(Script(planned.declared, "<text>"), catalog, views)
                    self._start([planned], before)
                yield
            finally:
                self._drop_unread()
                del db.state.declarations[count:]

    def restart(self) -> None:
        """Follow again, in a database whose rows are those of a snapshot."""
        self.waits = False
        for planned in self._calls.values():
            self._follow(planned)

    def _start(self, calls: Sequence[PlannedCall], before: Catalog) -> None:
        """Let streams follow what their calls read; if one cannot, go back to a catalog."""
        for planned in calls:
            self._calls[planned.call.name] = planned
        try:
            for planned in () if self.waits else calls:
                self._follow(planned)
        except FreshviewError as e:
            for planned in calls:
                self._end(planned.call.name)
            state = self._db.state
            if before.views.keys() <= state.views.keys():
                count = len(state.declarations) - 1
                self._db.declare(Script("", "<text>"), before, [])
                del state.declarations[count:]
            raise e.located(planned.call.at) from None

    def _follow(self, planned: PlannedCall) -> None:
        from freshview.signal.linked.over import Linked

        name = planned.call.name
        shown = self._db.sql(f"SELECT * FROM `{name}`").to_arrow()
        self._links[name] = Linked(self._db, planned.plan, planned.input, name, shown)

    def _end(self, name: str) -> PlannedCall:
        if name in self._links:
            self._links.pop(name).close()
        return self._calls.pop(name)

    def _drop_unread(self) -> None:
        """Drop the streams of calls that no view reads any more."""
        if not self._calls:
            return
        state, script = self._db.state, ""
        read = {r for v in state.views.values() for r in base_relations(v.query)}
        for name in [name for name in self._calls if name not in read]:
            planned = self._end(name)
            script += f"DROP STREAM IF EXISTS `{name}`;"
            if "(" in planned.input and planned.input not in self.inputs:
                script += f"DROP VIEW IF EXISTS `{planned.input}`;"
        if script:
            self.declare(script, "<text>", "")
