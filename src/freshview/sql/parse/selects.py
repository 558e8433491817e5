"""SELECT statements of the parser's tree, as our own."""

from __future__ import annotations

from typing import Literal as OneOf

from freshview.errors import AmbiguousName
from freshview.sql.parse.node import Node
from freshview.sql.terms import (
    Cte,
    Derived,
    From,
    Item,
    Join,
    OrderKey,
    Scalar,
    Select,
    Star,
    Table,
)


def select(node: Node) -> Select:
    """A SELECT with all its clauses."""
    if node.key == "subquery" and not node.alias:
        node.only("this")
        return select(node["this"])
    if node.key in ("union", "except", "intersect"):
        node.refuse(node.key.upper(), "write one view for each side")
    if node.key != "select":
        node.refuse(f"{node.key.upper()} as a query", "write a SELECT")
    node.only(
        *("expressions", "from_", "joins", "where", "group", "having", "distinct"),
        *("order", "limit", "with_"),
    )
    distinct = node.get("distinct")
    if distinct is not None and distinct.get("on") is not None:
        distinct.refuse("DISTINCT ON", "use ORDER BY with LIMIT, or MIN and MAX with GROUP BY")
    return Select(
        items=tuple(_item(n) for n in node.all("expressions")),
        sources=_sources(node),
        where=_clause(node, "where"),
        group=_group(node.get("group")),
        having=_clause(node, "having"),
        distinct=distinct is not None,
        order=_order(node.get("order")),
        limit=_limit(node.get("limit")),
        ctes=_ctes(node.get("with_")),
        at=node.at,
    )


def _clause(node: Node, name: str) -> Scalar | None:
    clause = node.get(name)
    return None if clause is None else clause["this"].scalar()


def _item(node: Node) -> Item | Star:
    if node.key == "star":
        node.only()
        return Star(None, node.at)
    if node.key == "column" and node["this"].key == "star":
        node["this"].only()
        return Star(node["table"].name, node.at)
    if node.key == "alias":
        node.only("this", "alias")
        return Item(node["this"].scalar(), node.alias, node.at)
    return Item(node.scalar(), None, node.at)


def _group(node: Node | None) -> tuple[Scalar, ...]:
    if node is None:
        return ()
    node.only("expressions")
    return tuple(n.scalar() for n in node.all("expressions"))


def _order(node: Node | None) -> tuple[OrderKey, ...]:
    if node is None:
        return ()
    node.only("expressions")
    keys = []
    for key in node.all("expressions"):
        key.only("this", "desc", "nulls_first")
        expr = key["this"].scalar()
        keys.append(OrderKey(expr, key.flag("desc"), key.flag("nulls_first"), key.at))
    return tuple(keys)


def _limit(node: Node | None) -> int | None:
    if node is None:
        return None
    if node.key != "limit":
        node.refuse(node.key.upper(), "write LIMIT")
    node.only("expression")
    amount = node["expression"]
    if amount.key != "literal" or not amount.name.isdigit():
        amount.refuse("a computed LIMIT", "write a number")
    return int(amount.name)


def _ctes(node: Node | None) -> tuple[Cte, ...]:
    if node is None:
        return ()
    node.only("expressions")
    ctes: list[Cte] = []
    for cte in node.all("expressions"):
        cte.only("this", "alias")
        if any(cte.alias.lower() == known.name.lower() for known in ctes):
            raise AmbiguousName(
                f"two queries of this WITH are called '{cte.alias}'",
                instead="rename one",
                at=cte.at,
            )
        query = select(cte["this"])
        ctes.append(Cte(cte.alias, _columns(cte), query, cte.at))
    return tuple(ctes)


def _columns(node: Node) -> tuple[str, ...]:
    alias = node.get("alias")
    return () if alias is None else tuple(n.name for n in alias.all("columns"))


def _sources(node: Node) -> tuple[From, ...]:
    """The FROM clause: a comma binds weaker than any JOIN."""
    first = node.get("from_")
    if first is None:
        return ()
    first.only("this")
    done: list[From] = []
    current = _source(first["this"])
    for join in [*first["this"].all("joins"), *node.all("joins")]:
        if _is_comma(join):
            done.append(current)
            current = _source(join["this"])
        else:
            current = _join(current, join)
    return (*done, current)


def _is_comma(join: Node) -> bool:
    start = join["this"].start
    return start is not None and join.script.before(start) == ","


def _source(node: Node) -> From:
    if node.key == "table":
        node.only("this", "alias", "joins")
        return Table(node.name, node.alias or node.name, _columns(node), node.at)
    if node.key == "subquery":
        node.only("this", "alias", "joins")
        inner = node["this"]
        if inner.key in ("table", "subquery") and not node.alias:
            return _parenthesis(inner)
        if not node.alias:
            node.refuse("a subquery without a name", "write (SELECT ...) AS name")
        return Derived(select(inner), node.alias, _columns(node), node.at)
    node.refuse(f"{node.key.upper()} in FROM", "name a table, a view or a subquery")


def _parenthesis(node: Node) -> From:
    current = _source(node)
    for join in node.all("joins"):
        if _is_comma(join):
            join.refuse("a comma inside parentheses in FROM", "write CROSS JOIN")
        current = _join(current, join)
    return current


_SIDES: dict[str, OneOf["inner", "left", "right", "full"]] = {
    "": "inner",
    "LEFT": "left",
    "RIGHT": "right",
    "FULL": "full",
}


def _join(left: From, node: Node) -> From:
    node.only("this", "side", "kind", "method", "on", "using")
    side, kind, method = node.word("side"), node.word("kind"), node.word("method")
    if side not in _SIDES or kind not in ("", "INNER", "OUTER", "CROSS"):
        node.refuse(f"{side} {kind} JOIN".strip(), "write it with EXISTS or NOT EXISTS")
    if method not in ("", "NATURAL"):
        node.refuse(f"{method} JOIN", "write an explicit JOIN")
    on, using = node.get("on"), node.all("using")
    right = node["this"]
    source = _source(right)
    for nested in right.all("joins"):
        source = _join(source, nested)
    return Join(
        _SIDES[side],
        left,
        source,
        None if on is None else on.scalar(),
        None if method else tuple(n.name for n in using),
        node.at,
    )
