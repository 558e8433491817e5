"""Aggregates that pick one of the values: MIN, MAX, MIN_BY, MAX_BY, FIRST, LAST, MODE."""

from __future__ import annotations

from freshview.calculus.build import exists, mul, sum_, top
from freshview.calculus.terms import Expr, Lift, Order, Var
from freshview.calculus.walk import freshen
from freshview.sql.lower.aggregates.group import Group, or_null, present
from freshview.sql.lower.products import assign
from freshview.sql.lower.val import Val, not_null


def extreme(fn: str, argument: Val, group: Group, *, may_be_empty: bool) -> Val:
    """MIN and MAX: the first row by the value, in the group's order."""
    var = group.env.names.fresh(fn)
    body = group.by((var,), *argument.present, Lift(var, argument.term))
    there = top(group.keys, (Order(var, fn == "max"),), 1, body)
    if not may_be_empty:
        return Val(Var(var), argument.type.not_null(), (there,))
    return or_null(var, there, group, argument.present, argument)


def beside_extreme(fn: str, arguments: list[Val], group: Group) -> Val:
    """MIN_BY(x, y) and MAX_BY(x, y): x where y is extreme, and of several the least, NULL first."""
    value, by = arguments
    names = group.env.names
    var, rank = names.fresh(fn), names.fresh("by")
    own = assign(var, value, group.env.catalog.functions)
    body = group.by((var, rank), *by.present, Lift(rank, by.term), *own)
    order = (Order(rank, fn == "max_by"), Order(var, False, True))
    there = sum_((*group.keys, var), top(group.keys, order, 1, body))
    if not (group.is_global or by.nulls or by.type.nullable):
        return _picked(var, there, there, value)
    picked = or_null(var, there, group, by.present, value)
    return _picked(var, picked.prefix[0], there, Val(value.term, value.type.or_null()))


def _picked(var: str, whole: Expr, there: Expr, value: Val) -> Val:
    """A row of the group is there, but what it holds may be NULL."""
    if not value.type.nullable and not value.nulls:
        return Val(Var(var), value.type, (whole,))
    return Val(Var(var), value.type.or_null(), (whole,), (var,), (there, not_null(var)))


def mode(argument: Val, group: Group, *, may_be_empty: bool, last: bool = False) -> Val:
    """The value of most rows, and of several the least, or the last one."""
    names = group.env.names
    var, count = names.fresh("mode"), names.fresh("count")
    rows = group.by((var,), *argument.present, Lift(var, argument.term))
    counted = mul(exists(rows), Lift(count, freshen(rows, names)))
    order = (Order(count, True), Order(var, last))
    there = sum_((*group.keys, var), top(group.keys, order, 1, counted))
    if not may_be_empty:
        return Val(Var(var), argument.type.not_null(), (there,))
    return or_null(var, there, group, present([argument]), argument)
