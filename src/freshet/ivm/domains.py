"""Domain extraction: which valuations a change can touch at all (seed 000, Fig. 3.5).

A domain binds variables with multiplicity 1; put before new-minus-old it bounds the work to what
changed. Two corrections of the printed algorithm: a Sum projects whenever the domain binds more
than the group-by variables, and values and comparisons are no domains of their own.
"""

from __future__ import annotations

from typing import assert_never

from freshet.calculus.build import add, mul, sum_
from freshet.calculus.scope import free, has_data, ins, outs
from freshet.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshet.calculus.walk import rename, variables
from freshet.simplify.push_sums import components

Parts = tuple[Expr, ...]


def extract_domain(
    e: Expr, keys: frozenset[str] | None = None, given: frozenset[str] = frozenset()
) -> Parts:
    """Factors of multiplicity 1 that hold wherever `e` is not zero; none if nothing bounds it.

    A domain leads its product, so it reads nothing but the trigger's variables (`given`).

    >>> from freshet.calculus.text import read, show
    >>> [show(p) for p in extract_domain(read("Sum[a]((DELTA R)(a, b) * {b > 3})"))]
    ['Exists(Sum[a](Exists((DELTA R)(a, b_d)) * {b_d > 3}))']
    >>> e = read("(a := x) * S(a, b) + (a := x) * b")
    >>> [show(p) for p in extract_domain(e, given=frozenset("x"))]
    ['(a := x)']
    """
    parts = _domain(e, given)
    if keys is not None:
        parts = _project(parts, keys, given)
    return tuple(_apart(p) for p in parts)


def common_domain(domains: tuple[Parts, ...], given: frozenset[str] = frozenset()) -> Parts:
    """A domain that holds where any of the given ones does; none if nothing bounds it.

    >>> from freshet.calculus.text import read, show
    >>> domains = ((read("(a := x)"),), (read("(a := y)"),))
    >>> [show(p) for p in common_domain(domains, frozenset("xy"))]
    ['Exists((a := x) + (a := y))']
    """
    return _union(list(domains), given)


def _apart(e: Expr) -> Expr:
    """Rename the local variables of a domain, which stands beside the term it came from."""
    local = variables(e) - free(e)
    return rename(e, {v: f"{v}_d" for v in sorted(local)})


def _domain(e: Expr, given: frozenset[str]) -> Parts:
    match e:
        case Const() | Var() | Apply() | Rel() | View():
            return ()
        case Cmp():
            return (e,)
        case Delta():
            return (Exists(e),)
        case Mul(factors):
            return _grounded(tuple(p for f in factors for p in _domain(f, given)), given)
        case Add(terms):
            return _union([_grounded(_domain(t, given), given) for t in terms], given)
        case Sum(keys, body):
            return _project(_domain(body, given), frozenset(keys), given)
        case Lift(var, body):
            if not has_data(body):
                return (e,)
            return tuple(p for p in _domain(body, given) if var not in free(p))
        case Exists(body):
            return _domain(body, given)
        case Top(keys, _, _, body):
            return _project(_domain(body, given), frozenset(keys), given)
        case _:
            assert_never(e)


def _grounded(parts: Parts, given: frozenset[str]) -> Parts:
    """Drop what reads a variable that neither the domain nor the trigger binds; binders first."""
    waiting = list(dict.fromkeys(parts))
    bound: frozenset[str] = frozenset()
    kept: list[Expr] = []
    while ready := [p for p in waiting if ins(p) <= bound | given]:
        waiting = [p for p in waiting if not ins(p) <= bound | given]
        bound = bound.union(*(outs(p) for p in ready))
        kept.extend(ready)
    return tuple(p for p in kept if free(p) & bound)


def _project(parts: Parts, keys: frozenset[str], given: frozenset[str]) -> Parts:
    """What a domain says about the keys: connected parts are projected together."""
    parts = _grounded(parts, given)
    linking = frozenset().union(*(outs(p) for p in parts)) - keys
    kept: list[Expr] = []
    for group in components(parts, linking):
        body = mul(*group)
        seen = outs(body) & keys
        if not seen and not free(body) <= keys:
            continue
        kept.extend(group if outs(body) <= keys else (Exists(sum_(tuple(sorted(seen)), body)),))
    return _grounded(tuple(kept), given)


def _union(domains: list[Parts], given: frozenset[str]) -> Parts:
    """What all addends share; where they share nothing, the union of what they say."""
    shared = tuple(p for p in domains[0] if all(p in d for d in domains[1:]))
    if shared := _grounded(shared, given):
        return shared
    seen = frozenset.intersection(*(outs(mul(*d)) for d in domains))
    if not seen:
        return ()
    rows = [sum_(tuple(sorted(seen)), mul(*_project(d, seen, given))) for d in domains]
    return (Exists(add(*rows)),) if all(outs(r) == seen for r in rows) else ()
