"""Tests are idempotent and can contradict each other: c*c = c, {x = 1}*{x = 2} = 0."""

from __future__ import annotations

from freshview.calculus.build import ZERO, mul
from freshview.calculus.compare import compare
from freshview.calculus.terms import Cmp, Const, Exists, Expr, Lift, Mul, Var


def absorb(e: Expr) -> Expr | None:
    """Drop a test that stands twice; answer 0 where two tests of one variable contradict.

    >>> from freshview.calculus.text import read, show
    >>> show(absorb(read("R(x) * {x = 1} * {x = 2}")))
    '0'
    >>> show(absorb(read("R(x) * {x > 1} * {x > 1}")))
    'R(x) * {x > 1}'
    """
    if not isinstance(e, Mul):
        return None
    kept: list[Expr] = []
    known: dict[str, Const] = {}
    for f in e.factors:
        if f in kept and isinstance(f, Cmp | Exists | Lift):
            continue
        match f:
            case (
                Cmp("=", Var(x), Const() as c)
                | Cmp("=", Const() as c, Var(x))
                | Lift(x, Const() as c)
            ):
                if x in known and known[x].value != c.value:
                    return ZERO
                known.setdefault(x, c)
        kept.append(f)
    for f in kept:
        if _refuted(f, known):
            return ZERO
    return mul(*kept) if len(kept) < len(e.factors) else None


def _refuted(f: Expr, known: dict[str, Const]) -> bool:
    """Whether a comparison with a constant fails for a variable whose value is known."""
    match f:
        case Cmp(op, Var(x), Const(b, _)) if x in known:
            return not compare(op, known[x].value, b)
        case Cmp(op, Const(a, _), Var(x)) if x in known:
            return not compare(op, a, known[x].value)
    return False
