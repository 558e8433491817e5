"""One code for both signs: what a deletion does is what an insertion does, with signs turned.

A change of a join with itself has addends of the first degree in the row, whose sign turns, and of
the second, whose sign does not:

    ON + R(a) { Q[] += 2 * M[a] + 1; }
    ON - R(a) { Q[] += -2 * M[a] + 1; }      both: Q[] += 2 * sign' * M[a] + 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freshet.calculus.build import add, exists, mul, neg, sum_
from freshet.calculus.terms import Add, Exists, Expr, Lift, Mul, Sum, Var
from freshet.program.terms import Statement

SIGN = "sign'"
"""The variable that is 1 when a row comes and -1 when it goes; no column has such a name."""


def both(insert: Sequence[Statement], delete: Sequence[Statement]) -> list[Statement] | None:
    """The statements of two triggers as one list over `SIGN`, if there is one."""
    if len(insert) != len(delete):
        return None
    found = []
    for a, b in zip(insert, delete, strict=True):
        term = signed(a.term, b.term) if a.op == "+=" else (a.term if a.term == b.term else None)
        if term is None or a.target != b.target or a.op != b.op:
            return None
        found.append(replace(a, term=term))
    return found


def signed(plus: Expr, minus: Expr) -> Expr | None:
    """A term that is `plus` where the sign is 1, and `minus` where it is -1.

    >>> from freshet.calculus.text import read, show
    >>> show(signed(read("a * (M[a] + 0.5 * a)"), read("a * (0.5 * a - M[a])")))
    "a * (sign' * M[a] + 0.5 * a)"
    """
    if plus == minus:
        return plus
    if minus == neg(plus):
        return mul(Var(SIGN), plus)
    found = _inside(plus, minus)
    if found is None and isinstance(plus, Mul | Sum):
        turned = _inside(plus, neg(minus))
        found = None if turned is None else mul(Var(SIGN), turned)
    return found


def _inside(plus: Expr, minus: Expr) -> Expr | None:
    match plus, minus:
        case Mul(a), Mul(b) if len(a) == len(b):
            parts = [signed(x, y) for x, y in zip(a, b, strict=True)]
            return None if None in parts else mul(*(p for p in parts if p is not None))
        case Add(a), Add(b) if len(a) == len(b):
            return _addends(a, list(b))
        case Sum(keys, body), Sum(others, turned) if keys == others:
            found = signed(body, turned)
            return None if found is None else sum_(keys, found)
        case Lift(var, body), Lift(other, turned) if var == other:
            found = signed(body, turned)
            return None if found is None else Lift(var, found)
        case Exists(body), Exists(turned):
            found = signed(body, turned)
            return None if found is None else exists(found)
        case _:
            return None


def _addends(plus: Sequence[Expr], minus: list[Expr]) -> Expr | None:
    """Each with its own counterpart, wherever that stands."""
    found = []
    for x in plus:
        pairs = ((i, s) for i, y in enumerate(minus) if (s := signed(x, y)) is not None)
        i, term = next(pairs, (0, None))
        if term is None:
            return None
        del minus[i]
        found.append(term)
    return add(*found)
