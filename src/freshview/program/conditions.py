"""How often conditions hold, by how many values their columns have.

`bound` says how many values the variables have that are known; a column of which nothing is known
has `SOME` of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freshview.calculus.scope import free
from freshview.calculus.terms import Apply, Cmp, Const, Expr, Mul, Var

SOME = 10.0
RANGE = 0.33
UNEQUAL = 0.9
NULLS = 0.05
PATTERN = 0.3
"""How often these hold: a range, values that differ, a test for NULL, a pattern of a text."""

OVERLAP = 0.5
"""Of several conditions on the same rows, each counts by the square root of the one before it,
the most selective first: what one of them leaves mostly passes the others, too."""


def is_test(e: Expr) -> bool:
    """Whether a factor only lets rows pass or not."""
    return isinstance(e, Cmp) or (isinstance(e, Apply) and not e.ring)


def share(e: Expr, bound: Mapping[str, float]) -> float:
    """Which share of the rows passes a condition; a value lets all of them pass.

    >>> from freshview.calculus.text import read
    >>> share(read("{a = 1}"), {"a": 4.0})
    0.25
    >>> share(read("{in(a, 1, 2, 3)}"), {"a": 4.0})
    0.75
    >>> share(read("{or((a = 1), (b = 1))}"), {"a": 2.0, "b": 2.0})
    0.75
    """
    match e:
        case Cmp(op, left, right):
            return _compared(op, left, right, bound)
        case Apply("or", args):
            none = 1.0
            for a in args:
                none *= 1.0 - share(a, bound)
            return 1.0 - none
        case Apply("not", (condition,)):
            return 1.0 - share(condition, bound)
        case Apply("in", (tested, *values)):
            return min(1.0, len(values) / _values(tested, bound))
        case Apply("and", factors) | Mul(factors):
            return together([share(f, bound) for f in factors])
        case Apply("like"):
            return PATTERN
        case _:
            return 1.0


def together(shares: Sequence[float]) -> float:
    """Which share of the rows passes all of some conditions.

    >>> together([0.5, 0.25])
    0.1767766952966369
    """
    out, power = 1.0, 1.0
    for s in sorted(shares):
        out *= s**power
        power *= OVERLAP
    return out


def _compared(op: str, left: Expr, right: Expr, bound: Mapping[str, float]) -> float:
    if op not in ("=", "<>"):
        return RANGE
    if any(isinstance(side, Const) and side.value is None for side in (left, right)):
        return NULLS if op == "=" else 1.0 - NULLS
    if op == "<>":
        return UNEQUAL
    return 1.0 / max(_values(side, bound) for side in (left, right))


def _values(e: Expr, bound: Mapping[str, float]) -> float:
    """How many values a term has: a function has no more than what it is of."""
    if isinstance(e, Var):
        return max(1.0, bound.get(e.name, SOME))
    counts = [bound.get(name, SOME) for name in free(e)]
    return max(1.0, min(SOME, *counts)) if counts else 1.0
