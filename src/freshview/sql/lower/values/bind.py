"""Values held by a variable, so that they can be read more than once."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.build import NULL, ZERO
from freshview.calculus.terms import Lift, Var
from freshview.calculus.types import NULL as NULL_TYPE
from freshview.sql.lower.env import Env
from freshview.sql.lower.products import assign
from freshview.sql.lower.val import Val, column


def null(env: Env) -> Val:
    """The literal NULL: a variable that is NULL, and never present."""
    var = env.names.fresh("nothing")
    return Val(Var(var), NULL_TYPE, (Lift(var, NULL),), (var,), (ZERO,))


def named(v: Val, hint: str, env: Env) -> Val:
    """The value held by one variable, NULL included, so that it can be read twice."""
    if isinstance(v.term, Var) and v.nulls in ((), (v.term.name,)):
        return v
    var = env.names.fresh(hint)
    return replace(column(var, v.type), prefix=assign(var, v, env.catalog.functions))


def bare(v: Val, env: Env) -> Val:
    """The value as a term that is NULL by itself where the value is: fit for any function."""
    if not v.nulls or isinstance(v.term, Var):
        return v
    return named(v, "v", env)
