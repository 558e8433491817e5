"""Factorization: the common factor of several products is computed once (rule 2, backwards)."""

from __future__ import annotations

from collections import Counter

from freshview.calculus.build import ONE, add, factors, is_number, mul, sum_
from freshview.calculus.scope import free, ins, is_value, outs
from freshview.calculus.terms import Add, Delta, Expr, Rel, Sum, View


def factorize(e: Expr) -> Expr | None:
    """Q1*Q2 + Q1*Q3 => Q1 * (Q2 + Q3), also under a Sum with equal keys, whatever its sign.

    >>> from freshview.calculus.text import read, show
    >>> show(factorize(read("2 * R(x) * S(y) + S(y)")))
    'S(y) * (2 * R(x) + 1)'
    >>> show(factorize(read("Sum[](R(x) * {x > 5}) - Sum[](R(x) * {x < 1})")))
    'Sum[](R(x) * ({x > 5} - {x < 1}))'
    """
    if not isinstance(e, Add) or is_value(e):
        return None
    terms = [_sum_of_products(t) for t in e.terms]
    for keys in dict.fromkeys(keys for keys, _ in terms):
        chosen = [t for t, (own, _) in zip(e.terms, terms, strict=True) if own == keys]
        bodies = [body for own, body in terms if own == keys]
        best = _best(bodies)
        if best is None:
            continue
        having = [b for b in bodies if best in b]
        pulled = _pull(best, having, e, keys)
        rest = [t for t, b in zip(chosen, bodies, strict=True) if best not in b]
        untouched = [t for t in e.terms if not any(t is c for c in chosen)]
        return add(*untouched, pulled, *rest)
    return None


def _sum_of_products(e: Expr) -> tuple[tuple[str, ...] | None, tuple[Expr, ...]]:
    """The keys of a Sum, if a term is one, and the factors inside with its coefficients.

    New minus old stays apart: what is nested would be computed for each row of a common factor.
    """
    if isinstance(e, Sum):
        return e.keys, factors(e.body)
    parts = factors(e)
    sums = [p for p in parts if not is_number(p)]
    if len(sums) != 1 or not isinstance(sums[0], Sum):
        return None, parts
    inside = factors(sums[0].body)
    if not all(isinstance(f, Delta | Rel | View) or is_value(f) for f in inside):
        return None, parts
    return sums[0].keys, (*(p for p in parts if is_number(p)), *inside)


def _best(bodies: list[tuple[Expr, ...]]) -> Expr | None:
    """The factor that most products share and that can stand at their left."""
    counts: dict[Expr, int] = {}
    for body in bodies:
        bound = Counter(name for g in body for name in outs(g))
        for f in dict.fromkeys(body):
            if not is_number(f) and _can_lead(f, bound):
                counts[f] = counts.get(f, 0) + 1
    shared = [(n, -i, f) for i, (f, n) in enumerate(counts.items()) if n > 1]
    return max(shared, key=lambda c: c[:2])[2] if shared else None


def _can_lead(f: Expr, bound: Counter[str]) -> bool:
    """Whether no other factor of the product must bind a variable before this one."""
    own = outs(f)
    return not any(bound[name] > (name in own) for name in ins(f))


def _pull(
    f: Expr, bodies: list[tuple[Expr, ...]], whole: Expr, keys: tuple[str, ...] | None
) -> Expr:
    """F * (the rests); what only one of the rests binds is added up within it."""
    rests = []
    for body in bodies:
        left = list(body)
        left.remove(f)
        rests.append(mul(*left) if left else ONE)
    # The rests must agree on what they bind: everything else is summed away inside each.
    outside = outs(f) | free(whole) | set(keys or ())
    shared = tuple(sorted(outside))
    inner = add(*(sum_(tuple(k for k in shared if k in outs(r)), r) for r in rests))
    product = mul(f, inner)
    return product if keys is None else sum_(keys, product)
