"""ORDER BY: the order of rows by their columns, selected or hidden."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from freshview.calculus.build import exists, is_zero, sub, sum_
from freshview.calculus.terms import Expr, Order, Top
from freshview.calculus.walk import freshen
from freshview.errors import UnsupportedSql
from freshview.sql.lower.env import Env, Rows
from freshview.sql.lower.group_by import Body
from freshview.sql.lower.scope import Bound
from freshview.sql.lower.select_list import Output, bind_column, by_alias
from freshview.sql.terms import OrderKey, Scalar, Select


def order_by(
    query: Select, body: Body, columns: list[Bound], factors: list[Expr]
) -> tuple[tuple[Order, ...], list[Bound]]:
    """The ordering over column variables; expressions that are not columns become hidden ones."""
    cuts = query.limit is not None or query.offset > 0
    order: list[Order] = []
    hidden: list[Bound] = []
    if query.by_all is not None:
        return by_every(query.by_all, columns), hidden
    for key in query.order:
        expr = by_alias(key.expr, body.outputs, body.inner, columns_first=False)
        var = _position(expr, body.outputs, columns)
        if var is None and not cuts:
            body.env.value(expr)  # it changes no row, but it has to have a meaning
            break
        if var is None:
            var = _hidden(query, key, expr, columns, hidden, factors, body)
        if var not in (o.var for o in order):
            order.append(Order(var, key.descending, key.nulls_first))
    return tuple(order), hidden


def by_every(key: OrderKey, columns: Sequence[Bound]) -> tuple[Order, ...]:
    """The ordering of ORDER BY ALL."""
    return tuple(Order(c.var, key.descending, key.nulls_first) for c in columns)


def _position(e: Scalar, outputs: tuple[Output, ...], columns: list[Bound]) -> str | None:
    for output, bound in zip(outputs, columns, strict=True):
        if output.expr == e:
            return bound.var
    return None


def _hidden(
    query: Select,
    key: OrderKey,
    e: Scalar,
    columns: list[Bound],
    hidden: list[Bound],
    factors: list[Expr],
    body: Body,
) -> str:
    if query.distinct:
        raise UnsupportedSql(
            "ORDER BY of DISTINCT rows names an expression that is not selected",
            instead="order by what is selected: equal rows may differ in anything else",
            at=key.at,
        )
    used = {c.var for c in columns}
    bound = bind_column(Output(e, "sort"), factors, used, body.env)
    hidden.append(bound)
    return bound.var


def arranged(
    query: Select,
    term: Expr,
    columns: Sequence[Bound],
    order: tuple[Order, ...],
    env: Env,
    *,
    top: bool,
) -> Rows:
    """Rows with DISTINCT, LIMIT and OFFSET; hidden columns, which only order them, go."""
    if query.distinct:
        term = exists(term)
    shown = tuple(c.var for c in columns)
    if (query.limit is not None or query.offset) and not is_zero(term):
        term = _first(term, break_ties(order, columns), query, env)
    before = list(takewhile(lambda o: o.var in shown, order))
    _note(query, env, hidden=len(before) < len(query.order), top=top)
    return Rows(sum_(shown, term), tuple(columns), tuple(before) if top else ())


def _first(term: Expr, order: tuple[Order, ...], query: Select, env: Env) -> Expr:
    """The first `limit` rows behind the first `offset`: more of the first ones, less those."""
    if not query.offset:
        assert query.limit is not None
        return Top((), order, query.limit, term)
    skipped = Top((), order, query.offset, freshen(term, env.names))
    if query.limit is None:
        return sub(term, skipped)
    return sub(Top((), order, query.offset + query.limit, term), skipped)


def _note(query: Select, env: Env, *, hidden: bool, top: bool) -> None:
    """What a reader of the rows may not expect."""
    words = [w for w, n in (("LIMIT", query.limit is not None), ("OFFSET", query.offset > 0)) if n]
    if words and not query.order and query.by_all is None:
        by = "all the columns, from left to right, NULL first"
        env.notes[f"{' and '.join(words)} without ORDER BY: the rows are ordered by {by}"] = None
    if query.order and not words and not top:
        where = f"({query.order[0].at})"
        env.notes[f"ORDER BY in a subquery without LIMIT has no effect {where}"] = None
    elif hidden and top:
        which = "chosen, but not listed, by it" if words else "not listed by it"
        env.notes[f"ORDER BY names what is not selected: the rows are {which}"] = None


def break_ties(order: tuple[Order, ...], columns: Sequence[Bound]) -> tuple[Order, ...]:
    """Ties are broken by the columns from left to right, so that the answer is one."""
    named = {o.var for o in order}
    rest = tuple(Order(c.var, False, True) for c in columns if c.var not in named)
    return order + rest
