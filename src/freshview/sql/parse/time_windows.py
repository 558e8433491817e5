"""Windows of time: window(), session_window(), and the table functions TUMBLE, HOP and SESSION.

A window is a struct of `start` and `end`: two columns of an item in FROM that its alias alone
shows, a LATERAL subquery. Tumbling and hopping windows are computed from the time of the row; the
sessions of rows are a subquery without rows of its own, with the gap as its window.
"""

from __future__ import annotations

import re
from dataclasses import replace

from freshview.calculus.types import INT
from freshview.errors import Place, SyntaxProblem, UnsupportedSql
from freshview.sql.parse.intervals import UNITS
from freshview.sql.parse.node import Node
from freshview.sql.terms import (
    And,
    Arith,
    Call,
    Compare,
    Derived,
    From,
    Interval,
    IsNull,
    Item,
    Literal,
    Name,
    Not,
    Scalar,
    Select,
    Star,
    Table,
    Values,
)
from freshview.sql.walk import inside, rewrite

CALLS = ("window", "session_window")
PARTS = ("start", "end")
FIELD = "field of"
"""The function by which `x.start` is read, of a struct x that is no name."""

TABLE_FUNCTIONS = ("tumble", "hop", "session")
DAY = 86_400
MOST_WINDOWS = 100
"""Windows that a time is in: they are written out in the query's term."""

Span = Interval | Literal
"""A length of time: seconds, or a number where times are numbers."""


def with_time_windows(query: Select) -> Select:
    """The SELECT with the window that its expressions name as an item of its FROM clause."""
    calls = list(dict.fromkeys(c for e in _expressions(query) for c in _calls(e)))
    if not calls:
        return query
    if len(calls) > 1:
        raise UnsupportedSql(
            "two windows of time in one SELECT are not supported, as in Spark",
            instead="compute one of them in a subquery",
            at=calls[1].at,
        )
    [call] = calls
    names = {call.fn} | {
        i.name.lower() for i in query.items if isinstance(i, Item) and i.expr == call and i.name
    }
    group = tuple(x for e in query.group for x in _keys(e, call, names))
    keys = tuple(e for e in query.group if e != call and not _is_struct(e, names))
    order = tuple(
        replace(k, expr=x) for k in query.order for x in _keys(k.expr, call, names, "start")
    )
    return replace(
        query,
        items=tuple(x for i in query.items for x in _items(i, call, names)),
        sources=(*query.sources, _source(call, keys)),
        where=_plain(query.where, call, names),
        group=group,
        having=_plain(query.having, call, names),
        qualify=_plain(query.qualify, call, names),
        order=order,
    )


def _expressions(query: Select) -> list[Scalar]:
    """All that a SELECT computes, subqueries apart."""
    own = (query.where, query.having, query.qualify, *query.group, *query.keys)
    items = (i.expr for i in query.items if isinstance(i, Item))
    return [e for e in (*own, *items, *(k.expr for k in query.order)) if e is not None]


def _calls(e: Scalar) -> list[Call]:
    return [x for x in inside(e) if isinstance(x, Call) and x.fn in CALLS and len(x.args) > 1]


def _is_struct(e: Scalar, names: set[str]) -> bool:
    return isinstance(e, Name) and e.table is None and e.name.lower() in names


def _keys(e: Scalar, call: Call, names: set[str], *parts: str) -> tuple[Scalar, ...]:
    """A window as its columns, and any other expression over them."""
    if e == call or _is_struct(e, names):
        return tuple(Name(part, call.fn, e.at) for part in parts or PARTS)
    return (_columns(e, call, names),)


def _plain(e: Scalar | None, call: Call, names: set[str]) -> Scalar | None:
    return None if e is None else _columns(e, call, names)


def _items(item: Item | Star, call: Call, names: set[str]) -> tuple[Item | Star, ...]:
    if isinstance(item, Star):
        return (item,)
    if item.expr == call or _is_struct(item.expr, names):
        title = item.name or call.fn
        return tuple(
            Item(Name(part, call.fn, item.at), f"{title}.{part}", item.at) for part in PARTS
        )
    name = item.name or field_name(item.expr)
    return (Item(_columns(item.expr, call, names), name, item.at),)


def field_name(e: Scalar) -> str | None:
    """The name of a field that is selected without a name."""
    match e:
        case Call(fn, (_, Literal(str() as part))) if fn == FIELD:
            return part
        case _:
            return None


def _columns(e: Scalar, call: Call, names: set[str]) -> Scalar:
    """The expression with the fields of the window as columns."""

    def rule(x: Scalar) -> Scalar | None:
        match x:
            case Call(fn, (struct, Literal(str() as part))) if fn == FIELD and struct == call:
                return Name(part, call.fn, x.at)
            case Call("window_time", (struct,)) if struct == call or _is_struct(struct, names):
                raise UnsupportedSql(
                    "WINDOW_TIME is not supported", instead="name the end of the window", at=x.at
                )
            case Name(part, str() as table) if table.lower() in names and part.lower() in PARTS:
                return Name(part, call.fn, x.at)
            case Call() if x == call:
                raise UnsupportedSql(
                    f"{call.fn.upper()} inside of an expression is not supported",
                    instead="name its start or its end",
                    at=x.at,
                )
            case _:
                return None

    return rewrite(e, rule)


def _source(call: Call, keys: tuple[Scalar, ...]) -> From:
    time, *spans = call.args
    lengths = [_span(s, call.at) for s in spans]
    if call.fn == "session_window":
        if len(lengths) != 1:
            raise SyntaxProblem("SESSION_WINDOW takes a time and a gap", at=call.at)
        return session(time, lengths[0], keys, call.fn, call.at)
    if len(lengths) > 3:
        raise SyntaxProblem("WINDOW takes a time, a length, a slide and an offset", at=call.at)
    return hopping(
        time, lengths[0], (lengths[1:2] or lengths[:1])[0], lengths[2:], call.fn, call.at
    )


# -- the items in FROM -----------------------------------------------------------------------------


def hopping(
    time: Scalar, length: Span, slide: Span, offset: list[Span], alias: str, at: Place
) -> Derived:
    """The windows `[start, end)` of this length, one every slide, that a time is in."""
    size, step = _number(length), _number(slide)
    shift = _number(offset[0]) if offset else 0
    if size <= 0 or step <= 0 or type(length) is not type(slide):
        raise SyntaxProblem(
            "the length and the slide of a window are not above zero, or not alike", at=at
        )
    if step > size or abs(shift) >= step:
        raise SyntaxProblem(
            "the slide of a window is longer than the window, or not longer than its offset",
            instead="let the slide be at most the length, and the offset less than the slide",
            at=at,
        )
    count = -(-size // step)
    if count > MOST_WINDOWS:
        raise UnsupportedSql(
            f"a time in {count} windows is not supported",
            instead=f"let the slide be at least a {MOST_WINDOWS}th of the length",
            at=at,
        )
    numbers = (Literal(step, INT, at), Literal(shift, INT, at))
    fn = "window_of_time" if isinstance(length, Interval) else "window_of_number"
    hop = Name("number", f"#hops of {alias}", at)
    which: Scalar = hop if count > 1 else Literal(0, INT, at)
    start = Call(fn, (time, *numbers, which), at)
    end = Arith("+", start, length, at)
    known: Scalar = Not(IsNull(time, at), at)
    if size % step:  # the earliest of the windows may have ended before
        known = And((known, Compare(">", end, time, at)), at)
    hops: tuple[From, ...] = ()
    if count > 1:
        rows = tuple((Literal(i, INT, at),) for i in range(count))
        hops = (Values(rows, str(hop.table), (hop.name,), at),)
    items = (Item(start, "start", at), Item(end, "end", at))
    return Derived(Select(items, hops, known, at=at), alias, (), at, lateral=True, hidden=True)


def session(time: Scalar, gap: Span, keys: tuple[Scalar, ...], alias: str, at: Place) -> Derived:
    """The sessions of rows with equal keys: a gap of this length parts two of them."""
    if _number(gap) <= 0:
        raise SyntaxProblem("the gap between two sessions is not above zero", at=at)
    items = (Item(time, "start", at), Item(time, "end", at))
    query = Select(items, group=keys, window=gap, at=at)
    return Derived(query, alias, (), at, lateral=True, hidden=True)


def table_function(node: Node, alias: str) -> Derived:
    """TUMBLE(TABLE t, DESCRIPTOR(time), length), HOP with its slide first, SESSION with a gap."""
    call = node["this"]
    fn = call.name.lower()
    arguments = call.all("expressions")
    if len(arguments) < 3:
        call.refuse(f"this {fn.upper()}", f"write {_FORMS[fn]}")
    source = _table(arguments[0], fn)
    keys: tuple[Scalar, ...] = ()
    if fn == "session" and _called(arguments[1]) == PARTITION:
        keys = tuple(n.scalar() for n in arguments.pop(1).all("expressions"))
    if _called(arguments[1]) != "descriptor" or len(arguments[1].all("expressions")) != 1:
        arguments[1].refuse("this time of rows", "write DESCRIPTOR(column)")
    time = arguments[1].all("expressions")[0].scalar()
    spans = [_span(n.scalar(), node.at) for n in arguments[2:]]
    if (
        not {"tumble": 1, "hop": 2, "session": 1}[fn]
        <= len(spans)
        <= len(_FORMS[fn].split(",")) - 2
    ):
        call.refuse(f"this {fn.upper()}", f"write {_FORMS[fn]}")
    match fn:
        case "tumble":
            window = hopping(time, spans[0], spans[0], spans[1:], "window", node.at)
        case "hop":
            window = hopping(time, spans[1], spans[0], spans[2:], "window", node.at)
        case _:
            window = session(time, spans[0], keys, "window", node.at)
    bounds = (Item(Name(p, "window", node.at), f"window_{p}", node.at) for p in PARTS)
    items: tuple[Item | Star, ...] = (Star(None, at=node.at), *bounds)
    query = Select(items, (source, window), at=node.at)
    return Derived(query, alias, (), node.at)


PARTITION = "partition of"
"""The function as which PARTITION BY is read inside of SESSION."""

_FORMS = {
    "tumble": "TUMBLE(TABLE t, DESCRIPTOR(time), length, offset)",
    "hop": "HOP(TABLE t, DESCRIPTOR(time), slide, length, offset)",
    "session": "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(time), gap)",
}


def _called(node: Node) -> str:
    return node.name.lower() if node.key == "anonymous" else ""


def _table(node: Node, fn: str) -> From:
    if node.key == "subquery":
        return Derived(node["this"].select(), node.alias or fn, (), node.at)
    name = node.scalar()
    if not isinstance(name, Name):
        node.refuse(f"{fn.upper()} of this", "name a table, or write a subquery in parentheses")
    path = f"{name.table}.{name.name}" if name.table else name.name
    return Table(path, name.name, (), node.at)


# -- lengths ---------------------------------------------------------------------------------------


def _number(span: Span) -> int:
    if isinstance(span, Interval):
        return span.count
    assert isinstance(span.value, int)
    return span.value


def _span(e: Scalar, at: Place) -> Span:
    """A length: '10 minutes', INTERVAL '10' MINUTE, or a number, in seconds where it has units."""
    match e:
        case Interval(count, "seconds" | "days" as unit):
            return Interval(count * (DAY if unit == "days" else 1), "seconds", e.at)
        case Literal(int() as number) if not isinstance(number, bool):
            return e
        case Literal(str() as text):
            words = re.sub(r"^\s*interval\b", "", text.strip(), flags=re.IGNORECASE).split()
            total = _seconds(words)
            if total is not None:
                return Interval(total, "seconds", e.at)
    raise UnsupportedSql(
        "this length of a window is not supported",
        instead="write '10 minutes' or INTERVAL '10' MINUTE: whole numbers, of seconds to weeks; a "
        "whole number where times are numbers",
        at=at,
    )


def _seconds(words: list[str]) -> int | None:
    """The seconds of 1 hour 30 minutes."""
    total = 0
    if not words or len(words) % 2:
        return None
    for count, word in zip(words[::2], words[1::2], strict=True):
        unit, factor = UNITS.get(word.upper().removesuffix("S"), ("months", 0))
        if unit in ("months", "micros") or not re.fullmatch(r"[+-]?\d{1,12}", count, re.ASCII):
            return None
        total += int(count) * factor * (DAY if unit == "days" else 1)
    return total
