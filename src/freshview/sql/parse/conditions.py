"""Conditions: comparisons, AND and OR, IN, LIKE, EXISTS."""

from __future__ import annotations

from functools import partial

from freshview.calculus.terms import Op
from freshview.sql.parse.node import Node, Readers
from freshview.sql.terms import (
    And,
    Call,
    Compare,
    ExistsQuery,
    InList,
    IsNull,
    IsTruth,
    Literal,
    Not,
    Or,
    Quantified,
    Same,
    Scalar,
    ScalarQuery,
    Select,
)

COMPARISONS: dict[str, Op] = {
    "eq": "=",
    "neq": "<>",
    "lt": "<",
    "lte": "<=",
    "gt": ">",
    "gte": ">=",
}


def both(*conditions: Scalar) -> Scalar:
    """A AND b AND ..., flat."""
    parts = [p for c in conditions for p in (c.parts if isinstance(c, And) else (c,))]
    return And(tuple(parts), conditions[0].at)


def either(*conditions: Scalar) -> Scalar:
    """A OR b OR ..., flat."""
    parts = [p for c in conditions for p in (c.parts if isinstance(c, Or) else (c,))]
    return Or(tuple(parts), conditions[0].at)


def _comparison(op: Op, node: Node) -> Scalar:
    node.only("this", "expression")
    left, right = node["this"], node["expression"]
    if right.key in ("any", "all"):
        query = _query(right["this"])
        return Quantified(op, right.key == "all", _tuple(left), query, node.at)
    if left.key in ("any", "all"):
        left.refuse(f"{left.key.upper()} on the left", "put the subquery on the right")
    if "tuple" in (left.key, right.key):
        node.refuse("a comparison of rows", "compare column by column")
    return Compare(op, left.scalar(), right.scalar(), node.at)


def _tuple(node: Node) -> tuple[Scalar, ...]:
    if node.key == "tuple":
        return tuple(n.scalar() for n in node.all("expressions"))
    return (node.scalar(),)


def _query(node: Node) -> Select:
    if node.key == "subquery" and not node.alias:
        return _query(node["this"])
    if node.key == "paren":
        return _query(node["this"])
    return node.select()


def _between(node: Node) -> Scalar:
    node.only("this", "low", "high")
    arg = node["this"].scalar()
    low = Compare(">=", arg, node["low"].scalar(), node.at)
    return both(low, Compare("<=", arg, node["high"].scalar(), node.at))


def _in(node: Node) -> Scalar:
    node.only("this", "expressions", "query")
    query = node.get("query")
    if query is not None:
        return Quantified("=", False, _tuple(node["this"]), _query(query), node.at)
    if not node.all("expressions"):
        node.refuse("IN with an empty list", "write FALSE")
    if node["this"].key == "tuple":
        return either(*(_equal_rows(node, row) for row in node.all("expressions")))
    items = tuple(n.scalar() for n in node.all("expressions"))
    return InList(node["this"].scalar(), items, node.at)


def _equal_rows(node: Node, row: Node) -> Scalar:
    """(a, b) = (1, 2), as Spark compares rows of a list: NULL is a value like any other."""
    left, right = _tuple(node["this"]), _tuple(row)
    if len(left) != len(right):
        row.refuse(f"a row of {len(right)} beside one of {len(left)}", "give as many values")
    pairs = zip(left, right, strict=True)
    return both(*(Same(x, y, row.at) for x, y in pairs))


def _is(node: Node) -> Scalar:
    node.only("this", "expression")
    right = node["expression"]
    if right.key == "null":
        return IsNull(node["this"].scalar(), node.at)
    if right.key == "boolean":
        return IsTruth(node["this"].scalar(), right.flag("this"), node.at)
    right.refuse(f"IS {right.written}", "use IS NULL, IS TRUE or IS FALSE")


def _same(node: Node) -> Scalar:
    return Same(node["this"].scalar(), node["expression"].scalar(), node.at)


def like(fn: str, node: Node) -> Scalar:
    """X LIKE pattern, or LIKE ANY (pattern, ...), ALL or SOME; behind NOT each of them is negated.

    NOT LIKE ALL (a, b) is NOT LIKE a AND NOT LIKE b: the negation is about each of the patterns.
    """
    node.only("this", "expression", "negate")
    arg, right = node["this"].scalar(), node["expression"]
    negated = node.flag("negate")
    if right.key not in ("any", "all"):
        return Call(fn, (arg, right.scalar()), node.at)
    node.raw.set("negate", None)
    patterns = _tuple(_unwrapped(right["this"]))
    likes: list[Scalar] = [Call(fn, (arg, pattern), node.at) for pattern in patterns]
    if negated:
        likes = [Not(call, node.at) for call in likes]
    if len(likes) == 1:
        return likes[0]
    return both(*likes) if right.key == "all" else either(*likes)


def _unwrapped(node: Node) -> Node:
    return _unwrapped(node["this"]) if node.key == "paren" else node


def _escape(node: Node) -> Scalar:
    """X LIKE pattern ESCAPE c."""
    node.only("this", "expression")
    inner, escape = node["this"].scalar(), node["expression"].scalar()
    likes = inner.arg if isinstance(inner, Not) else inner
    if not (isinstance(likes, Call) and likes.fn == "like" and len(likes.args) == 2):
        node.refuse("ESCAPE here", "write it behind LIKE and its pattern")
    if (
        not (isinstance(escape, Literal) and isinstance(escape.value, str))
        or len(escape.value) != 1
    ):
        node.refuse("this ESCAPE", "give one character, as in ESCAPE '!'")
    whole = Call("like", (*likes.args, escape), likes.at)
    return Not(whole, inner.at) if isinstance(inner, Not) else whole


def _exists(node: Node) -> Scalar:
    return ExistsQuery(_query(node["this"]), node.at)


def _subquery(node: Node) -> Scalar:
    node.only("this")
    return ScalarQuery(_query(node), node.at)


READERS: Readers = {
    **{key: partial(_comparison, op) for key, op in COMPARISONS.items()},
    "and": lambda n: both(*(p.scalar() for p in n.chain())),
    "or": lambda n: either(*(p.scalar() for p in n.chain())),
    "not": lambda n: Not(n["this"].scalar(), n.at),
    "between": _between,
    "in": _in,
    "is": _is,
    "like": partial(like, "like"),
    "ilike": partial(like, "ilike"),
    "escape": _escape,
    "nullsafeeq": _same,
    "nullsafeneq": lambda n: Not(_same(n), n.at),
    "exists": _exists,
    "subquery": _subquery,
    "select": lambda n: ScalarQuery(_query(n), n.at),
}
