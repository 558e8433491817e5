"""GROUP BY: a row for every group that has rows, with its aggregates beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from freshview.calculus.build import NULL, const, exists, mul, sum_
from freshview.calculus.scope import outs
from freshview.calculus.terms import Expr, Lift, Var
from freshview.calculus.types import INT
from freshview.errors import FreshviewError, UnsupportedSql
from freshview.sql.lower.aggregates.aggregate import aggregate
from freshview.sql.lower.aggregates.group import Group
from freshview.sql.lower.env import Env
from freshview.sql.lower.products import assign, product
from freshview.sql.lower.select_list import Output, by_alias
from freshview.sql.lower.val import Val, column
from freshview.sql.terms import Aggregate, Call, Scalar, Select
from freshview.sql.walk import conjuncts, inside


@dataclass(frozen=True)
class Body:
    """A SELECT before its columns: the factors of its rows, and where to lower expressions."""

    factors: tuple[Expr, ...]
    env: Env
    inner: Env
    outputs: tuple[Output, ...]
    aggregates: tuple[Val, ...] = ()


def is_aggregated(query: Select, outputs: tuple[Output, ...]) -> bool:
    """Whether a SELECT has a row for each group, and not for each row of FROM."""
    if query.group or query.keys or query.having is not None:
        return True
    asked = [*(o.expr for o in outputs), *(k.expr for k in query.order)]
    return any(isinstance(x, Aggregate) for e in asked for x in inside(e))


def group_by(
    query: Select, core: tuple[Expr, ...], inner: Env, outputs: tuple[Output, ...]
) -> Body:
    """GROUP BY: a row for every group that has rows, with its aggregates beside it."""
    known: dict[Scalar, Val] = {}
    keys: list[str] = []
    bound = outs(mul(*core))
    for expr in _resolved(query.group, outputs, inner):
        v = inner.value(expr)
        if not v.prefix and isinstance(v.term, Var) and v.term.name in bound:
            var = v.term.name
        else:
            var = inner.names.fresh("g")
            core = (*core, *assign(var, v, inner.catalog.functions))
        keys.append(var)
        known[expr] = column(var, v.type)
    left_out = _leave_out(query, known, outputs, inner)
    is_global = not query.group and not query.keys
    group = Group(core, tuple(dict.fromkeys(keys)), is_global, inner)
    having = None if query.having is None else by_alias(query.having, outputs, inner)
    order = [by_alias(k.expr, outputs, inner, columns_first=False) for k in query.order]
    aggregates: list[Val] = []
    for e in [*(o.expr for o in outputs), *([] if having is None else [having]), *order]:
        for x in inside(e):
            if isinstance(x, Aggregate) and x not in known:
                v = _aggregate(x, group)
                aggregates.append(v)
                known[x] = Val(v.term, v.type, nulls=v.nulls)
    scope = replace(inner.scope, grouped=frozenset(group.keys))
    env = replace(inner, scope=scope, known=known)
    alive = () if group.is_global else (exists(sum_(group.keys, product(*core))),)
    factors = (*alive, *left_out, *(f for v in aggregates for f in v.prefix))
    if having is not None:
        factors += tuple(env.condition(c, True) for c in conjuncts(having))
    return Body(factors, env, inner, outputs, tuple(aggregates))


def _resolved(
    group: tuple[Scalar, ...], outputs: tuple[Output, ...], inner: Env
) -> Iterator[Scalar]:
    """The expressions of GROUP BY, aliases and positions replaced by what they stand for."""
    for expr in group:
        expr = by_alias(expr, outputs, inner, columns_first=True)
        refuse_aggregates(expr, "GROUP BY")
        yield expr


def _leave_out(
    query: Select, known: dict[Scalar, Val], outputs: tuple[Output, ...], inner: Env
) -> tuple[Expr, ...]:
    """Where this is one of several groupings, the keys that it leaves out are NULL.

    GROUPING(key) is 1 for them; GROUPING_ID() has the bits of all the keys, the first one highest.
    """
    nothing: list[Expr] = []
    bits = 0
    all_keys = tuple(_resolved(query.keys, outputs, inner))
    for expr in all_keys:
        is_out = int(expr not in known)
        bits = 2 * bits + is_out
        if is_out:
            var = inner.names.fresh("left_out")
            nothing.append(Lift(var, NULL))
            known[expr] = column(var, inner.value(expr).type.or_null())
        known[Call("grouping", (expr,))] = Val(const(is_out), INT)
    if query.keys:
        for call in (Call("grouping_id", ()), Call("grouping_id", all_keys)):
            known[call] = Val(const(bits), INT)
    return tuple(nothing)


def _aggregate(e: Aggregate, group: Group) -> Val:
    try:
        return aggregate(e, group)
    except FreshviewError as problem:
        raise problem.located(e.at) from None


def refuse_aggregates(e: Scalar, clause: str) -> None:
    """Refuse an aggregate in a clause that runs before there are groups."""
    for x in inside(e):
        if isinstance(x, Aggregate):
            raise UnsupportedSql(
                f"{x.fn.upper()} is not allowed in {clause}",
                instead="use HAVING, or aggregate in a subquery",
                at=x.at,
            )
