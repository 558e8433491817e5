"""The constructors of plans: names bound, types inferred, and mistakes refused at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from freshview.calculus.schema import Column, EventTime, Relation
from freshview.calculus.types import Type, read_type
from freshview.dataflow.plan.scalars import bind, select, titled
from freshview.dataflow.plan.terms import (
    WHOLE,
    Aggregate,
    BadPlan,
    Condition,
    Field,
    Filter,
    FlatMap,
    Join,
    Plan,
    Project,
    Scan,
    Test,
)
from freshview.dataflow.plan.walk import appends, fields, inputs, scans, times
from freshview.errors import AmbiguousName
from freshview.sql.catalog import Source
from freshview.sql.terms import Item, Literal, Scalar
from freshview.sql.walk import conjuncts
from freshview.temporal import Between, FullHistory, Hopping, Tumbling, TupleCount, Window
from freshview.temporal.terms import Time

WINDOW_START = "window_start"
"""The column that tells the window of a group."""


def relation(
    name: str,
    columns: Mapping[str, str],
    *,
    time: str | None = None,
    delay: Time | None = None,
    table: bool = False,
) -> Relation:
    """A stream or table by its columns, which map names to types."""
    declared = tuple(Column(c, read_type(t)) for c, t in columns.items())
    if not declared:
        raise BadPlan(f"'{name}' has no columns", instead="declare one or more")
    if time is None:
        if delay is not None:
            raise BadPlan(f"'{name}' has a delay and no time", instead="name a column with time=")
        return Relation(name, declared, static=table)
    kinds = {c.name: c.type for c in declared}
    if table:
        raise BadPlan(f"'{name}' is a table, and its rows have no time", instead="leave out time=")
    if time not in kinds:
        raise BadPlan(f"'{name}' has no column '{time}'", instead=f"it has {', '.join(kinds)}")
    if kinds[time].kind not in ("int", "double", "date", "timestamp") or kinds[time].nullable:
        raise BadPlan(
            f"'{time}' is {kinds[time]}, not a time",
            instead="use a column of int, double, date or timestamp that is never NULL",
        )
    if delay is None:
        raise BadPlan(
            f"nothing says how late rows of '{name}' may be",
            instead="write delay=0, or how far behind the latest row a row may come",
        )
    return Relation(name, declared, time=EventTime(time, delay))


def scan(
    source: Relation,
    table: str | None = None,
    *,
    appends: bool = False,
    origin: Source | None = None,
) -> Scan:
    """The rows of a stream or a table, and where they are read."""
    return Scan(source, table or source.name, appends, origin)


def csv_file(path: str | Path | None) -> Source | None:
    """A file of CSV lines as a source."""
    return None if path is None else Source("file", (str(path),), "line", "csv")


def project(p: Plan, items: Sequence[Item], table: str | None = None) -> Project:
    """Columns computed from each row."""
    bound = _items(p, items)
    query = select(fields(p), bound)
    owner = _owner(p) if table is None else table
    typed = zip(bound, query.columns, strict=True)
    columns = tuple(Field(owner, str(i.name), c.type) for i, c in typed)
    return Project(p, bound, owner, columns)


def flat_map(
    p: Plan, function: Callable[[Any], Any], columns: Mapping[str, str], *, is_map: bool
) -> FlatMap:
    """The rows that a Python function gives."""
    if not callable(function):
        raise BadPlan(f"{function!r} is not a function", instead="give one of a row")
    if not columns:
        raise BadPlan(
            "nothing says what the function gives", instead='write columns={"name": "int"}'
        )
    declared = tuple(Field(_owner(p), n, read_type(t)) for n, t in columns.items())
    return FlatMap(p, function, is_map, declared)


def filtered(p: Plan, condition: Condition) -> Plan:
    """The rows for which a condition holds."""
    if isinstance(condition, Test):
        return Filter(p, condition)
    bound = bind(condition, fields(p))
    _check_condition(bound, fields(p))
    for part in conjuncts(bound):
        p = Filter(p, part)
    return p


def join(left: Plan, right: Plan, on: Sequence[Condition] = (), window: Window = WHOLE) -> Join:
    """Pairs for which all conditions hold, within a window."""
    tables = [s.table.lower() for p in (left, right) for s in scans(p)]
    owners = [{f.table.lower() for f in fields(p)} for p in (left, right)]
    double = next((t for t in tables if tables.count(t) > 1), None)
    if double is not None or owners[0] & owners[1]:
        raise AmbiguousName(
            f"both sides of the join have a table '{double or min(owners[0] & owners[1])}'",
            instead='give one another name: source.named("b")',
        )
    over = fields(left) + fields(right)
    conditions: list[Condition] = []
    for c in on:
        if isinstance(c, Test):
            conditions.append(c)
            continue
        bound = bind(c, over)
        _check_condition(bound, over)
        conditions += conjuncts(bound)
    _check_join_window(left, right, window)
    return Join(left, right, tuple(conditions), window)


def aggregate(
    p: Plan, keys: Sequence[Scalar], items: Sequence[Item], window: Window = WHOLE
) -> Aggregate:
    """A row of items for each group of the rows in the window."""
    over = fields(p)
    bound_keys = tuple(bind(k, over) for k in keys)
    bound = _items(p, items)
    _check_aggregate_window(p, window)
    query = select(over, bound, group=bound_keys)
    typed = zip(bound, query.columns, strict=True)
    columns = tuple(Field("", str(i.name), c.type) for i, c in typed)
    if has_panes(window):
        columns = (Field("", WINDOW_START, times(p)[0].type), *columns)
    return Aggregate(p, bound_keys, bound, window, columns)


def has_panes(window: Window) -> bool:
    """Whether each group has a row for each of several windows."""
    return isinstance(window, Tumbling | Hopping)


def _items(p: Plan, items: Sequence[Item]) -> tuple[Item, ...]:
    if not items:
        raise BadPlan("a row without columns says nothing", instead="name one or more")
    bound = [Item(bind(i.expr, fields(p)), i.name, i.at) for i in items]
    return titled(bound)


def _owner(p: Plan) -> str:
    """The table of computed columns: that of the columns before, if it is one."""
    tables = dict.fromkeys(f.table for f in fields(p))
    return next(iter(tables)) if len(tables) == 1 else "_".join(s.table for s in scans(p))


def _check_condition(e: Scalar, over: Sequence[Field]) -> None:
    """Refuse what no row can be asked, as WHERE does."""
    select(over, [Item(Literal(1, Type("int")), "one")], where=e)


def _check_window(window: Window) -> None:
    if not isinstance(window, get_args(Window)):
        raise BadPlan(f"{window!r} is not a window", instead="use one as Sliding(length)")


def _check_join_window(left: Plan, right: Plan, window: Window) -> None:
    _check_window(window)
    if isinstance(window, FullHistory):
        return
    if isinstance(window, TupleCount):
        for side in (left, right):
            if len(list(scans(side))) > 1 or times_are_lost(side) or not appends(side):
                raise BadPlan(
                    "a window of the last rows needs streams that only append on both sides: "
                    "results of a join, groups and deletions have no place among them",
                    instead="declare the streams with appends=True, or use a window over time",
                )
        return
    kinds = [{_kind(t.type) for t in times(side)} for side in (left, right)]
    if not kinds[0] and not kinds[1]:
        raise BadPlan(
            "a window over time joins streams that do not tell it",
            instead="declare one with time= and delay=",
        )
    if len(kinds[0] | kinds[1]) > 1:
        raise BadPlan(
            f"times of a {' and a '.join(sorted(kinds[0] | kinds[1]))} have no distance",
            instead="give all streams the same kind of time",
        )


def times_are_lost(p: Plan) -> bool:
    """Whether there are groups below, which have no times."""
    return isinstance(p, Aggregate) or any(times_are_lost(child) for child in inputs(p))


def _kind(t: Type) -> str:
    return t.kind if t.kind in ("date", "timestamp") else "number"


def _check_aggregate_window(p: Plan, window: Window) -> None:
    _check_window(window)
    if isinstance(window, Between):
        raise BadPlan(
            "a window between two times is for joins", instead="use Sliding(length) for groups"
        )
    if isinstance(window, TupleCount):
        if len(list(scans(p))) > 1 or times_are_lost(p) or not appends(p):
            raise BadPlan(
                "a window of the last rows needs a stream that only appends: results of a join, "
                "groups and deletions have no place among them",
                instead="declare the stream with appends=True, or use a window over time",
            )
        return
    if not isinstance(window, FullHistory) and not times(p):
        raise BadPlan(
            "the rows that are grouped have no time",
            instead="declare a stream with time= and delay=",
        )
