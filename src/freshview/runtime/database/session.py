"""Scripts that declare, change and ask, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from freshview.calculus.schema import Column
from freshview.calculus.types import BOOL, INT, STRING
from freshview.errors import FreshviewError, UnknownName
from freshview.runtime.database.state import State
from freshview.runtime.ingest.change import Change, counted_change, row_change
from freshview.runtime.views.result import Result

if TYPE_CHECKING:
    from freshview.runtime.database.row_changes import RowDelta
    from freshview.runtime.views.view import ViewHandle
    from freshview.sql.statements import CreateView, RowChange, Show, Statement, TableCall

_OTHER_WORDS = re.compile(
    r"\b(insert|update|delete|truncate|merge|show|describe|desc)\b", re.IGNORECASE
)
"""Words of statements that declare nothing; they may also stand elsewhere."""


class SessionHost(Protocol):
    """What a script needs of its database."""

    @property
    def state(self) -> State:
        """What is declared, and its rows."""

    def declare_script(self, sql: str, file: str, policy: str = "") -> list[ViewHandle]:
        """Declare all that a script of declarations says."""

    def change_by(self, change: Callable[[], Change | None]) -> None:
        """Make one change; nothing else changes while it is computed."""

    def load(self, relation: str, rows: object) -> int:
        """Add rows to a static table."""

    def still(self) -> AbstractContextManager[int]:
        """While this lasts, nothing changes."""

    @property
    def calls(self) -> CallsHost:
        """Its table functions."""


class CallsHost(Protocol):
    """What a question needs of table functions."""

    def calling(self, calls: Sequence[TableCall]) -> AbstractContextManager[None]:
        """While this lasts, the results of calls are there to be read."""


@dataclass(frozen=True)
class Step:
    """A statement, or declarations one after the other, and what they were."""

    statement: Statement | None
    """None for declarations."""
    sql: str
    """The script with nothing but this in it, at its place."""


def only_declares(sql: object) -> bool:
    """Whether a script can only be of declarations: none of the other words is in it."""
    return not isinstance(sql, str) or _OTHER_WORDS.search(sql) is None


def steps(sql: str, file: str, *, asks: bool) -> Iterator[Step]:
    """A script in steps; with `asks`, a SELECT by itself is asked, and declares no view."""
    from freshview.sql.parse.statements import parse_with_ends
    from freshview.sql.statements import (
        CreateFunction,
        CreateRelation,
        CreateType,
        CreateView,
        Drop,
    )

    declarations = (CreateFunction, CreateRelation, CreateType, CreateView, Drop)
    begin = None
    end = 0
    for statement, first, last in parse_with_ends(sql, file):
        question = asks and isinstance(statement, CreateView) and statement.name is None
        if isinstance(statement, declarations) and not question:
            begin, end = first if begin is None else begin, last
            continue
        if begin is not None:
            yield Step(None, alone(sql, begin, end))
            begin = None
        yield Step(statement, alone(sql, first, last))
    if begin is not None:
        yield Step(None, alone(sql, begin, end))


def alone(sql: str, begin: int, end: int) -> str:
    """A text with blanks for all but a part, whose places stay what they are."""
    return re.sub(r"[^\n]", " ", sql[:begin]) + sql[begin:end]


def run(
    db: SessionHost, sql: str, file: str, policy: str, *, asks: bool
) -> tuple[list[ViewHandle], Result | None]:
    """Run a script; gives the views that it declares, and the answer of its last statement, if any.

    The whole script is read first, and nothing is done if it cannot be. Then each statement is done
    or refused by itself; those before one that is refused stay.
    """
    views: list[ViewHandle] = []
    answer: Result | None = None
    for step in list(steps(sql, file, asks=asks)):
        if step.statement is None:
            views += db.declare_script(step.sql, file, policy)
            answer = None
            continue
        try:
            answer = _answer(db, step.statement)
        except FreshviewError as problem:
            raise problem.located(step.statement.at) from None
    return views, answer


def _answer(db: SessionHost, statement: Statement) -> Result:
    from freshview.sql.statements import CreateView, Delete, Insert, Merge, Show, Update

    if isinstance(statement, Insert | Update | Delete | Merge):
        return _changed(db, statement)
    with db.still():
        if isinstance(statement, CreateView):
            with db.calls.calling(statement.calls):
                return _selected(db.state, statement)
        assert isinstance(statement, Show)
        return _shown(db.state, statement)


def _selected(state: State, statement: CreateView) -> Result:
    from freshview.runtime.database.query import ask

    answer = ask(state, statement.query)
    return Result(answer.columns, answer.view.table())


def _changed(db: SessionHost, statement: RowChange) -> Result:
    """Apply what a statement changes, as one change; gives the number of rows affected."""
    from freshview.runtime.database.row_changes import row_delta

    deltas: list[RowDelta] = []

    def change() -> Change | None:
        delta = row_delta(db.state, statement)
        deltas.append(delta)
        if delta.relation.static and all(n > 0 for n in delta.changes.values()):
            db.load(delta.relation.name, list(delta.changes.elements()))
            return None
        relation = db.state.stream(delta.relation.name)
        if not delta.changes:
            return None
        if all(n > 0 for n in delta.changes.values()):
            return row_change(relation, list(delta.changes.elements()))
        return counted_change(relation, list(delta.changes.items()))

    db.change_by(change)
    return Result.of((Column("num_affected_rows", INT),), [(deltas[-1].affected,)])


def _shown(state: State, show: Show) -> Result:
    name = Column("name", STRING)
    if show.what == "VIEWS":
        return Result.of((name,), [(v.query.name,) for v in state.views.values()])
    if show.what == "TABLES":
        relations = state.catalog.relations.values()
        rows = [(r.name, "table" if r.static else "stream") for r in relations]
        rows += [(v.query.name, "view") for v in state.views.values()]
        return Result.of((name, Column("kind", STRING)), rows)
    columns = _columns(state, show)
    if show.what == "COLUMNS":
        return Result.of((Column("col_name", STRING),), [(c.name,) for c in columns])
    described = (
        Column("col_name", STRING),
        Column("data_type", STRING),
        Column("nullable", BOOL),
    )
    rows_of_columns = [(c.name, str(c.type.not_null()), c.type.nullable) for c in columns]
    return Result.of(described, rows_of_columns)


def _columns(state: State, show: Show) -> Sequence[Column]:
    catalog = state.catalog
    name = catalog.declared_as(show.name)
    if name.lower() in catalog.views:
        return catalog.view(name).columns
    if not catalog.has(name):
        raise UnknownName(
            f"there is no table, stream or view '{show.name}'", instead="SHOW TABLES lists them"
        )
    return catalog.relation(name).columns
