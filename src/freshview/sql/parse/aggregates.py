"""Aggregate functions."""

from __future__ import annotations

from freshview.calculus.types import INT
from freshview.errors import SyntaxProblem
from freshview.sql.parse.node import Node, Readers
from freshview.sql.terms import Aggregate, Case, Literal, Scalar


def _aggregate(node: Node) -> Scalar:
    node.only("this", "expressions")
    argument = node.get("this")
    fn = node.key
    if argument is None:
        raise SyntaxProblem(
            f"{fn.upper()}() has no argument",
            instead="write COUNT(*)" if fn == "count" else "name the column",
            at=node.at,
        )
    if argument.key == "star":
        if fn != "count":
            node.refuse(f"{fn.upper()}(*)", "name the column")
        return Aggregate(fn, (), False, node.at)
    if argument.key == "distinct":
        argument.only("expressions")
        args = tuple(n.scalar() for n in argument.all("expressions"))
        if not args:
            raise SyntaxProblem(
                f"{fn.upper()}(DISTINCT) has no argument",
                instead=f"name the column, as in {fn.upper()}(DISTINCT x)",
                at=node.at,
            )
        distinct = True
    else:
        args = (argument.scalar(), *(n.scalar() for n in node.all("expressions")))
        distinct = False
    if len(args) > 1 and not (fn == "count" and distinct):
        node.refuse(f"{fn.upper()} of several columns", "give it one expression")
    return Aggregate(fn, args, distinct, node.at)


def _filtered(node: Node) -> Scalar:
    """SUM(x) FILTER (WHERE p) is SUM(CASE WHEN p THEN x END)."""
    node.only("this", "expression")
    inner, when = node["this"].scalar(), node["expression"]["this"].scalar()
    if not isinstance(inner, Aggregate) or len(inner.args) > 1:
        node.refuse("FILTER here", "put the condition into a CASE inside the aggregate")
    value = inner.args[0] if inner.args else Literal(1, INT, node.at)
    return Aggregate(inner.fn, (Case(((when, value),), None, node.at),), inner.distinct, node.at)


READERS: Readers = {
    **dict.fromkeys(("sum", "count", "avg", "min", "max"), _aggregate),
    "filter": _filtered,
}
