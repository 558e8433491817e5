"""PIVOT and UNPIVOT behind a table or subquery in FROM."""

from __future__ import annotations

from freshview.calculus.casts import to_string
from freshview.sql.parse.node import Node
from freshview.sql.terms import From, Literal, Name, Pivot, Scalar, Unpivot


def with_pivots(source: From, node: Node, alias: str) -> From:
    """A FROM item with what stands behind it; `alias` is for what has none."""
    for pivot in node.all("pivots"):
        read = _unpivot if pivot.flag("unpivot") else _pivot
        source = read(source, pivot, pivot.alias or alias)
    return source


_NAMING = ("columns", "identify_pivot_strings", "prefixed_pivot_columns", "pivot_column_naming")


def _pivot(source: From, node: Node, alias: str) -> Pivot:
    node.only("expressions", "fields", "alias", "unpivot", "default_on_null", *_NAMING)
    aggregates = node.all("expressions")
    field = _field(node)
    columns = _names(field["this"])
    values: list[tuple[tuple[Scalar, ...], str]] = []
    for entry in field.all("expressions"):
        value, label = _labelled(entry)
        parts = value.all("expressions") if value.key == "tuple" else [value]
        if len(parts) != len(columns):
            entry.refuse(f"a value of {len(parts)} parts for {len(columns)} columns", "name all")
        scalars = tuple(p.scalar() for p in parts)
        values.append((scalars, label or _shown(scalars, entry)))
    named = [_aggregate(n, several=len(aggregates) > 1) for n in aggregates]
    return Pivot(source, tuple(named), columns, tuple(values), alias, node.at)


def _aggregate(node: Node, *, several: bool) -> tuple[Scalar, str]:
    """An aggregate, and what the names of its columns end with: nothing, if there is only one."""
    if node.key == "alias":
        return node["this"].scalar(), node.alias if several else ""
    return node.scalar(), node.raw.sql("spark", normalize_functions="lower") if several else ""


def _unpivot(source: From, node: Node, alias: str) -> Unpivot:
    node.only(
        *("expressions", "fields", "alias", "unpivot", "include_nulls"),
        *("default_on_null", "value_columns_first", *_NAMING),
    )
    [target] = node.all("expressions")
    values = target.all("expressions") if target.key == "tuple" else [target]
    field = _field(node)
    sets: list[tuple[tuple[Name, ...], str]] = []
    for entry in field.all("expressions"):
        columns, label = _labelled(entry)
        group = _names(columns)
        if len(group) != len(values):
            entry.refuse(f"{len(group)} columns for {len(values)} names", "give as many")
        sets.append((group, label or "_".join(n.name for n in group)))
    names = tuple(v.name for v in values)
    kept = node.flag("include_nulls")
    return Unpivot(source, names, field["this"].name, tuple(sets), kept, alias, node.at)


def _field(node: Node) -> Node:
    fields = node.all("fields")
    if len(fields) != 1 or fields[0].key != "in":
        node.refuse("this PIVOT", "write PIVOT (SUM(x) FOR k IN (1, 2))")
    fields[0].only("this", "expressions")
    return fields[0]


def _labelled(entry: Node) -> tuple[Node, str]:
    if entry.key == "pivotalias":
        return entry["this"], entry["alias"].name
    return entry, ""


def _names(node: Node) -> tuple[Name, ...]:
    columns = node.all("expressions") if node.key == "tuple" else [node]
    names = []
    for column in columns:
        name = column.scalar()
        if not isinstance(name, Name):
            column.refuse("an expression here", "name a column, and compute it in a subquery")
        names.append(name)
    return tuple(names)


def _shown(values: tuple[Scalar, ...], entry: Node) -> str:
    """What a column is called after its value."""
    words = []
    for v in values:
        if not isinstance(v, Literal):
            entry.refuse("a computed value without a name", "write value AS name")
        words.append("null" if v.value is None else to_string(v.value))
    return words[0] if len(words) == 1 else f"{{{', '.join(words)}}}"
