"""Selective look-ups as early as possible: a product is evaluated from the left."""

from __future__ import annotations

from freshview.calculus.build import add, mul
from freshview.calculus.scope import outs
from freshview.calculus.terms import Add, Expr, Mul, Sum, View
from freshview.calculus.walk import bottom_up
from freshview.distributed.terms import Distributed
from freshview.distributed.walk import with_terms


def push_lookups(distributed: Distributed) -> Distributed:
    """The same program with look-ups inside the unions that they follow."""
    return with_terms(distributed, lambda e: bottom_up(e, push_lookup))


def push_lookup(e: Expr) -> Expr | None:
    """(Sum[a](p(a) * q(a, b)) + r(a)) * M[a] => Sum[a](p(a) * M[a] * q(a, b)) + r(a) * M[a].

    >>> from freshview.calculus.text import read, show
    >>> show(push_lookup(read("(Sum[a](R(a) * S(a, b)) + T(a)) * M[a]")))
    'Sum[a](R(a) * M[a] * S(a, b)) + T(a) * M[a]'
    """
    if not isinstance(e, Mul):
        return None
    for i, f in enumerate(e.factors):
        if not isinstance(f, Add):
            continue
        for j, g in enumerate(e.factors[i + 1 :], i + 1):
            if isinstance(g, View) and g.vars and not g.inputs and _binds(f, g):
                others = (*e.factors[i + 1 : j], *e.factors[j + 1 :])
                return mul(*e.factors[:i], _within(f, g), *others)
    return None


def _binds(f: Add, g: View) -> bool:
    return all(set(g.vars) <= outs(t) for t in f.terms)


def _within(e: Expr, g: View) -> Expr:
    """The product of a term and a look-up, placed where its keys are bound."""
    match e:
        case Add(terms) if _binds(e, g):
            return add(*(_within(t, g) for t in terms))
        case Sum(keys, body) if set(g.vars) <= set(keys):
            return Sum(keys, _within(body, g))
        case Mul(factors):
            bound: frozenset[str] = frozenset()
            for i, f in enumerate(factors):
                bound |= outs(f)
                if set(g.vars) <= bound:
                    here = _within(f, g) if set(g.vars) <= outs(f) else mul(f, g)
                    return mul(*factors[:i], here, *factors[i + 1 :])
    return mul(e, g)
