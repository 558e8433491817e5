"""Polynomial expansion: a product of sums becomes a sum of products (materialization rule 2)."""

from __future__ import annotations

from math import prod

from freshview.calculus.build import add, factors, mul, sum_
from freshview.calculus.scope import free, ins, is_value, outs
from freshview.calculus.terms import Add, Delta, Expr, Mul, Rel, Sum, View
from freshview.calculus.walk import turned_visible

LIMIT = 64
"""Above so many products a term stays factorized: an OR of many branches must not explode."""


def expand(e: Expr) -> Expr | None:
    """QL * (Q1 + Q2) * QR => QL*Q1*QR + QL*Q2*QR, and Sum_A(Q1 + Q2) => Sum_A(Q1) + Sum_A(Q2).

    A sum of plain values stays whole while one relation binds all its variables: price*(1-disc)
    is one number of one row, whereas a.price - b.price falls apart into two simpler views.

    >>> from freshview.calculus.text import read, show
    >>> show(expand(read("Sum[](A(x) * B(y) * (x + y))")))
    'Sum[](A(x) * B(y) * x) + Sum[](A(x) * B(y) * y)'
    """
    match e:
        case Sum(keys, Add(terms)):
            # What one branch binds and another reads comes from outside and stays visible.
            bound = ins(e.body)
            return add(*(sum_(keys + tuple(sorted(outs(t) & bound)), t) for t in terms))
        case Sum(keys, Mul() as body):
            whole = expand(body)
            if whole is None:
                return None
            summed = sum_(keys + turned_visible(body, whole), whole)
            return expand(summed) or summed
        case Mul(parts):
            split = [f for f in parts if isinstance(f, Add) and should_expand(f, parts)]
            if not split or prod(len(f.terms) for f in split) > LIMIT:
                return None
            return add(*_distribute(parts, split))
    return None


def _distribute(parts: tuple[Expr, ...], split: list[Add]) -> list[Expr]:
    products: list[tuple[Expr, ...]] = [()]
    for f in parts:
        branches = f.terms if isinstance(f, Add) and any(f is s for s in split) else (f,)
        products = [p + factors(b) for p in products for b in branches]
    return [mul(*p) for p in products]


def should_expand(f: Add, siblings: tuple[Expr, ...]) -> bool:
    """Whether distributing over this sum can make the products simpler."""
    if not is_value(f):
        return True
    sources: set[int] = set()
    for name in free(f):
        binders = [
            i
            for i, s in enumerate(siblings)
            if isinstance(s, Rel | Delta | View) and name in outs(s)
        ]
        sources.add(binders[0] if binders else -1)
    return len(sources) > 1 and bool(sources - {-1})
