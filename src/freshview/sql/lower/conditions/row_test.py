"""A condition as one computation on the values of a row."""

from __future__ import annotations

from freshview.calculus.build import mul
from freshview.calculus.scope import is_value
from freshview.calculus.terms import Apply, Expr
from freshview.sql.lower.env import Env
from freshview.sql.terms import And, Case, ExistsQuery, Not, Or, Quantified, Scalar, ScalarQuery
from freshview.sql.walk import inside


def row_test(e: Scalar, env: Env, want: bool) -> Expr | None:
    """The part as one computation on values, 0 or 1; None if it needs a subquery or a binding."""
    if any(isinstance(x, ScalarQuery | ExistsQuery | Quantified | Case) for x in inside(e)):
        return None
    if isinstance(e, Not):
        return row_test(e.arg, env, not want)
    if isinstance(e, And | Or):
        tests = [row_test(p, env, want) for p in e.parts]
        flat = [t for t in tests if t is not None]
        if len(flat) < len(tests):
            return None
        return mul(*flat) if want is isinstance(e, And) else Apply("or", tuple(flat))
    term = env.condition(e, want)
    return term if is_value(term) else None
