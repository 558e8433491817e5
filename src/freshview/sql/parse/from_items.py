"""What stands in FROM: tables, subqueries, VALUES, range(n), and their joins."""

from __future__ import annotations

from typing import Literal as OneOf

from freshview.calculus.types import INT
from freshview.errors import TypeProblem
from freshview.sql.parse.node import Node
from freshview.sql.parse.pivots import with_pivots
from freshview.sql.parse.time_windows import TABLE_FUNCTIONS, table_function
from freshview.sql.parse.written import EXPRESSIONS
from freshview.sql.terms import Derived, From, Join, Literal, Table, Values

MOST_ROWS = 100
"""Rows of one range: they are written out in the query's term."""


def from_items(node: Node) -> tuple[From, ...]:
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


def column_names(node: Node) -> tuple[str, ...]:
    """The columns that an alias names: x (a, b)."""
    alias = node.get("alias")
    return () if alias is None else tuple(n.name for n in alias.all("columns"))


def nameless(node: Node) -> str:
    """The alias of what has none: nobody can write it, and no two are the same."""
    return f"#{node.at.line}:{node.at.column}"


def _is_comma(join: Node) -> bool:
    """Whether a source follows a comma, which binds less than JOIN: only the text tells."""
    source, script = join["this"], join.script
    if any(join.flag(name) for name in ("side", "method", "on", "using")):
        return False
    alias = source.get("alias")
    end = source.start if alias is None else alias.start
    if end is None:
        return False
    # Constants have no place: the first that is known may be inside the parentheses.
    match source.key:
        case "values":
            start = script.last("VALUES", end)
        case "lateral":
            start = script.last("LATERAL", end)
        case "subquery" if alias is not None:
            start = script.opening(end)
        case _:
            start = source.start if source.start is not None else end
    return script.before(start) == ","


def _source(node: Node) -> From:
    match node.key:
        case "table" if node["this"].key == "anonymous":
            if node["this"].name.lower() in TABLE_FUNCTIONS:
                node.only("this", "alias", "joins")
                return table_function(node, node.alias or nameless(node))
            return _range(node)
        case "table" if node["this"].key != "identifier":
            node.refuse(
                f"the table function {node['this'].written}", "use range(n), VALUES or a subquery"
            )
        case "table":
            node.only("this", "db", "catalog", "alias", "joins", "pivots")
            parts = (node.get("catalog"), node.get("db"), node["this"])
            path = ".".join(p.name for p in parts if p is not None)
            table = Table(path, node.alias or node.name, column_names(node), node.at)
            return with_pivots(table, node, nameless(node))
        case "values":
            return values(node)
        case "lateral":
            return _lateral(node)
        case "subquery":
            node.only("this", "alias", "joins", "pivots")
            inner = node["this"]
            if inner.key in ("table", "subquery") and not node.alias:
                return with_pivots(_parenthesis(inner), node, nameless(node))
            return with_pivots(_derived(node), node, nameless(node))
    what, _ = EXPRESSIONS.get(node.key, (node.written, ""))
    node.refuse(f"{what} in FROM", "name a table, a view or a subquery")


def _derived(node: Node) -> Derived:
    alias = node.alias or nameless(node)
    return Derived(node["this"].select(), alias, column_names(node), node.at)


def _lateral(node: Node) -> From:
    """LATERAL (SELECT ...), which may read what stands before it in FROM."""
    if node.flag("view") or node["this"].key != "subquery":
        node.refuse("LATERAL VIEW" if node.flag("view") else "LATERAL of this", "join a subquery")
    node.only("this", "alias")
    node["this"].only("this")
    alias = node.alias or nameless(node)
    return Derived(node["this"].select(), alias, column_names(node), node.at, lateral=True)


def values(node: Node) -> Values:
    """VALUES (1, 'a'), (2, 'b') AS x (a, b)."""
    node.only("expressions", "alias")
    tuples = node.all("expressions")
    alias, rows = node.alias, []
    for row in tuples:
        entries = row.all("expressions") if row.key == "tuple" else [row]
        if row is tuples[-1] and len(entries) == 1 and entries[0].key == "alias":
            # VALUES 1, 2 AS x (a): the parser takes the name for that of the last value
            alias, entries = alias or entries[0].alias, [entries[0]["this"]]
        rows.append(tuple(n.scalar() for n in entries))
    if len({len(row) for row in rows}) != 1:
        raise TypeProblem(
            "the rows of VALUES have different numbers of columns",
            instead="give all of them as many",
            at=node.at,
        )
    names = column_names(node) or tuple(f"col{i + 1}" for i in range(len(rows[0])))
    return Values(tuple(rows), alias or nameless(node), names, node.at)


def _range(node: Node) -> From:
    """Range(n), range(from, to), range(from, to, step): integers in a column `id`."""
    call = node["this"]
    if call.name.lower() != "range":
        node.refuse(f"the table function '{call.name}'", "use range(n), VALUES or a subquery")
    node.only("this", "alias", "joins")
    bounds: list[int] = []
    for argument in call.all("expressions"):
        entry = argument.scalar()
        if not (isinstance(entry, Literal) and type(entry.value) is int):
            argument.refuse("a computed RANGE", "write numbers, as in range(10)")
        bounds.append(entry.value)
    if not 1 <= len(bounds) <= 3 or bounds[2:] == [0]:
        call.refuse("this RANGE", "write range(n), range(from, to) or range(from, to, step)")
    numbers = range(*bounds)
    if len(numbers) > MOST_ROWS:
        call.refuse(
            f"RANGE of more than {MOST_ROWS} rows", "declare a CREATE TABLE, and load them there"
        )
    rows = tuple((Literal(n, INT, node.at),) for n in numbers)
    return Values(rows, node.alias or nameless(node), column_names(node) or ("id",), node.at)


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
    tests = kind in ("SEMI", "ANTI") and side in ("", "LEFT")
    if not tests and (side not in _SIDES or kind not in ("", "INNER", "OUTER", "CROSS")):
        node.refuse(f"{side} {kind} JOIN".strip(), "write a LEFT, RIGHT or FULL JOIN")
    if method == "ASOF" and (tests or side not in ("", "LEFT") or kind == "CROSS"):
        node.refuse(f"ASOF {side or kind} JOIN", "write ASOF JOIN or ASOF LEFT JOIN")
    if method not in ("", "NATURAL", "ASOF"):
        node.refuse(f"{method} JOIN", "write an explicit JOIN")
    on, using = node.get("on"), node.all("using")
    right = node["this"]
    source = _source(right)
    for nested in right.all("joins"):
        source = _join(source, nested)
    how: OneOf["inner", "left", "right", "full", "semi", "anti"] = _SIDES.get(side, "inner")
    if tests:
        how = "semi" if kind == "SEMI" else "anti"
    return Join(
        how,
        left,
        source,
        None if on is None else on.scalar(),
        None if method == "NATURAL" else tuple(n.name for n in using),
        method == "ASOF",
        node.at,
    )
