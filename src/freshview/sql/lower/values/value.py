"""Scalar expressions as values: `e` is `term` once the factors of `prefix` are joined."""

from __future__ import annotations

from typing import assert_never

from freshview.calculus.terms import Const
from freshview.calculus.types import NULL
from freshview.errors import FreshviewError, UnknownFunction, UnsupportedSql
from freshview.sql.lower.conditions.truth import as_value
from freshview.sql.lower.env import Env
from freshview.sql.lower.val import Val, column
from freshview.sql.lower.values.arithmetic import arithmetic
from freshview.sql.lower.values.bind import null
from freshview.sql.lower.values.calls import call, lift
from freshview.sql.lower.values.cases import case
from freshview.sql.lower.values.casts import cast
from freshview.sql.lower.values.intervals import interval
from freshview.sql.lower.values.unknown import unknown_function
from freshview.sql.terms import (
    Aggregate,
    And,
    Arith,
    Call,
    Case,
    Cast,
    Compare,
    ExistsQuery,
    InList,
    Interval,
    IsNull,
    IsTruth,
    Lifted,
    Literal,
    Name,
    Not,
    Or,
    Over,
    Quantified,
    Ref,
    Same,
    Scalar,
    ScalarQuery,
)


def value(e: Scalar, env: Env) -> Val:
    """What a scalar expression is worth in a row."""
    if env.known and e in env.known:  # a hash looks at the whole expression
        return env.known[e]
    try:
        return _value(e, env)
    except FreshviewError as problem:
        raise problem.located(e.at) from None


def _value(e: Scalar, env: Env) -> Val:
    match e:
        case Ref():
            env.scope.check_grouped(e)
            return column(e.var, e.type)
        case Name():
            return value(env.resolve(e), env)
        case Literal(None):
            return null(env)
        case Literal(literal, t):
            return Val(Const(literal, t), t)
        case Interval():
            return interval(e)
        case Arith():
            return arithmetic(e, env)
        case Call(fn, args):
            return _call(fn, args, env)
        case Lifted(fn, ring, args):
            return lift(fn, ring, args, env)
        case Case():
            return case(e, env)
        case Cast(arg, t, digits, tried):
            return cast(value(arg, env), t, env, digits, tried=tried)
        case Aggregate(fn):
            raise UnsupportedSql(
                f"{fn.upper()} is not allowed here",
                instead="use it in SELECT, HAVING or ORDER BY, and not inside another aggregate",
            )
        case Over(fn):
            raise UnsupportedSql(
                f"{fn.upper()} OVER is not allowed here",
                instead="use it in SELECT, ORDER BY or QUALIFY, and not inside another one",
            )
        case ScalarQuery(query):
            return env.scalar(query)
        case (
            Compare()
            | Same()
            | And()
            | Or()
            | Not()
            | InList()
            | IsNull()
            | IsTruth()
            | ExistsQuery()
            | Quantified()
        ):
            return as_value(e, env)
        case _:
            assert_never(e)


def _call(fn: str, args: tuple[Scalar, ...], env: Env) -> Val:
    """A call; that there is no such function is said before what is wrong with its arguments."""
    try:
        return call(fn, args, env)
    except FreshviewError:
        if _is_unknown(fn, len(args), env):
            raise unknown_function(fn, env.catalog.functions.known) from None
        raise


def _is_unknown(fn: str, count: int, env: Env) -> bool:
    try:
        call(fn, (Literal(None, NULL),) * count, env)
    except UnknownFunction:
        return True
    except FreshviewError:
        pass
    return False
