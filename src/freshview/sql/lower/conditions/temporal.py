"""Conditions that name the present: rows come into force and retire as the clock moves.

C(now) is C(FIRST) and what each step of the clock changed of it. Where C holds up to some moment,
a step takes the rows away for which it held before the step, and does no more behind it: an
ordered index has these side by side. So it is where C holds from some moment on. Other conditions
are compared at both ends of a step, for all rows.
"""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.build import add, const, factors, mul, neg
from freshview.calculus.clock import CLOCK, FIRST
from freshview.calculus.scope import free
from freshview.calculus.terms import Apply, Cmp, Const, Expr, Rel, Sum, Var
from freshview.calculus.trend import SHIFTS, side
from freshview.calculus.types import TIMESTAMP
from freshview.calculus.walk import substitute
from freshview.sql.lower.conditions.comparisons import NEGATED
from freshview.sql.lower.env import Env, Want
from freshview.sql.lower.products import closed
from freshview.sql.lower.val import Val
from freshview.sql.terms import And, Call, Not, Or, Scalar
from freshview.sql.walk import inside

NOW = Call("now", ())
_RISING = SHIFTS | {"date", "cast_date"}
"""Functions of moments that never fall when the moment grows."""


def names_the_present(e: Scalar, env: Env) -> bool:
    """Whether a condition, no part of which is one too, is about now()."""
    if isinstance(e, And | Or | Not) or NOW in env.known:
        return False
    return any(x == NOW for x in inside(e))


def at_first(env: Env) -> Env:
    """Where now() is the first moment, unless it is another one already."""
    now = Val(const(FIRST), TIMESTAMP.not_null())
    return replace(env, known={NOW: now, **env.known})


def at_present(conditions: tuple[Scalar, ...], env: Env, want: Want) -> Expr:
    """Conditions that are followed by the clock: 1 where all of them are `want`."""
    since, until = env.names.fresh("since"), env.names.fresh("until")
    step = Rel(CLOCK.name, (since, until))
    at_first = mul(*(_at(e, env, want, Val(const(FIRST), _MOMENT)) for e in conditions))
    start, end = (
        [_apart(_at(e, env, want, Val(Var(now), _MOMENT)), now) for e in conditions]
        for now in (since, until)
    )
    moves = [_moved(e, since, until) for e in start]
    for e, move in zip(conditions, moves, strict=True):
        env.notes[f"{_NOTES[0 if move is None else move[0]]} ({e.at})"] = None
    if None in moves:
        return add(at_first, closed(step, *end), neg(closed(step, *start)))
    # C(until) - C(since) of a product: one factor moves, those before it have, the others have not.
    changes = [
        _signed(move[0], closed(step, *end[:i], *move[1], *start[i + 1 :]))
        for i, move in enumerate(moves)
        if move is not None
    ]
    return add(at_first, *changes)


_MOMENT = TIMESTAMP.not_null()
_NOTES = {
    0: "a condition with now() that neither rises nor falls with it is computed for all rows at "
    "every step of the clock",
    1: "rows come into force as the clock moves: a step looks at those that it changes",
    -1: "rows retire as the clock moves: a step looks at those that it changes",
}


def _signed(sign: int, e: Expr) -> Expr:
    return e if sign > 0 else neg(e)


def _at(e: Scalar, env: Env, want: Want, now: Val) -> Expr:
    return replace(env, known={**env.known, NOW: now}).condition(e, want)


def _apart(e: Expr, now: str) -> Expr:
    """A condition with spans of time beside the present: now < t + 5 becomes now - 5 < t.

    So an index of t answers it.
    """
    parts = factors(e.body if isinstance(e, Sum) else e)
    if not any(isinstance(f, Cmp) and now in free(f) for f in parts):
        return e
    return closed(*(_solved(f, now) if isinstance(f, Cmp) else f for f in parts))


def _solved(test: Cmp, now: str) -> Cmp:
    left, right = test.left, test.right
    for own, other in ((left, right), (right, left)):
        match own:
            case Apply("add_days" | "add_seconds" as fn, (t, Const(int() as count))):
                if now not in free(own):
                    moved = Apply(fn, (other, const(-count)))
                    sides = (t, moved) if own is left else (moved, t)
                    return Cmp(test.op, *sides)
            case _:
                pass
    return test


def _moved(start: Expr, since: str, until: str) -> tuple[int, tuple[Expr, ...]] | None:
    """The rows for which a condition changes in a step, +1 if it holds then; None if unknown."""
    parts = factors(start.body if isinstance(start, Sum) else start)
    moved = [f for f in parts if since in free(f)]
    if len(moved) != 1 or not isinstance(test := moved[0], Cmp):
        return None
    direction = side(test, {since: 1}, _RISING)
    if not direction:
        return None
    rest = [f for f in parts if f is not test]
    opposite = Cmp(NEGATED[test.op], test.left, test.right)
    before, behind = (opposite, test) if direction > 0 else (test, opposite)
    return direction, (*rest, before, substitute(behind, since, Var(until)))
