"""Structs: columns whose names begin with that of the struct and a point, as in flat Arrow."""

from __future__ import annotations

from dataclasses import replace

from freshview.sql.lower.scope import Scope
from freshview.sql.terms import Item, Name, Scalar, Select, Star


def with_fields(query: Select, scope: Scope) -> Select:
    """A SELECT with the columns of a struct where its list or GROUP BY names the struct."""
    if not any("." in c.name for c in scope.plain):
        return query
    items = tuple(x for item in query.items for x in _items(item, scope))
    group = tuple(x for e in query.group for x in _fields(e, scope) or (e,))
    return replace(query, items=items, group=group)


def _items(item: Item | Star, scope: Scope) -> tuple[Item | Star, ...]:
    if isinstance(item, Star) or not (fields := _fields(item.expr, scope)):
        return (item,)
    struct = item.expr.name if isinstance(item.expr, Name) else ""
    title = item.name or struct
    return tuple(Item(f, title + f.name[len(struct) :], item.at) for f in fields)


def _fields(e: Scalar, scope: Scope) -> tuple[Name, ...]:
    """The columns of what an expression names, if that is a struct."""
    if not isinstance(e, Name) or e.table is not None:
        return ()
    if any(c.name.lower() == e.name.lower() for c in scope.plain):
        return ()
    return tuple(Name(c.name, None, e.at) for c in scope.fields(e.name))
