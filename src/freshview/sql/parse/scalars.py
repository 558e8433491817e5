"""Scalar expressions and conditions of the parser's tree, as our own."""

from __future__ import annotations

from freshview.sql.parse import aggregates, calls, conditions, literals, over
from freshview.sql.parse.node import Node, Readers
from freshview.sql.terms import Not, Scalar

READERS: Readers = {
    **literals.READERS,
    **conditions.READERS,
    **aggregates.READERS,
    **over.READERS,
    **calls.READERS,
    "anonymous": aggregates.named(calls.READERS["anonymous"]),
    "alias": lambda n: n.refuse("AS here", "name columns in the SELECT list only"),
}
"""How an expression is read, by the name of its node in the parser's tree."""


def scalar(node: Node) -> Scalar:
    """An expression; what we do not know is refused."""
    if node.flag("negate") and not _is_of_each(node):
        node.raw.set("negate", None)
        return Not(scalar(node), node.at)
    return READERS.get(node.key, calls.function)(node)


def _is_of_each(node: Node) -> bool:
    """Whether NOT is about each of several patterns: NOT LIKE ALL ('a%', 'b%')."""
    return node.key in ("like", "ilike") and node["expression"].key in ("any", "all")
