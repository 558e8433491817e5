"""Conditions that name the present: rows come into force and retire as the clock moves.

C(now) is C(FIRST) and what each step of the clock changed of it. Where C holds up to some moment,
a step takes the rows away for which it held before the step, and does no more behind it: an
ordered index has these side by side. So it is where C holds from some moment on. Other conditions
are compared at both ends of a step, for all rows.
"""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.build import add, const, factors, neg
from freshview.calculus.clock import CLOCK, FIRST
from freshview.calculus.scope import free
from freshview.calculus.terms import Cmp, Expr, Rel, Sum, Var
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


def at_present(e: Scalar, env: Env, want: Want) -> Expr:
    """A condition that is followed by the clock."""
    since, until = env.names.fresh("since"), env.names.fresh("until")
    at_first = _at(e, env, want, Val(const(FIRST), TIMESTAMP.not_null()))
    start = _at(e, env, want, Val(Var(since), TIMESTAMP.not_null()))
    step = Rel(CLOCK.name, (since, until))
    moved = _only_test(start, since)
    if moved is None:
        env.notes[
            "a condition with now() that neither rises nor falls with it is computed for all rows "
            f"at every step of the clock ({e.at})"
        ] = None
        end = _at(e, env, want, Val(Var(until), TIMESTAMP.not_null()))
        return add(at_first, closed(step, end), neg(closed(step, start)))
    rest, test, direction = moved
    env.notes[
        f"rows {'come into force' if direction > 0 else 'retire'} as the clock moves: a step looks "
        f"at those that it changes ({e.at})"
    ] = None
    opposite = Cmp(NEGATED[test.op], test.left, test.right)
    if direction > 0:
        tests = (opposite, substitute(test, since, Var(until)))
        return add(at_first, closed(step, *rest, *tests))
    tests = (test, substitute(opposite, since, Var(until)))
    return add(at_first, neg(closed(step, *rest, *tests)))


def _at(e: Scalar, env: Env, want: Want, now: Val) -> Expr:
    return replace(env, known={**env.known, NOW: now}).condition(e, want)


def _only_test(e: Expr, now: str) -> tuple[tuple[Expr, ...], Cmp, int] | None:
    """The other factors of a condition, its test of the present, and where that holds."""
    parts = factors(e.body if isinstance(e, Sum) else e)
    moved = [f for f in parts if now in free(f)]
    if len(moved) != 1 or not isinstance(test := moved[0], Cmp):
        return None
    direction = side(test, {now: 1}, _RISING)
    if direction is None or direction == 0:
        return None
    return tuple(f for f in parts if f is not test), test, direction

