"""The order of factors: what is cheap and selective first, every variable bound before it is read.

The order is the evaluation plan of the engines: products run left to right as nested loops.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from operator import itemgetter
from typing import assert_never

from freshview.calculus.build import add, mul, same_choice
from freshview.calculus.scope import has_data, ins, is_value, may_refuse, outs, within
from freshview.calculus.terms import (
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
from freshview.calculus.walk import variables
from freshview.errors import UnboundVariable


@lru_cache(maxsize=1 << 16)
def arrange(e: Expr, bound: frozenset[str] = frozenset()) -> Expr:
    """Reorder every product for evaluation in a context that binds `bound`.

    >>> from freshview.calculus.text import read, show
    >>> show(arrange(read("{a < 3} * M[a, b] * (DELTA R)(a)")))
    '(DELTA R)(a) * {a < 3} * M[a, b]'
    >>> show(arrange(read("(DELTA R)(t, a) * (DELTA R)(t, b) * (DELTA R)(t, c) * S(a, b, c)")))
    '(DELTA R)(t, a) * S(a, b, c) * (DELTA R)(t, b) * (DELTA R)(t, c)'
    >>> show(arrange(read("Exists(M[a] + N[a]) * {a < b}"), frozenset("b")))
    'Exists(M[a] * {a < b} + N[a] * {a < b})'
    """
    match e:
        case Const() | Var() | Apply() | Cmp() | Rel() | Delta() | View():
            return e
        case Mul(factors):
            return mul(*_ordered(factors, bound))
        case Add(terms):
            return add(*(arrange(t, bound) for t in terms))
        case Sum(keys, body):
            return Sum(keys, arrange(body, within(keys, body, bound)))
        case Lift(var, body):
            return Lift(var, arrange(body, bound))
        case Exists(body):
            return Exists(arrange(body, bound))
        case Top(keys, _, _, body):
            # A row may only be looked up within its whole group, so keys alone are bound.
            return same_choice(e, arrange(body, within(keys, body, bound)))
        case _:
            assert_never(e)


def _ordered(factors: tuple[Expr, ...], bound: frozenset[str]) -> list[Expr]:
    """Filters as soon as they can be, then what is first in line among the others."""
    done: list[Expr] = []
    # What may refuse a row comes after what may leave it out.
    filters = sorted((f for f in factors if _is_filter(f)), key=may_refuse)
    pending = [f for f in factors if not _is_filter(f)]
    links = _links(pending)
    while filters or pending:
        chosen = next((f for f in filters if ins(f) <= bound), None)
        if chosen is not None:
            filters.remove(chosen)
        elif ready := [f for f in pending if ins(f) <= bound]:
            chosen = _next([(_rank(f, bound), f) for f in ready], bound, links)
            pending.remove(chosen)
            inside = _tests_of(chosen, filters, bound)
            filters = [f for f in filters if f not in inside]
            chosen = _with_tests(chosen, inside)
        else:
            missing = min(sorted(ins(f) - bound) for f in filters + pending)
            raise UnboundVariable(f"nothing binds variable '{missing[0]}'")
        done.append(arrange(chosen, bound & variables(chosen)))
        bound = bound | outs(chosen)
    return done


def _tests_of(e: Expr, filters: list[Expr], bound: frozenset[str]) -> list[Expr]:
    """The comparisons that leave out rows of a union before it is known whether they exist.

    A union is put together as a whole: of a join by a range it would be all the rows there are.
    """
    if not (isinstance(e, Exists) and isinstance(e.body, Add)):
        return []
    new = outs(e) - bound
    return [
        f
        for f in filters
        if isinstance(f, Cmp) and ins(f) & new and ins(f) <= bound | new and not may_refuse(f)
    ]


def _with_tests(e: Expr, tests: list[Expr]) -> Expr:
    """Exists(a + b) * c = Exists(a * c + b * c): a comparison is 0 or 1."""
    if not tests:
        return e
    assert isinstance(e, Exists)
    assert isinstance(e.body, Add)
    return Exists(add(*(mul(t, *tests) for t in e.body.terms)))


def _is_filter(f: Expr) -> bool:
    """Whether a factor takes no look at the data: a value, a test, an assignment of a value."""
    return is_value(f) or (isinstance(f, Lift) and not has_data(f.body))


def _links(parts: list[Expr]) -> frozenset[str]:
    """The variables that several of the factors bind: those that they are joined on."""
    counts = Counter([v for f in parts if has_data(f) for v in outs(f)])
    return frozenset(v for v, n in counts.items() if n > 1)


def _next(ready: list[tuple[int, Expr]], bound: frozenset[str], links: frozenset[str]) -> Expr:
    """The first by rank; where that is a loop, rather a slice that makes look-ups of two or more.

    A loop for a loop would be no gain: the first by rank is likely the smaller one.
    """
    _, first = min(ready, key=itemgetter(0))
    loops = [
        (f, missing)
        for _, f in ready
        if (missing := outs(f) & links - bound) and not isinstance(f, Lift)
    ]
    if not any(f is first for f, _ in loops):
        return first

    def saved(f: Expr) -> int:
        return sum(missing <= outs(f) for g, missing in loops if g is not f)

    slices = [(saved(f), -rank, f) for rank, f in ready if outs(f) & bound]
    most, _, best = max(slices, key=itemgetter(0, 1), default=(0, 0, first))
    return best if most > max(1, saved(first)) else first


@lru_cache(maxsize=1 << 16)
def is_delta_bound(e: Expr) -> bool:
    """Whether the batch bounds a term: every row of it comes from a row of the change."""
    match e:
        case Delta():
            return True
        case Mul(factors):
            return any(is_delta_bound(f) and not isinstance(f, Lift) for f in factors)
        case Add(terms):
            return all(is_delta_bound(t) for t in terms)
        case Sum(_, body) | Exists(body) | Top(_, _, _, body):
            return is_delta_bound(body)
        case _:
            return False


def _rank(f: Expr, bound: frozenset[str]) -> int:
    """Look-ups, the batch, nested values, slices, scans."""
    unbound = outs(f) - bound
    if isinstance(f, Rel | View | Delta):
        if not unbound:
            return 1
        if isinstance(f, Delta):
            return 2
        return 4 if outs(f) & bound else 6
    if is_delta_bound(f) and not isinstance(f, Lift):
        return 2
    if not unbound or isinstance(f, Lift):
        return 3
    return 5 if outs(f) & bound else 7
