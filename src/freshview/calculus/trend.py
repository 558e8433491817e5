"""How a value moves when a variable grows."""

from __future__ import annotations

from collections.abc import Mapping, Set

from freshview.calculus.build import is_number, number, sub
from freshview.calculus.scope import free
from freshview.calculus.terms import Add, Apply, Cmp, Expr, Mul, Var

Trends = Mapping[str, int]
"""+1 for variables that grow with x, -1 for those that fall; the others do not depend on x."""

WIDENING = frozenset({"double"})
"""Functions that change the type of a number, and neither its place among others nor its answer."""

SHIFTS = WIDENING | {"add_micros", "add_seconds", "add_days", "add_months", "days_between"}
SHIFTS |= {"window_of_time", "window_of_number"}
"""The same, and those that move times; these have no answer outside of the years 1 to 9999."""


def trend(e: Expr, trends: Trends, rising: Set[str] = WIDENING) -> int | None:
    """+1, -1, 0 (does not depend on x), or None (depends on it in another way).

    `rising` are functions that never fall when their first argument grows.

    >>> from freshview.calculus.text import read
    >>> trend(read("y - 2 * x"), {"x": 1}), trend(read("x * x"), {"x": 1})
    (-1, None)
    """
    if not free(e) & trends.keys():
        return 0
    match e:
        case Var(name):
            return trends[name]
        case Add(parts):
            moves = {trend(p, trends, rising) for p in parts} - {0}
            return moves.pop() if len(moves) == 1 else None
        case Mul(parts):
            weights = [p for p in parts if is_number(p)]
            rest = [p for p in parts if not is_number(p)]
            inner = trend(rest[0], trends, rising) if len(rest) == 1 else None
            if inner is None:
                return None
            sign = 1
            for w in weights:
                sign = sign if number(w) > 0 else -sign
            return inner * sign
        case Apply("days_between" as fn, (later, earlier)) if fn in rising:
            return trend(sub(later, earlier), trends, rising)
        case Apply(fn, (arg, *others)) if fn in rising and not any(
            free(o) & trends.keys() for o in others
        ):
            return trend(arg, trends, rising)
        case _:
            return None


def side(test: Cmp, trends: Trends, rising: Set[str] = WIDENING) -> int | None:
    """+1 if the test holds from some x on, -1 if up to some x, 0 if x does not matter."""
    left, right = trend(test.left, trends, rising), trend(test.right, trends, rising)
    if left is None or right is None or test.op in ("=", "<>"):
        return 0 if left == right == 0 else None
    moves = {left, -right} - {0}
    if len(moves) > 1:
        return None
    move = moves.pop() if moves else 0
    return move if test.op in (">", ">=") else -move
