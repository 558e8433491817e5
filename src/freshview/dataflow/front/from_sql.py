"""SQL as a plan: SELECT over joins of streams by any condition, with a window and groups."""

from __future__ import annotations

from freshview.calculus.schema import Relation
from freshview.dataflow.front.stream import Stream
from freshview.dataflow.plan import build
from freshview.dataflow.plan.rename_tables import rename_tables
from freshview.dataflow.plan.scalars import titled
from freshview.dataflow.plan.terms import BadPlan, Plan
from freshview.dataflow.plan.terms import Join as JoinNode
from freshview.dataflow.plan.walk import column, fields, inputs, times, with_inputs
from freshview.errors import FreshviewError, UnknownName, UnsupportedSql
from freshview.sql.catalog import Source
from freshview.sql.parse.statements import parse
from freshview.sql.statements import CreateRelation, CreateView
from freshview.sql.terms import (
    Aggregate,
    Combined,
    Derived,
    From,
    Interval,
    Item,
    Join,
    Literal,
    Pivot,
    Select,
    Star,
    Table,
    Unpivot,
    Values,
)
from freshview.sql.walk import inside
from freshview.temporal import Sliding
from freshview.temporal.terms import Time

Declared = dict[str, tuple[Relation, Source | None]]
"""Streams and tables by their names, and where they are read."""

ELSEWHERE = "declare the view with freshview.connect(), which has all of SQL"


def from_sql(script: str, view: str | None = None) -> Stream:
    """The last SELECT or view of a script as a plan, or the view of a name.

    >>> print(from_sql("CREATE STREAM r (a INT); SELECT a, COUNT(*) AS n FROM r GROUP BY a"))
    Aggregate by r.a: r.a, COUNT(*) AS n
      Scan r
    """
    relations: Declared = {}
    views: dict[str, Plan] = {}
    last: Plan | None = None
    for statement in parse(script):
        match statement:
            case CreateRelation(relation, origin):
                relations[relation.name.lower()] = relation, origin
            case CreateView(name, columns, query):
                try:
                    last = _renamed(_Reader(relations, views).plan(query), columns)
                except FreshviewError as problem:
                    raise problem.located(statement.at) from None
                if name is not None:
                    views[name.lower()] = last
            case _:
                raise UnsupportedSql("a plan has no types of its own", instead=ELSEWHERE)
    if view is not None:
        if view.lower() not in views:
            raise UnknownName(f"the script has no view '{view}'", instead="declare it")
        last = views[view.lower()]
    if last is None:
        raise BadPlan("the script has no query", instead="end it with SELECT")
    return Stream(last)


def _renamed(p: Plan, names: tuple[str, ...]) -> Plan:
    if not names:
        return p
    if len(names) != len(fields(p)):
        raise BadPlan(
            f"the view has {len(fields(p))} columns, {len(names)} names are given",
            instead="give every column a name",
        )
    both = zip(fields(p), names, strict=True)
    return build.project(p, [Item(column(f), n) for f, n in both])


class _Reader:
    """Reads SELECTs over relations and the views before them."""

    def __init__(self, relations: Declared, views: dict[str, Plan]) -> None:
        self.relations, self.views = relations, views

    def plan(self, query: Select) -> Plan:
        """The plan of a SELECT."""
        _refuse(query)
        if not query.sources:
            raise UnsupportedSql("a plan reads a stream", instead="write FROM", at=query.at)
        p = self._source(query.sources[0])
        for other in query.sources[1:]:
            p = build.join(p, self._source(other))
        if query.window is not None:
            p = _in_window(p, query.window)
        if query.where is not None:
            p = build.filtered(p, query.where)
        columns = titled([i for item in query.items for i in _items(item, p)])
        parts = [e for i in columns for e in inside(i.expr)]
        if query.group or any(isinstance(e, Aggregate) for e in parts):
            return build.aggregate(p, query.group, columns)
        return build.project(p, columns)

    def _source(self, item: From) -> Plan:
        match item:
            case Table(name, alias, columns):
                return self._table(name, alias, columns, item)
            case Derived(query, alias, columns, lateral=False):
                return _aliased(self.plan(query), alias, columns)
            case Join("inner", left, right, on, ()):
                conditions = () if on is None else (on,)
                return build.join(self._source(left), self._source(right), conditions)
            case _:
                raise UnsupportedSql(
                    f"{_construct(item)} is not in plans", instead=ELSEWHERE, at=item.at
                )

    def _table(self, name: str, alias: str, columns: tuple[str, ...], at: Table) -> Plan:
        if name.lower() in self.views:
            return _aliased(self.views[name.lower()], alias, columns)
        if name.lower() not in self.relations:
            known = ", ".join(r.name for r, _ in self.relations.values()) or "nothing yet"
            raise UnknownName(
                f"there is no table, stream or view '{name}'",
                instead=f"declared is {known}",
                at=at.at,
            )
        relation, origin = self.relations[name.lower()]
        scan = build.scan(relation, alias, origin=origin)
        return _aliased(scan, alias, columns) if columns else scan


def _construct(item: Derived | Combined | Values | Pivot | Unpivot | Join) -> str:
    """What a source that no plan has is called in SQL."""
    match item:
        case Derived():
            return "LATERAL"
        case Combined(op):
            return op.upper()
        case Join(kind):
            return f"{kind.upper()} JOIN" if kind != "inner" else "NATURAL JOIN or USING"
        case _:
            return type(item).__name__.upper()


def _aliased(p: Plan, alias: str, columns: tuple[str, ...]) -> Plan:
    p = rename_tables(p, alias)
    names = columns or tuple(f.name for f in fields(p))
    if len(names) != len(fields(p)):
        raise BadPlan(f"'{alias}' has {len(fields(p))} columns", instead="name all of them")
    both = zip(fields(p), names, strict=True)
    return build.project(p, [Item(column(f), n) for f, n in both], alias)


def _items(item: Item | Star, p: Plan) -> list[Item]:
    if isinstance(item, Item):
        return [item]
    every = [
        Item(column(f), f.name)
        for f in fields(p)
        if item.table is None or f.table.lower() == item.table.lower()
    ]
    if item.without:
        raise UnsupportedSql("* EXCEPT is not in plans", instead="name the columns", at=item.at)
    if not every:
        raise UnknownName(f"there is no table '{item.table}'", instead="name one of FROM")
    return every


def _in_window(p: Plan, window: Interval | Literal) -> Plan:
    """The joins of FROM with RANGE: of each two streams, rows less than that apart."""
    timed = times(p)
    if len(timed) < 2:
        raise UnsupportedSql(
            "RANGE is about the times of streams that are joined",
            instead="declare WATERMARK FOR column in two of them, or leave RANGE out",
            at=window.at,
        )
    sliding = Sliding(_length(window, timed[0].type.kind))

    def windowed(node: Plan) -> Plan:
        node = with_inputs(node, tuple(windowed(child) for child in inputs(node)))
        if isinstance(node, JoinNode) and times(node.left) and times(node.right):
            return build.join(node.left, node.right, node.on, sliding)
        return node

    return windowed(p)


def _length(window: Interval | Literal, kind: str) -> Time:
    value: object = window.value if isinstance(window, Literal) else window.count
    moves = kind in ("date", "timestamp")
    if moves != isinstance(window, Interval) or not isinstance(value, int | float):
        raise UnsupportedSql(
            f"this RANGE does not fit a time that is {kind}",
            instead="write RANGE 5 MINUTES" if moves else "write a number, as in RANGE 5",
            at=window.at,
        )
    if isinstance(window, Literal):
        return value
    units = {
        ("date", "days"): 1,
        ("timestamp", "days"): 86_400_000_000,
        ("timestamp", "seconds"): 1_000_000,
    }
    if (kind, window.unit) not in units:
        raise UnsupportedSql(
            f"this RANGE does not fit a time that is {kind}", instead="write it in days"
        )
    return value * units[kind, window.unit]


def _refuse(query: Select) -> None:
    clauses = {
        "HAVING": query.having is not None,
        "DISTINCT": query.distinct,
        "ORDER BY": bool(query.order),
        "LIMIT": query.limit is not None,
        "OFFSET": query.offset != 0,
        "GROUPING SETS": bool(query.sets),
        "WITH": bool(query.ctes),
    }
    for clause, is_there in clauses.items():
        if is_there:
            raise UnsupportedSql(f"{clause} is not in plans", instead=ELSEWHERE, at=query.at)
