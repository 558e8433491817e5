"""What makes a condition hold on one side of a point.

A condition that is monotone in x holds for a range of x; sums over ranges are what the ordered
index answers without looking at the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from freshview.calculus.build import factors
from freshview.calculus.scope import free, is_value, outs
from freshview.calculus.terms import Cmp, Exists, Expr, Lift, Sum, View
from freshview.calculus.trend import Trends, side, trend


@dataclass
class Conditions:
    """The factors that depend on x: those that hold from some x on, and those up to some x."""

    up: list[Expr] = field(default_factory=list)
    down: list[Expr] = field(default_factory=list)
    positive: list[View] = field(default_factory=list)
    """Maps that must have no negative entry for this to be true."""


def conditions(x: str, dependent: list[Expr]) -> Conditions | None:
    """Sort factors by the side on which they hold, or None if one of them is not monotone."""
    trends: dict[str, int] = {x: 1}
    lifts: list[Lift] = []
    out = Conditions()
    for e in dependent:
        match e:
            case Cmp():
                where = side(e, trends)
                needed: list[Expr] = [*_needed(e, lifts), e]
            case Lift(var, body):
                move = trend(body, trends) if is_value(body) else _range_trend(body, trends, out)
                if move is None:
                    return None
                trends[var] = move
                lifts.append(e)
                continue
            case Exists(body):
                where = _range_trend(body, trends, out)
                needed = [*_needed(e, lifts), e]
            case _:
                return None
        if not where:
            return None
        (out.up if where > 0 else out.down).extend(f for f in needed)
    return out


def _needed(e: Expr, lifts: list[Lift]) -> list[Expr]:
    """The assignments that a condition reads, in order."""
    wanted = set(free(e))
    out: list[Expr] = []
    for lift in reversed(lifts):
        if lift.var in wanted:
            out.append(lift)
            wanted |= free(lift.body)
    return out[::-1]


def _range_trend(body: Expr, trends: Trends, out: Conditions) -> int | None:
    """How a sum over a range of a map moves with the end of the range, if no entry is negative."""
    inner = body.body if isinstance(body, Sum) else body
    parts = factors(inner)
    atoms = [p for p in parts if isinstance(p, View) and not p.inputs]
    tests = [p for p in parts if isinstance(p, Cmp)]
    if len(atoms) != 1 or len(atoms) + len(tests) != len(parts) or outs(body) & trends.keys():
        return None
    if set(atoms[0].vars) & trends.keys():
        return None
    moves = {side(t, trends) for t in tests} - {0}
    if len(moves) != 1:
        return None
    out.positive.append(atoms[0])
    return moves.pop()
