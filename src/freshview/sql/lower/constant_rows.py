"""VALUES in FROM: rows that are written in the query."""

from __future__ import annotations

from freshview.calculus.build import NULL, ONE, ZERO, add, mul, sum_
from freshview.calculus.terms import Cmp, Expr, Lift
from freshview.calculus.types import NULL as NULL_TYPE
from freshview.calculus.types import Type, common
from freshview.errors import TypeProblem, UnsupportedSql
from freshview.sql.lower.env import Env, Rows
from freshview.sql.lower.products import assign, product
from freshview.sql.lower.scope import Bound, hint
from freshview.sql.lower.val import Val
from freshview.sql.lower.values.coerce import coerce
from freshview.sql.terms import Aggregate, Name, Scalar, Values
from freshview.sql.walk import inside

MOST_ROWS = 100
"""Rows of one VALUES: they are written out in the query's term."""


def constant_rows(item: Values, env: Env) -> Rows:
    """A union of rows of constants; each column has the type that holds all its values."""
    if len(item.rows) > MOST_ROWS:
        raise UnsupportedSql(
            f"VALUES of more than {MOST_ROWS} rows is not supported",
            instead="declare a CREATE TABLE, and load them there",
            at=item.at,
        )
    values = [[_constant(e, env) for e in row] for row in item.rows]
    types: list[Type] = []
    for i, name in enumerate(item.columns):
        t = NULL_TYPE if not values else NULL_TYPE.not_null()
        for row in values:
            t = _common(item, name, t, row[i])
        types.append(t)
    columns = tuple(
        Bound(name, env.names.fresh(hint(name)), t)
        for name, t in zip(item.columns, types, strict=True)
    )
    if not values:
        nothing = (Lift(c.var, NULL) for c in columns)
        return Rows(mul(Cmp("=", ONE, ZERO), *nothing), columns)
    return Rows(add(*(_row(row, columns, env) for row in values)), columns)


def _constant(e: Scalar, env: Env) -> Val:
    for x in inside(e):
        if isinstance(x, Name | Aggregate):
            what = x.name if isinstance(x, Name) else x.fn.upper()
            raise UnsupportedSql(
                f"'{what}' in VALUES is not supported", instead="write constants", at=x.at
            )
    return env.value(e)


def _common(item: Values, name: str, t: Type, v: Val) -> Type:
    try:
        both = common(t, v.type)
    except TypeProblem as problem:
        raise TypeProblem(
            f"column '{name}' of VALUES: {problem.what}", instead="cast one of them", at=item.at
        ) from None
    return both if v.nulls or t.nullable else both.not_null()


def _row(row: list[Val], columns: tuple[Bound, ...], env: Env) -> Expr:
    functions = env.catalog.functions
    factors = [
        f
        for v, c in zip(row, columns, strict=True)
        for f in assign(c.var, coerce(v, c.type), functions)
    ]
    return sum_(tuple(c.var for c in columns), product(*factors))
