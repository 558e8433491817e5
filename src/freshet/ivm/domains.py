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


def extract_domain(e: Expr, keys: frozenset[str] | None = None) -> Expr:
    """A term of multiplicity 1 that holds wherever `e` is not zero; 1 if nothing bounds it.

    >>> from freshet.calculus.text import read, show
    >>> show(extract_domain(read("Sum[a]((DELTA R)(a, b) * {b > 3})")))
    'Exists(Sum[a](Exists((DELTA R)(a, b_d)) * {b_d > 3}))'
    >>> show(extract_domain(read("(a := x) * S(a, b) + (a := x) * b")))
    '(a := x)'
    """
    parts = _domain(e)
    if keys is not None:
        parts = _project(parts, keys)
    return mul(*(_apart(p) for p in parts))


def _apart(e: Expr) -> Expr:
    """Rename the local variables of a domain, which stands beside the term it came from."""
    local = variables(e) - free(e)
    return rename(e, {v: f"{v}_d" for v in sorted(local)})


def _domain(e: Expr) -> Parts:
    match e:
        case Const() | Var() | Apply() | Rel() | View():
            return ()
        case Cmp():
            return (e,)
        case Delta():
            return (Exists(e),)
        case Mul(factors):
            return _grounded(tuple(p for f in factors for p in _domain(f)), outs(e))
        case Add(terms):
            return _union([_domain(t) for t in terms])
        case Sum(keys, body):
            return _project(_domain(body), frozenset(keys))
        case Lift(_, body):
            return _bounded_by_body(e) if has_data(body) else (e,)
        case Exists(body):
            return _domain(body)
        case Top(keys, _, _, body):
            return _project(_domain(body), frozenset(keys))
        case _:
            assert_never(e)


def _bounded_by_body(e: Lift) -> Parts:
    """What bounds a lifted change: its own variable has a value of its own there."""
    return tuple(p for p in _domain(e.body) if e.var not in free(p))


def _grounded(parts: Parts, inner: frozenset[str]) -> Parts:
    """Drop what reads a variable that the product binds, but the domain does not."""
    while True:
        parts = tuple(dict.fromkeys(parts))
        bound = frozenset().union(*(outs(p) for p in parts))
        kept = tuple(p for p in parts if ins(p) & inner <= bound and free(p) & bound)
        if kept == parts:
            return parts
        parts = kept


def _project(parts: Parts, keys: frozenset[str]) -> Parts:
    """What a domain says about the keys: connected parts are projected together."""
    linking = frozenset().union(*(outs(p) for p in parts)) - keys
    kept: list[Expr] = []
    for group in components(parts, linking):
        body = mul(*group)
        seen = outs(body) & keys
        if not seen and not free(body) <= keys:
            continue
        kept.extend(group if outs(body) <= keys else (Exists(sum_(tuple(sorted(seen)), body)),))
    return _grounded(tuple(kept), frozenset())


def _union(domains: list[Parts]) -> Parts:
    """What all addends share; where they share nothing, the union of what they say."""
    inner = frozenset().union(*(outs(p) for d in domains for p in d))
    shared = _grounded(tuple(p for p in domains[0] if all(p in d for d in domains[1:])), inner)
    if shared:
        return shared
    seen = frozenset.intersection(*(outs(mul(*d)) for d in domains))
    if not seen:
        return ()
    rows = [sum_(tuple(sorted(seen)), mul(*_project(d, seen))) for d in domains]
    return (Exists(add(*rows)),) if all(outs(r) == seen for r in rows) else ()
