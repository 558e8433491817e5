"""Whether a SELECT has at most one row, whatever the data."""

from __future__ import annotations

from dataclasses import replace

from freshview.errors import UnknownName
from freshview.sql.lower.env import Env
from freshview.sql.lower.scope import Scope
from freshview.sql.terms import (
    Aggregate,
    Compare,
    Derived,
    ExistsQuery,
    From,
    Item,
    Join,
    Name,
    Quantified,
    Ref,
    Scalar,
    ScalarQuery,
    Select,
    Table,
    Values,
)
from freshview.sql.walk import conjuncts, inside


def is_one_row(query: Select) -> bool:
    """A global aggregate that nothing filters is one row always."""
    if query.group or query.keys or query.having is not None:
        return False
    if query.limit is not None or query.offset or query.order:
        return False
    return _has_aggregate(query)


def _has_aggregate(query: Select) -> bool:
    exprs = (i.expr for i in query.items if isinstance(i, Item))
    return any(isinstance(x, Aggregate) for e in exprs for x in inside(e))


def at_most_one(query: Select, env: Env) -> bool:
    """LIMIT 1, a global aggregate, no FROM at all, or all keys fixed by equality."""
    if query.limit in (0, 1) or not query.sources:
        return True
    if query.keys:
        return False
    if not query.group and all(_is_one_row(s, env) for s in query.sources):
        return True
    if not query.group and (query.having is not None or _has_aggregate(query)):
        return True
    tests = [env.resolve(c) for c in conjuncts(query.where)]
    fixed = _fixed(tests, env.scope)
    if query.group:
        return all(_is_fixed_column(g, fixed, env.scope) for g in query.group)
    plain = all(_is_plain(s) for s in query.sources)
    return plain and all(i.key and set(i.key) <= fixed for i in env.scope.items)


def _is_one_row(source: From, env: Env) -> bool:
    """Whether a FROM item has at most one row: a subquery, or a name for one, that has."""
    match source:
        case Derived(query):
            return _has_one(query, env)
        case Table(name):
            named = env.ctes.get(name.lower())
            return named is not None and _has_one(named[0].query, named[1])
        case Values(rows):
            return len(rows) <= 1
        case Join("inner" | "left" | "semi" | "anti" as kind, left, right):
            only_left = kind in ("semi", "anti")
            return _is_one_row(left, env) and (only_left or _is_one_row(right, env))
        case _:
            return False


def _has_one(query: Select, env: Env) -> bool:
    """The same of a query inside, without a look at keys."""
    if query.limit in (0, 1) or is_one_row(query):
        return True
    if query.sets or query.group:
        return False
    named = {cte.name.lower(): (cte, env) for cte in query.ctes}
    inner = replace(env, ctes={**env.ctes, **named})
    return all(_is_one_row(s, inner) for s in query.sources)


def _is_fixed_column(e: Scalar, fixed: set[str], scope: Scope) -> bool:
    """An alias or an expression may be fixed as well, but that is not looked into."""
    if not isinstance(e, Name):
        return False
    try:
        return scope.find(e).var in fixed
    except UnknownName:
        return False


def _is_plain(source: From) -> bool:
    match source:
        case Table():
            return True
        case Join("inner", left, right):
            return _is_plain(left) and _is_plain(right)
        case _:
            return False


def _fixed(tests: list[Scalar], scope: Scope) -> set[str]:
    """The variables here that equality with something fixed holds to one value."""
    equal = [t for t in tests if isinstance(t, Compare) and t.op == "="]
    pairs = [(t.left, t.right) for t in equal] + [(t.right, t.left) for t in equal]
    fixed: set[str] = set()
    while True:
        before = len(fixed)
        for target, source in pairs:
            if isinstance(target, Ref) and scope.is_local(target.var):
                if _is_fixed(source, fixed, scope):
                    fixed.add(target.var)
        for item in scope.items:
            if item.key and set(item.key) <= fixed:
                fixed.update(c.var for c in item.columns)
        if len(fixed) == before:
            return fixed


def _is_fixed(e: Scalar, fixed: set[str], scope: Scope) -> bool:
    for x in inside(e):
        if isinstance(x, ScalarQuery | ExistsQuery | Quantified):
            return False
        if isinstance(x, Ref) and scope.is_local(x.var) and x.var not in fixed:
            return False
    return True
