"""A sum inside a summed product is part of it: Sum_A(Q1 * Sum_B(Q2)) => Sum_A(Q1 * Q2)."""

from __future__ import annotations

from freshview.calculus.build import factors, mul, sum_
from freshview.calculus.scope import free
from freshview.calculus.terms import Expr, Sum
from freshview.calculus.walk import rename, variables


def unnest(e: Expr) -> Expr | None:
    """Sum_A(Q1 * Sum_B(Q2)) => Sum_A(Q1 * Q2), locals of Q2 renamed apart.

    >>> from freshview.calculus.text import read, show
    >>> show(unnest(read("Sum[a](R(a, b) * Sum[a](S(a, b)))")))
    'Sum[a](R(a, b) * S(a, b_1))'
    """
    if not isinstance(e, Sum):
        return None
    parts = factors(e.body)
    if not any(isinstance(f, Sum) for f in parts):
        return None
    used = set(e.keys).union(*(variables(f) for f in parts if not isinstance(f, Sum)))
    used |= set().union(*(free(f) for f in parts))
    flat: list[Expr] = []
    for f in parts:
        if isinstance(f, Sum):
            inner = apart(f, used).body
            used |= variables(inner)
            flat.append(inner)
        else:
            flat.append(f)
    return sum_(e.keys, mul(*flat))


def apart(e: Sum, used: set[str]) -> Sum:
    """The same sum, its local variables renamed away from names in use."""
    names: dict[str, str] = {}
    names_in_use = used | variables(e)
    for v in sorted(variables(e) - free(e)):
        if v in used:
            n = 1
            while f"{v}_{n}" in names_in_use:
                n += 1
            names[v] = f"{v}_{n}"
            names_in_use.add(names[v])
    if not names:
        return e
    # Renamed by hand: the constructor may drop the Sum that the caller wants to open.
    return Sum(e.keys, rename(e.body, names))
