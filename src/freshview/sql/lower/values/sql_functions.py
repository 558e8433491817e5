"""Calls of functions that CREATE FUNCTION declares: the body, over the arguments.

An argument is computed once, whatever the body does with it: a constant stands in its place, and
anything else is a variable that the body reads as a column.
"""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.terms import Const, Expr, Var
from freshview.errors import FreshviewError, TypeProblem
from freshview.sql.lower.env import Env
from freshview.sql.lower.scope import Bound, FromItem, Scope
from freshview.sql.lower.val import Val
from freshview.sql.lower.values.bind import bare, named
from freshview.sql.lower.values.casts import cast
from freshview.sql.sql_function import SqlFunction, SqlType
from freshview.sql.terms import ExistsQuery, Literal, Name, Quantified, Scalar, ScalarQuery
from freshview.sql.walk import parts, rewrite

INT_BITS = 32


def call_sql(function: SqlFunction, args: tuple[Scalar, ...], env: Env) -> Val:
    """The value of a call."""
    parameters = function.parameters
    if not function.fewest <= len(args) <= len(parameters):
        asked = " to ".join(map(str, sorted({function.fewest, len(parameters)})))
        raise TypeProblem(
            f"{function.name.upper()} takes {asked} arguments, {len(args)} are given",
            instead="give it the right number",
        )
    values = [*args, *(p.default for p in parameters[len(args) :] if p.default is not None)]
    constants: dict[str, Literal] = {}
    columns: list[Bound] = []
    prefix: list[Expr] = []
    asks = _asks(function.body)
    for p, e in zip(parameters, values, strict=True):
        v = _cast(env.value(e), p.type, env)
        if isinstance(v.term, Const) and not (v.prefix or v.nulls or asks):
            constants[p.name.lower()] = Literal(v.term.value, v.type)
            continue
        v = named(bare(v, env), p.name, env)
        assert isinstance(v.term, Var)
        columns.append(Bound(p.name, v.term.name, v.type))
        prefix += v.prefix
    scope = Scope((FromItem(function.name, tuple(columns)),), tuple(columns))
    others = env.catalog.without_sql_function(function.name, if_exists=True)  # nothing calls itself
    inner = replace(env, scope=scope, known={}, ctes={}, catalog=others)
    try:
        v = inner.value(_with(constants, function.body))
        if function.result is not None:
            v = _cast(v, function.result, inner)
    except FreshviewError as problem:
        raise problem.located(function.at) from None
    certain = None if v.certain is None else (*prefix, *v.certain)
    return replace(v, prefix=(*prefix, *v.prefix), certain=certain)


def _cast(v: Val, to: SqlType, env: Env) -> Val:
    """A value in the type of a parameter; an integer as INT goes on as it is, as in arithmetic."""
    if v.type.kind == to.type.kind == "int" and to.digits == INT_BITS:
        return v
    return cast(v, to.type, env, to.digits)


def _asks(body: Scalar) -> bool:
    """Whether there is a subquery in the body: its parameters are columns then."""
    if isinstance(body, ScalarQuery | ExistsQuery | Quantified):
        return True
    return any(_asks(part) for part in parts(body))


def _with(constants: dict[str, Literal], body: Scalar) -> Scalar:
    """The body with constants in the places of their parameters."""

    def rule(e: Scalar) -> Scalar | None:
        if isinstance(e, Name) and e.table is None:
            return constants.get(e.name.lower())
        return None

    return rewrite(body, rule)
