"""Conditions on the ROW_NUMBER of a subquery, as QUALIFY of that subquery.

    SELECT * FROM (SELECT a, ROW_NUMBER() OVER (ORDER BY b) AS n FROM r) WHERE n <= 3

has QUALIFY ROW_NUMBER() OVER (ORDER BY b) <= 3 inside, and keeps three rows.
"""

from __future__ import annotations

from dataclasses import replace

from freshview.sql.lower.env import Env
from freshview.sql.lower.over.first_rows import first_rows
from freshview.sql.terms import (
    And,
    Compare,
    Derived,
    From,
    Item,
    Literal,
    Name,
    Over,
    Scalar,
    Select,
    Table,
)
from freshview.sql.walk import conjuncts


def qualified(query: Select, env: Env) -> tuple[Select, Env]:
    """The query with such conditions inside; a WITH that one of them is about gets a copy."""
    if query.where is None or len(query.sources) != 1:
        return query, env
    source, *_ = query.sources
    tests: list[Scalar] = []
    for test in conjuncts(query.where):
        inner = _subquery(source, env)
        moved = None if inner is None else _inside(test, source, inner)
        if inner is None or moved is None:
            tests.append(test)
            continue
        both = moved if inner.qualify is None else And((inner.qualify, moved), test.at)
        source, env = _with_subquery(source, replace(inner, qualify=both), env)
    where = And(tuple(tests), query.at) if tests else None
    return replace(query, sources=(source,), where=where), env


def _subquery(source: From, env: Env) -> Select | None:
    """The SELECT of a FROM item, if a condition on its rows may go into it."""
    match source:
        case Derived(query, columns=(), lateral=False):
            inner = query
        case Table(name, columns=()) if name.lower() in env.ctes:
            cte, _ = env.ctes[name.lower()]
            if cte.columns:
                return None
            inner = cte.query
        case _:
            return None
    cut = inner.limit is not None or inner.offset or inner.sets
    return None if cut else inner


def _with_subquery(source: From, inner: Select, env: Env) -> tuple[From, Env]:
    if isinstance(source, Derived):
        return replace(source, query=inner), env
    assert isinstance(source, Table)
    cte, around = env.ctes[source.name.lower()]
    name = env.names.fresh(f"{cte.name.lower()}#")
    ctes = {**env.ctes, name: (replace(cte, query=inner), around)}
    return replace(source, name=name), replace(env, ctes=ctes)


def _inside(test: Scalar, source: From, inner: Select) -> Scalar | None:
    """The condition about the expression that a column is, if it says which rows are first."""
    if not isinstance(test, Compare):
        return None
    left, right = (_expression(e, source, inner) for e in (test.left, test.right))
    if left is None or right is None:
        return None
    moved = replace(test, left=left, right=right)
    return None if first_rows(moved) is None else moved


def _expression(e: Scalar, source: From, inner: Select) -> Scalar | None:
    """A literal, or the window function that a column of the subquery is."""
    if isinstance(e, Literal):
        return e
    alias = source.alias if isinstance(source, Table | Derived) else ""
    if not isinstance(e, Name) or (e.table or alias).lower() != alias.lower():
        return None
    named = [
        i.expr
        for i in inner.items
        if isinstance(i, Item) and (i.name or "").lower() == e.name.lower()
    ]
    return named[0] if len(named) == 1 and isinstance(named[0], Over) else None
