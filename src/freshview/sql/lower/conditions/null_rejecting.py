"""Conditions that no row with a NULL meets."""

from __future__ import annotations

from freshview.sql.lower.conditions.temporal import at_first
from freshview.sql.lower.env import Env
from freshview.sql.terms import (
    Compare,
    ExistsQuery,
    InList,
    IsNull,
    Not,
    Quantified,
    Scalar,
    ScalarQuery,
)
from freshview.sql.walk import inside


def never_null(e: Scalar, env: Env) -> frozenset[str]:
    """The variables that cannot be NULL in a row where the condition is true."""
    match e:
        case Compare(_, left, right):
            sides = (left, right)
        case Not(IsNull(arg)):
            sides = (arg, arg)
        case InList(arg):
            sides = (arg, arg)
        case _:
            return frozenset()
    env = at_first(env)
    if any(isinstance(x, ScalarQuery | ExistsQuery | Quantified) for s in sides for x in inside(s)):
        return frozenset()
    values = [env.value(s) for s in sides]
    return frozenset(n for v in values for n in v.nulls if env.scope.is_local(n))
