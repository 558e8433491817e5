"""Range restriction: a key that equals a trigger variable needs no loop (DBToaster 2014, 5.3)."""

from __future__ import annotations

from freshview.calculus.build import add, addends, factors, mul, sum_
from freshview.calculus.scope import outs
from freshview.calculus.terms import Expr, Lift, Sum, Var
from freshview.calculus.walk import rename, tops


def restrict(
    keys: tuple[str, ...], e: Expr, params: frozenset[str]
) -> list[tuple[tuple[str, ...], Expr]]:
    """Split a delta by what its terms say of the keys: foreach B do Q[x, B] += ...

    Terms that restrict the keys in the same way go into one statement.

    >>> from freshview.calculus.text import read, show
    >>> change = read("(A := x) * R(x) * S(B)")
    >>> [(k, show(t)) for k, t in restrict(("A", "B"), change, frozenset("x"))]
    [(('x', 'B'), 'R(x) * S(B)')]
    """
    by_target: dict[tuple[str, ...], list[Expr]] = {}
    for term in addends(e):
        names, rest = _extract(keys, term, params)
        target = tuple(names.get(k, k) for k in keys)
        by_target.setdefault(target, []).append(rest)
    return [(target, add(*terms)) for target, terms in by_target.items()]


def _extract(
    keys: tuple[str, ...], term: Expr, params: frozenset[str]
) -> tuple[dict[str, str], Expr]:
    names: dict[str, str] = {}
    body = term.body if isinstance(term, Sum) else term
    kept: list[Expr] = []
    for f in factors(body):
        if isinstance(f, Lift) and f.var in keys and f.var not in names:
            if isinstance(f.body, Var) and f.body.name in params and not _is_chosen(f.var, body):
                names[f.var] = f.body.name
                continue
        kept.append(f)
    rest = rename(mul(*kept), names)
    if isinstance(term, Sum):
        seen = tuple(names.get(k, k) for k in term.keys) + tuple(sorted(params & outs(rest)))
        rest = sum_(seen, rest)
    return names, rest


def _is_chosen(name: str, e: Expr) -> bool:
    """Whether a Top chooses among the values of this variable: it cannot be bound from outside."""
    return any(name in outs(t) and name not in t.keys for t in tops(e))
