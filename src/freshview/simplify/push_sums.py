"""Aggregation moves inward: parts that share no summed variable are added up apart."""

from __future__ import annotations

from freshview.calculus.build import factors, mul, sum_
from freshview.calculus.scope import free, ins, is_value, outs
from freshview.calculus.terms import Expr, Sum
from freshview.simplify.arrange import arrange
from freshview.simplify.fold import is_indicator


def push_sums(e: Expr) -> Expr | None:
    """Sum_A(Q1 * Q2) => Sum_A1(Q1) * Sum_A2(Q2) where Q1 and Q2 share no variable outside A.

    >>> from freshview.calculus.text import read, show
    >>> show(push_sums(read("Sum[b](R(a, b) * S(b, c))")))
    'Sum[b](R(a, b)) * Sum[b](S(b, c))'
    """
    if not isinstance(e, Sum):
        return None
    parts = factors(e.body)
    bound = ins(e.body)
    local = frozenset().union(*(outs(f) for f in parts)) - set(e.keys) - bound
    groups = _with_filters(_self_sufficient(components(parts, local), local))
    if len(groups) < 2:
        return None
    sums = []
    for group in groups:
        body = mul(*group)
        sums.append(sum_(tuple(sorted(outs(body) - local)), body))
    # Joined groups may stand before what they read, and may even wait for each other.
    return arrange(mul(*sums), bound) if can_run(sums, bound) else None


def can_run(parts: list[Expr], bound: frozenset[str]) -> bool:
    """Whether factors can be put in an order in which each reads only what is bound."""
    waiting = list(parts)
    while ready := [f for f in waiting if ins(f) <= bound]:
        waiting = [f for f in waiting if not ins(f) <= bound]
        bound = bound.union(*(outs(f) for f in ready))
    return not waiting


def _self_sufficient(
    groups: list[tuple[Expr, ...]], local: frozenset[str]
) -> list[tuple[Expr, ...]]:
    """Join a group that sums to the group that binds what it reads.

    Apart, it would be added up anew for every row of the other; together, what does not depend
    on the row (a nested aggregate, say) is computed once, before the loop.
    """
    for i, group in enumerate(groups):
        body = mul(*group)
        if not free_within(group) & local:
            continue
        for j, other in enumerate(groups):
            if i != j and ins(body) & outs(mul(*other)):
                merged = other + group
                rest = [g for k, g in enumerate(groups) if k not in (i, j)]
                return _self_sufficient([*rest, merged], local)
    return groups


def _with_filters(groups: list[tuple[Expr, ...]]) -> list[tuple[Expr, ...]]:
    """Give a test to the group that binds what it reads: rows are dropped before they add up."""
    tests = [g for g in groups if all(is_indicator(f) and is_value(f) for f in g)]
    others = [g for g in groups if g not in tests]
    for test in tests:
        needed = free_within(test)
        for i, group in enumerate(others):
            if needed and needed <= outs(mul(*group)):
                others[i] = group + test
                break
        else:
            others.append(test)
    return others


def free_within(group: tuple[Expr, ...]) -> frozenset[str]:
    """The variables that the factors of a group share with each other or the outside."""
    return frozenset().union(*(free(f) for f in group))


def components(parts: tuple[Expr, ...], linking: frozenset[str]) -> list[tuple[Expr, ...]]:
    """Group factors that are connected by linking variables; order is kept.

    >>> from freshview.calculus.text import read
    >>> [len(g) for g in components(read("R(a, b) * S(c) * a").factors, frozenset("abc"))]
    [2, 1]
    """
    groups: list[tuple[set[str], list[int]]] = []
    for i, f in enumerate(parts):
        names = set(free(f) & linking)
        members = [i]
        rest = []
        for known, indices in groups:
            if known & names:
                names |= known
                members = indices + members
            else:
                rest.append((known, indices))
        groups = [*rest, (names, members)]
    ordered = sorted((sorted(indices) for _, indices in groups), key=lambda g: g[0])
    return [tuple(parts[i] for i in indices) for indices in ordered]
