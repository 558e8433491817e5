"""A SELECT as a term whose outputs are its columns and whose multiplicity is the bag count."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.build import NULL, add, mul, sum_
from freshview.calculus.terms import Expr, Lift, Order, Var
from freshview.calculus.walk import freshen
from freshview.errors import TypeProblem, UnsupportedSql
from freshview.sql.lower.cardinality import at_most_one, is_one_row
from freshview.sql.lower.combined import combined
from freshview.sql.lower.conditions.null_rejecting import never_null
from freshview.sql.lower.conditions.temporal import at_present, names_the_present
from freshview.sql.lower.env import Env, Rows
from freshview.sql.lower.group_by import Body, group_by, is_aggregated, refuse_aggregates
from freshview.sql.lower.joins import sources
from freshview.sql.lower.order_by import arranged, by_every, order_by
from freshview.sql.lower.over.groupings import over_groupings
from freshview.sql.lower.over.over import refuse_windows, with_windows
from freshview.sql.lower.over.push_down import qualified
from freshview.sql.lower.products import closed, no_row, product
from freshview.sql.lower.scope import Bound
from freshview.sql.lower.select_list import bind_column, select_list
from freshview.sql.lower.structs import with_fields
from freshview.sql.lower.time.final import final
from freshview.sql.lower.time.sessions import is_session, sessions
from freshview.sql.lower.time.windows import within
from freshview.sql.lower.val import Val, not_null
from freshview.sql.terms import (
    Aggregate,
    Combined,
    Derived,
    Item,
    Lifted,
    Literal,
    Name,
    Scalar,
    Select,
    Star,
)
from freshview.sql.walk import conjuncts, parts


def rows(query: Select, env: Env, *, top: bool = False) -> Rows:
    """The rows of a SELECT; `env` is that of the SELECT around it."""
    if query.sets:
        windows = over_groupings(query)
        whole = rows if windows else _groupings
        return whole(windows or query, env, top=top)
    body = _body(query, env)
    factors = list(body.factors)
    columns: list[Bound] = []
    for output in body.outputs:
        columns.append(bind_column(output, factors, {c.var for c in columns}, body.env))
    order, hidden = order_by(query, body, columns, factors)
    keys = tuple(c.var for c in columns) + tuple(b.var for b in hidden)
    term = sum_(keys, product(*factors))
    if query.final and env.parts is not None:  # kept by its changes: its groups are forgotten
        term = env.parts.atom(term, {b.var: b.type for b in (*columns, *hidden)})
    return arranged(query, term, columns, order, env, top=top)


def _groupings(query: Select, env: Env, *, top: bool) -> Rows:
    """GROUPING SETS: the rows of one grouping after the other.

    What ORDER BY names and nobody selects is one more column of each of them.
    """
    items = [*query.items]
    positions: list[int] = []
    for key in query.order:
        position = _position(key.expr, items)
        if position is None and query.distinct:
            raise UnsupportedSql(
                "ORDER BY of DISTINCT rows names an expression that is not selected",
                instead="order by what is selected: equal rows may differ in anything else",
                at=key.at,
            )
        positions.append(len(items) if position is None else position)
        items += [Item(key.expr, "sort", key.at)] if position is None else []
    one = replace(query, items=tuple(items), order=(), limit=None, offset=0, distinct=False)
    arms = tuple(replace(one, group=s, sets=()) for s in query.sets)
    whole = combined(Combined("union", True, arms, "", query.at), env)
    order = tuple(
        Order(whole.columns[i].var, key.descending, key.nulls_first)
        for i, key in zip(positions, query.order, strict=True)
    )
    columns = whole.columns[: len(query.items)]
    if query.by_all is not None:
        order = by_every(query.by_all, columns)
    return arranged(query, whole.term, columns, order, env, top=top)


def _position(e: Scalar, items: list[Item | Star]) -> int | None:
    """Which item an ORDER BY names: by its position, its alias or all of it."""
    if isinstance(e, Literal) and type(e.value) is int and 1 <= e.value <= len(items):
        return e.value - 1
    for i, item in enumerate(items):
        if isinstance(item, Item):
            alias = (item.name or "").lower()
            if item.expr == e or (isinstance(e, Name) and not e.table and e.name.lower() == alias):
                return i
    return None


def count(query: Select, env: Env) -> Expr:
    """How many rows a SELECT has; what it selects does not matter, if it can be computed."""
    whole = query.distinct or query.order or query.sets or query.offset
    if whole or query.limit is not None:
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
    for clause in query.ignored:
        env.notes[f"{clause} is ignored: it changes no row ({query.at})"] = None
    query, env = qualified(query, env)
    joined = sources(query.sources, env)
    inner = replace(env, scope=joined.scope(env.scope))
    query = with_fields(query, inner.scope)
    factors = joined.factors
    present: list[Scalar] = []
    for condition in (*conjuncts(query.where), *within(query, joined)):
        test = inner.resolve(condition)
        refuse_aggregates(test, "WHERE")
        refuse_windows(test, "WHERE")
        if names_the_present(test, inner):
            present.append(test)
        else:
            factors = (*factors, inner.condition(test, True))
        known = never_null(test, inner)
        inner = replace(inner, scope=inner.scope.without_null(known))
    if present:
        factors = (*factors, at_present(tuple(present), inner, True))
    for item in query.sources:
        if isinstance(item, Derived) and is_session(item):
            factors = sessions(item, joined, factors, inner)
    outputs = select_list(query, inner)
    grouped = (*query.group, *query.keys)
    clauses = (query.where, query.having, *grouped, *(k.expr for k in query.order))
    for e in (*(o.expr for o in outputs), *(c for c in clauses if c is not None)):
        _refuse_lifted(e)
    grouped_rows = is_aggregated(query, outputs)
    plain = Body(factors, inner, inner, outputs)
    if query.final:
        body = group_by(query, factors, inner, outputs) if grouped_rows else plain
        return replace(body, factors=(*body.factors, *final(query, joined, inner)))
    return with_windows(query, group_by(query, factors, inner, outputs) if grouped_rows else plain)


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
