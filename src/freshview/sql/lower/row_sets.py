"""Terms that are seen to hold no row twice."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from freshview.calculus.build import NULL, ZERO, factors
from freshview.calculus.schema import Query
from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Add, Cmp, Exists, Expr, Lift, Mul, Rel, Sum, Top, Var


def is_set(e: Expr, views: Mapping[str, Query] = MappingProxyType({})) -> bool:
    """Whether every row has the multiplicity 1, as behind DISTINCT and GROUP BY.

    A view, or a part of a query, that is read by its changes is known by its definition.

    >>> from freshview.calculus.text import read
    >>> is_set(read("Exists(R(a, b)) * (n := a + 1)")), is_set(read("R(a, b)"))
    (True, False)
    >>> is_set(read("Sum[n](Exists(R(a, b)) * (n := a))"))
    False
    """
    if e == ZERO:
        return True
    match e:
        case Exists() | Cmp() | Lift():
            return True
        case Top(limit=1):
            return True
        case Sum((), Mul((Lift(n, _), Cmp("=", Var(tested), _)))) if n == tested:
            return True
        case Add((one, other)):
            return is_set(one, views) and is_set(other, views) and _are_apart(one, other)
        case Mul(parts):
            return all(is_set(p, views) for p in parts)
        case Rel(name) if name.lower() in views:
            return is_set(views[name.lower()].term, views)
        case Sum(keys, body):
            return is_set(body, views) and outs(body) <= _determined(frozenset(keys), body)
        case _:
            return False


def _are_apart(one: Expr, other: Expr) -> bool:
    """Whether the one has no NULL where the other has nothing else."""
    nothing = {f.var for f in factors(other) if isinstance(f, Lift) and f.body == NULL}
    body = one.body if isinstance(one, Top) else one
    parts = factors(body.body if isinstance(body, Sum) else body)
    there = {name for f in parts if (name := _not_null(f)) is not None}
    there |= {
        f.var
        for f in parts
        if isinstance(f, Lift) and isinstance(f.body, Var) and f.body.name in there
    }
    return bool(nothing & there)


def _not_null(test: Expr) -> str | None:
    """The variable of which a factor asks that it is not NULL."""
    match test:
        case Cmp("<>", Var(name), right) if right == NULL:
            return name
        case _:
            return None


def _determined(known: frozenset[str], body: Expr) -> frozenset[str]:
    """All that follows from some variables: assignments, and equal variables."""
    while True:
        more = set(known)
        for f in factors(body):
            match f:
                case Lift(var, value) if ins(value) | outs(value) <= known:
                    more.add(var)
                case Cmp("=", Var(a), Var(b)) if a in known or b in known:
                    more |= {a, b}
        if more == known:
            return known
        known = frozenset(more)
