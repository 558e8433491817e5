"""Plans as text: a node a line, inputs below, indented.

Aggregate by customer.mktsegment: COUNT(orders.orderkey) AS n
Join on customer.custkey = orders.custkey
Scan customer
Scan orders
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from freshview.dataflow.plan.terms import (
    Aggregate,
    Condition,
    Filter,
    FlatMap,
    Join,
    Plan,
    Project,
    Scan,
    Test,
)
from freshview.dataflow.plan.walk import inputs
from freshview.sql import terms as sql
from freshview.sql.terms import Item, Scalar
from freshview.temporal import (
    Between,
    FullHistory,
    Hopping,
    Landmark,
    Sliding,
    Tumbling,
    TupleCount,
    Window,
)
from freshview.temporal.terms import Time

SPAN = {"seconds": "SECOND", "days": "DAY", "months": "MONTH"}


def show_plan(p: Plan) -> str:
    """A plan over several lines."""
    return "\n".join(_lines(p, 0))


def _lines(p: Plan, depth: int) -> Iterator[str]:
    yield "  " * depth + show_node(p)
    for child in inputs(p):
        yield from _lines(child, depth + 1)


def show_node(p: Plan) -> str:
    """A node without its inputs."""
    match p:
        case Scan(relation, table):
            named = "" if table == relation.name else f" as {table}"
            return f"Scan {relation.name}{named}{' (table)' if relation.static else ''}"
        case Project(_, items):
            return f"Project {show_items(items)}"
        case FlatMap(_, function, is_map, columns):
            outputs = ", ".join(f"{f.name} {f.type}" for f in columns)
            return f"{'Map' if is_map else 'FlatMap'} {_name(function)} -> {outputs}"
        case Filter(_, condition):
            return f"Filter {show_condition(condition)}"
        case Join(_, _, on, window):
            asked = " and ".join(show_condition(c) for c in on)
            return f"Join {f'on {asked}' if on else 'of all pairs'}{_within(window)}"
        case Aggregate(_, keys, items, window):
            by = f" by {', '.join(show_scalar(k) for k in keys)}" if keys else ""
            return f"Aggregate{by}: {show_items(items)}{_within(window)}"
        case _:
            assert_never(p)


def show_items(items: Sequence[Item]) -> str:
    """Columns with their names."""
    return ", ".join(_item(i) for i in items)


def _item(i: Item) -> str:
    text = show_scalar(i.expr)
    return text if i.name is None or text.split(".")[-1] == i.name else f"{text} AS {i.name}"


def _within(window: Window) -> str:
    match window:
        case FullHistory():
            return ""
        case Sliding(length):
            return f", sliding window of {length}"
        case Between(low, high):
            return f", window from {low} to {high}"
        case Tumbling(length, origin):
            return f", tumbling windows of {length}{_from(origin)}"
        case Hopping(length, slide, origin):
            return f", windows of {length} every {slide}{_from(origin)}"
        case Landmark(start):
            return f", window from {start} on"
        case TupleCount(rows):
            return f", window of the last {rows} rows"
        case _:
            assert_never(window)


def _from(origin: Time) -> str:
    return f" from {origin}" if origin else ""


def show_condition(c: Condition) -> str:
    """A condition of a filter or a join."""
    return f"{_name(c.function)}(...)" if isinstance(c, Test) else show_scalar(c)


def _name(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def show_scalar(e: Scalar) -> str:
    """An expression as SQL.

    >>> from freshview.sql.terms import Arith, Literal, Name
    >>> from freshview.calculus.types import INT
    >>> show_scalar(Arith("*", Arith("+", Name("a", "r"), Literal(1, INT)), Name("b")))
    '(r.a + 1) * b'
    """
    match e:
        case sql.Name(name, table):
            return f"{table}.{name}" if table else name
        case sql.Ref(var):
            return var
        case sql.Literal(value):
            return _literal(value)
        case sql.Interval(count, unit):
            return f"INTERVAL '{count}' {SPAN[unit]}"
        case sql.Arith(op, left, right) | sql.Compare(op, left, right):
            return f"{_inner(left)} {op} {_inner(right)}"
        case sql.Same(left, right):
            return f"{_inner(left)} IS NOT DISTINCT FROM {_inner(right)}"
        case sql.Call(fn, args):
            return f"{fn.upper()}({_listed(args)})"
        case sql.Lifted(fn, ring, args):
            return f"[{fn}: {ring}]({_listed(args)})"
        case sql.Aggregate(fn, args, distinct):
            inside = f"{'DISTINCT ' if distinct else ''}{_listed(args)}" if args else "*"
            return f"{fn.upper()}({inside})"
        case sql.Over(fn, args):
            return f"{fn.upper()}({_listed(args)}) OVER (...)"
        case sql.And(parts):
            return " AND ".join(_inner(p) for p in parts)
        case sql.Or(parts):
            return " OR ".join(_inner(p) for p in parts)
        case sql.Not(arg):
            return f"NOT {_inner(arg)}"
        case sql.InList(arg, items):
            return f"{_inner(arg)} IN ({_listed(items)})"
        case sql.IsNull(arg):
            return f"{_inner(arg)} IS NULL"
        case sql.IsTruth(arg, truth):
            return f"{_inner(arg)} IS {str(truth).upper()}"
        case sql.Case(branches, otherwise):
            whens = [f"WHEN {show_scalar(c)} THEN {show_scalar(v)}" for c, v in branches]
            last = "" if otherwise is None else f" ELSE {show_scalar(otherwise)}"
            return f"CASE {' '.join(whens)}{last} END"
        case sql.Cast(arg, type):
            return f"CAST({show_scalar(arg)} AS {type})"
        case sql.ScalarQuery() | sql.ExistsQuery() | sql.Quantified():
            return "(SELECT ...)"
        case _:
            assert_never(e)


def _listed(parts: Sequence[Scalar]) -> str:
    return ", ".join(show_scalar(p) for p in parts)


def _inner(e: Scalar) -> str:
    """A part of an expression, in parentheses where it has an operator."""
    bare = (sql.Name, sql.Ref, sql.Literal, sql.Call, sql.Aggregate, sql.Cast, sql.Case, sql.Lifted)
    return show_scalar(e) if isinstance(e, bare) else f"({show_scalar(e)})"


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).upper() if isinstance(value, bool) else str(value)
