"""Polynomial expansion: a product of sums becomes a sum of products (materialization rule 2)."""

from __future__ import annotations

from collections.abc import Mapping
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
            sums = [f for f in parts if isinstance(f, Add)]
            binders = first_binders(parts) if sums else {}
            split = [f for f in sums if should_expand(f, binders)]
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


def first_binders(parts: tuple[Expr, ...]) -> dict[str, int]:
    """Which of the factors is the first relation or map that binds a variable."""
    binders: dict[str, int] = {}
    for i, f in enumerate(parts):
        if isinstance(f, Rel | Delta | View):
            for name in outs(f):
                binders.setdefault(name, i)
    return binders


def should_expand(f: Add, binders: Mapping[str, int]) -> bool:
    """Whether distributing over this sum can make the products simpler."""
    if not is_value(f):
        return True
    sources = {binders.get(name, -1) for name in free(f)}
    return len(sources) > 1 and bool(sources - {-1})
