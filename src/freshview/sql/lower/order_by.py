"""ORDER BY: the order of rows by their columns, selected or hidden."""

from __future__ import annotations

from freshview.calculus.terms import Expr, Order
from freshview.errors import UnsupportedSql
from freshview.sql.lower.group_by import Body
from freshview.sql.lower.scope import Bound
from freshview.sql.lower.select_list import Output, bind_column, by_alias
from freshview.sql.terms import OrderKey, Scalar, Select


def order_by(
    query: Select, body: Body, columns: list[Bound], factors: list[Expr], *, top: bool
) -> tuple[tuple[Order, ...], list[Bound]]:
    """The ordering over column variables; expressions that are not columns become hidden ones."""
    if query.limit is not None and not query.order:
        raise UnsupportedSql(
            "LIMIT without ORDER BY has no fixed answer", instead="add ORDER BY", at=query.at
        )
    if query.order and query.limit is None and not top:
        raise UnsupportedSql(
            "ORDER BY in a subquery has no effect",
            instead="leave it out or add LIMIT",
            at=query.order[0].at,
        )
    order: list[Order] = []
    hidden: list[Bound] = []
    for key in query.order:
        expr = by_alias(key.expr, body.outputs, body.inner, columns_first=False)
        var = _position(expr, body.outputs, columns)
        if var is None:
            var = _hidden(query, key, expr, columns, hidden, factors, body, top=top)
        if var not in (o.var for o in order):
            order.append(Order(var, key.descending, key.nulls_first))
    return tuple(order), hidden


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
    *,
    top: bool,
) -> str:
    if top or query.distinct:
        raise UnsupportedSql(
            "ORDER BY names an expression that is not selected",
            instead="add it to the SELECT list",
            at=key.at,
        )
    used = {c.var for c in columns}
    bound = bind_column(Output(e, "sort"), factors, used, body.env)
    hidden.append(bound)
    return bound.var


def break_ties(order: tuple[Order, ...], columns: list[Bound]) -> tuple[Order, ...]:
    """Ties are broken by the columns from left to right, so that the answer is one."""
    named = {o.var for o in order}
    rest = tuple(Order(c.var, False, True) for c in columns if c.var not in named)
    return order + rest
