"""SELECT statements of the parser's tree, as our own."""

from __future__ import annotations

from typing import Literal as OneOf

from freshview.errors import AmbiguousName
from freshview.sql.parse.from_items import column_names, from_items, nameless, values
from freshview.sql.parse.groupings import groups
from freshview.sql.parse.models import with_models
from freshview.sql.parse.node import Node
from freshview.sql.parse.over import by_all, order_keys
from freshview.sql.parse.time_windows import with_time_windows
from freshview.sql.terms import (
    Combined,
    Cte,
    Derived,
    From,
    Item,
    Name,
    Scalar,
    Select,
    Star,
)

_OPERATIONS: dict[str, OneOf["union", "intersect", "except"]] = {
    "union": "union",
    "intersect": "intersect",
    "except": "except",
}


def select(node: Node) -> Select:
    """A query with all its clauses; what is no plain SELECT is one over it."""
    match node.key:
        case "select":
            return _plain(node)
        case "union" | "intersect" | "except":
            node.only("this", "expression", "distinct", *_OUTER)
            return _whole(node, _combined(node))
        case "values":
            return _whole(node, values(node))
        case "subquery" if not node.alias:
            node.only("this", *_OUTER)
            inner = select(node["this"])
            if not any(node.get(clause) for clause in _OUTER):
                return inner
            return _whole(node, Derived(inner, nameless(node), at=node.at))
    node.refuse(f"{node.written} as a query", "write a SELECT")


_OUTER = ("order", "limit", "offset", "with_")
"""The clauses of a query that is no plain SELECT."""


def _whole(node: Node, source: From) -> Select:
    """SELECT * FROM source, with the clauses that stand behind it."""
    return Select(
        items=(Star(None, at=node.at),),
        sources=(source,),
        order=order_keys(node.get("order")),
        by_all=by_all(node.get("order")),
        limit=_limit(node.get("limit")),
        offset=_offset(node.get("offset")),
        ctes=_ctes(node.get("with_")),
        at=node.at,
    )


def _combined(node: Node) -> Combined:
    """Two queries; a chain of UNION ALL, or of UNION, is one of many."""
    op, every = _OPERATIONS[node.key], not node.flag("distinct")
    arms = [select(node["expression"])]
    left = node["this"]
    while op == "union" and left.key == "union" and not any(left.get(c) for c in _OUTER):
        if every and left.flag("distinct"):
            break  # UNION ALL behind UNION keeps what is double in the arm behind it
        left.only("this", "expression", "distinct")
        arms.append(select(left["expression"]))
        left = left["this"]
    arms.append(select(left))
    return Combined(op, every, tuple(reversed(arms)), nameless(node), node.at)


def _plain(node: Node) -> Select:
    node.only(
        *("expressions", "from_", "joins", "where", "group", "having", "distinct"),
        *("windows", "qualify"),  # a window that is named is read where its name stands
        *("order", "limit", "offset", "with_", *IGNORED),
    )
    distinct = node.get("distinct")
    if distinct is not None and distinct.get("on") is not None:
        distinct.refuse("DISTINCT ON", "join LATERAL (SELECT ... ORDER BY ... LIMIT 1)")
    items = tuple(_item(n) for n in node.all("expressions"))
    by = groups(node.get("group"), items)
    query = Select(
        items=items,
        sources=from_items(node),
        where=_clause(node, "where"),
        group=by.group,
        having=_clause(node, "having"),
        qualify=_clause(node, "qualify"),
        distinct=distinct is not None,
        order=order_keys(node.get("order")),
        by_all=by_all(node.get("order")),
        limit=_limit(node.get("limit")),
        offset=_offset(node.get("offset")),
        sets=by.sets,
        keys=by.keys,
        ctes=_ctes(node.get("with_")),
        ignored=tuple(what for clause, what in IGNORED.items() if node.get(clause)),
        at=node.at,
    )
    return with_models(with_time_windows(query))


IGNORED = {
    "hint": "a hint",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
}
"""Clauses that tell Spark how to compute a query, and change no row of it."""


def _clause(node: Node, name: str) -> Scalar | None:
    clause = node.get(name)
    return None if clause is None else clause["this"].scalar()


def _item(node: Node) -> Item | Star:
    if node.key == "star":
        return Star(None, _left_out(node), node.at)
    if node.key == "column" and node["this"].key == "star":
        return Star(node["table"].name, _left_out(node["this"]), node.at)
    if node.key == "alias":
        node.only("this", "alias")
        return Item(node["this"].scalar(), node.alias, node.at)
    return Item(node.scalar(), None, node.at)


def _left_out(star: Node) -> tuple[Name, ...]:
    """The columns of * EXCEPT (a, b)."""
    star.only("except_")
    names = []
    for column in star.all("except_"):
        name = column.scalar()
        if not isinstance(name, Name):
            column.refuse("* EXCEPT of an expression", "name columns")
        names.append(name)
    return tuple(names)


def _limit(node: Node | None) -> int | None:
    if node is None:
        return None
    if node.key == "fetch":
        node.refuse("FETCH FIRST", "write LIMIT")
    node.only("expression")
    amount = node["expression"]
    if amount.key == "var" and amount.name.upper() == "ALL":
        return None
    return _number(amount, "LIMIT")


def _offset(node: Node | None) -> int:
    if node is None:
        return 0
    node.only("expression")
    return _number(node["expression"], "OFFSET")


def _number(amount: Node, clause: str) -> int:
    if amount.key != "literal" or not amount.name.isdigit():
        amount.refuse(f"a computed {clause}", "write a number")
    return int(amount.name)


def _ctes(node: Node | None) -> tuple[Cte, ...]:
    if node is None:
        return ()
    node.only("expressions")
    ctes: list[Cte] = []
    for cte in node.all("expressions"):
        cte.only("this", "alias", "materialized")  # what is read twice is kept once in any case
        if any(cte.alias.lower() == known.name.lower() for known in ctes):
            raise AmbiguousName(
                f"two queries of this WITH are called '{cte.alias}'",
                instead="rename one",
                at=cte.at,
            )
        query = select(cte["this"])
        ctes.append(Cte(cte.alias, column_names(cte), query, cte.at))
    return tuple(ctes)
