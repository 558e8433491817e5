"""A SELECT as a term whose outputs are its columns and whose multiplicity is the bag count."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.build import NULL, add, exists, is_zero, mul, sum_
from freshview.calculus.terms import Expr, Lift, Top, Var
from freshview.calculus.walk import freshen
from freshview.errors import TypeProblem, UnsupportedSql
from freshview.sql.lower.cardinality import at_most_one, is_one_row
from freshview.sql.lower.conditions.null_rejecting import never_null
from freshview.sql.lower.env import Env, Rows
from freshview.sql.lower.group_by import Body, group_by, is_aggregated, refuse_aggregates
from freshview.sql.lower.joins import sources
from freshview.sql.lower.order_by import break_ties, order_by
from freshview.sql.lower.products import closed, no_row, product
from freshview.sql.lower.scope import Bound
from freshview.sql.lower.select_list import bind_column, select_list
from freshview.sql.lower.val import Val, not_null
from freshview.sql.lower.windows import within
from freshview.sql.terms import (
    Aggregate,
    Lifted,
    Scalar,
    Select,
)
from freshview.sql.walk import conjuncts, parts


def rows(query: Select, env: Env, *, top: bool = False) -> Rows:
    """The rows of a SELECT; `env` is that of the SELECT around it."""
    body = _body(query, env)
    factors = list(body.factors)
    columns: list[Bound] = []
    for output in body.outputs:
        columns.append(bind_column(output, factors, {c.var for c in columns}, body.env))
    order, hidden = order_by(query, body, columns, factors, top=top)
    keys = tuple(c.var for c in columns) + tuple(b.var for b in hidden)
    term = sum_(keys, product(*factors))
    if query.distinct:
        term = exists(term)
    if query.limit is not None and not is_zero(term):
        term = Top((), break_ties(order, columns), query.limit, term)
        term = sum_(tuple(c.var for c in columns), term)
    return Rows(term, tuple(columns), order if top else ())


def count(query: Select, env: Env) -> Expr:
    """How many rows a SELECT has; what it selects does not matter, if it can be computed."""
    if query.distinct or query.order or query.limit is not None:
        return closed(rows(query, env).term)
    body = _body(query, env)
    for output in body.outputs:
        body.env.value(output.expr)
    return closed(*body.factors)


def scalar(query: Select, env: Env) -> Val:
    """A SELECT where one value is asked for: NULL if it has no row."""
    body = _body(query, env)
    if len(body.outputs) != 1:
        raise TypeProblem(
            f"a subquery used as a value has {len(body.outputs)} columns",
            instead="select one",
            at=query.at,
        )
    if is_one_row(query):
        return _of_global(body)
    if not at_most_one(query, body.inner):
        raise UnsupportedSql(
            "this subquery may have more than one row",
            instead="wrap it in MAX(...) or MIN(...), or fix its primary key by equality",
            at=query.at,
        )
    selected = rows(query, env)
    (bound,) = selected.columns
    nothing = no_row(freshen(closed(selected.term), env.names), env.names)
    whole = add(selected.term, mul(nothing, Lift(bound.var, NULL)))
    certain = (selected.term, not_null(bound.var)) if bound.type.nullable else (selected.term,)
    return Val(Var(bound.var), bound.type.or_null(), (whole,), (bound.var,), certain)


def _of_global(body: Body) -> Val:
    """One row always: the value of the only column, over the aggregates it reads."""
    v = body.env.value(body.outputs[0].expr)
    prefix = tuple(f for a in body.aggregates for f in a.prefix) + v.prefix
    own = {a.nulls[0]: a for a in body.aggregates if a.nulls}
    if v.certain is not None or not v.nulls:
        certain = None if v.certain is None else prefix[: -len(v.prefix) or None] + v.certain
        return replace(v, prefix=prefix, certain=certain)
    needed = [
        f
        for a in body.aggregates
        for f in (a.present if a.nulls and a.nulls[0] in v.nulls else a.prefix)
    ]
    guards = tuple(not_null(n) for n in v.nulls if n not in own)
    return replace(v, prefix=prefix, certain=(*needed, *v.prefix, *guards))


def _body(query: Select, env: Env) -> Body:
    ctes = dict(env.ctes)
    for cte in query.ctes:
        ctes[cte.name.lower()] = (cte, replace(env, ctes=dict(ctes)))
    env = replace(env, ctes=ctes, known={})
    joined = sources(query.sources, env)
    inner = replace(env, scope=joined.scope(env.scope))
    factors = joined.factors
    for condition in (*conjuncts(query.where), *within(query, joined)):
        test = inner.resolve(condition)
        refuse_aggregates(test, "WHERE")
        factors = (*factors, inner.condition(test, True))
        known = never_null(test, inner)
        inner = replace(inner, scope=inner.scope.without_null(known))
    outputs = select_list(query, inner)
    clauses = (query.where, query.having, *query.group, *(k.expr for k in query.order))
    for e in (*(o.expr for o in outputs), *(c for c in clauses if c is not None)):
        _refuse_lifted(e)
    if is_aggregated(query, outputs):
        return group_by(query, factors, inner, outputs)
    return Body(factors, inner, inner, outputs)


def _refuse_lifted(e: Scalar) -> None:
    """A payload is added up; no row holds one."""
    if isinstance(e, Lifted):
        raise UnsupportedSql(
            f"the lifting function '{e.fn}' outside of SUM is not supported",
            instead=f"write SUM([{e.fn}: {e.ring}](...))",
            at=e.at,
        )
    if not isinstance(e, Aggregate):
        for part in parts(e):
            _refuse_lifted(part)
