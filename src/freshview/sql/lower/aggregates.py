"""SUM, COUNT, AVG, MIN and MAX of a group: assignments over copies of the group's rows."""

from __future__ import annotations

from dataclasses import dataclass

from freshview.calculus.build import NULL, ZERO, add, exists, is_zero, mul, sum_
from freshview.calculus.terms import Apply, Cmp, Expr, Lift, Order, Top, Var
from freshview.calculus.types import DOUBLE, INT
from freshview.calculus.walk import freshen
from freshview.errors import TypeProblem, UnsupportedSql
from freshview.sql.lower.env import Env
from freshview.sql.lower.products import no_row, product
from freshview.sql.lower.val import Val
from freshview.sql.terms import Aggregate, Name, Ref
from freshview.sql.walk import inside


@dataclass(frozen=True)
class Group:
    """The rows that are aggregated, and the variables of GROUP BY; a global group has none."""

    core: tuple[Expr, ...]
    keys: tuple[str, ...]
    is_global: bool
    env: Env

    def total(self, *factors: Expr) -> Expr:
        """The sum of a product over the rows of the group, as a fresh copy."""
        return freshen(sum_(self.keys, product(*self.core, *factors)), self.env.names)


def aggregate(e: Aggregate, group: Group) -> Val:
    """An aggregate of a group; NULL where no value goes into it, except for COUNT."""
    env = group.env
    if not e.args:
        var = env.names.fresh("count")
        return Val(Var(var), INT, (Lift(var, group.total()),))
    _check_own(e, env)
    arguments = [env.value(a) for a in e.args]
    if e.distinct and e.fn not in ("min", "max"):
        group, arguments = _distinct(arguments, group)
    argument = arguments[0]
    present = tuple(f for a in arguments for f in a.present)
    may_be_empty = group.is_global or any(a.nulls for a in arguments) or argument.type.nullable
    if e.fn == "count":
        var = env.names.fresh("count")
        return Val(Var(var), INT, (Lift(var, group.total(*present)),))
    if e.fn != "sum" and argument.type.kind == "ring":
        raise UnsupportedSql(
            f"{e.fn.upper()} of a ring is not supported",
            instead="take SUM of the lifting functions",
        )
    if e.fn in ("min", "max"):
        return _extreme(e, argument, group, may_be_empty)
    if e.fn == "sum" and argument.type.kind == "ring":
        var = env.names.fresh("sum")  # over no rows it is the ring's zero, not NULL
        total = group.total(*argument.present, argument.term)
        return Val(Var(var), argument.type.not_null(), (Lift(var, total),))
    if not argument.type.is_numeric:
        raise TypeProblem(
            f"{e.fn.upper()} needs numbers, not {argument.type.kind}", instead="use MIN or COUNT"
        )
    if e.fn == "sum":
        return _sum(argument, group, may_be_empty)
    return _avg(argument, group, may_be_empty)


def _check_own(e: Aggregate, env: Env) -> None:
    """An aggregate of outer columns only would belong to the outer SELECT."""
    refs = [x for a in e.args for x in inside(a) if isinstance(x, Ref | Name)]
    if refs and not any(isinstance(r, Ref) and env.scope.is_local(r.var) for r in refs):
        raise UnsupportedSql(
            f"{e.fn.upper()} of an outer column is not supported",
            instead="aggregate in the outer SELECT",
            at=e.at,
        )


def _distinct(arguments: list[Val], group: Group) -> tuple[Group, list[Val]]:
    """The group with every combination of values once, none of them NULL."""
    names = group.env.names
    variables = tuple(names.fresh("distinct") for _ in arguments)
    lifts = [Lift(v, a.term) for v, a in zip(variables, arguments, strict=True)]
    present = (f for a in arguments for f in a.present)
    once = exists(sum_((*group.keys, *variables), product(*group.core, *present, *lifts)))
    kept = [Val(Var(v), a.type.not_null()) for v, a in zip(variables, arguments, strict=True)]
    may_be_empty = any(a.nulls for a in arguments)
    if may_be_empty:
        kept[0] = Val(kept[0].term, kept[0].type.or_null())
    return Group((once,), group.keys, group.is_global, group.env), kept


def _or_null(var: str, there: Expr, present: tuple[Expr, ...], group: Group, v: Val) -> Val:
    """What is there where a value is, and NULL where none is."""
    names = group.env.names
    nothing = mul(no_row(group.total(*present), names), Lift(var, NULL))
    whole = add(freshen(there, names), nothing)
    return Val(Var(var), v.type.or_null(), (whole,), (var,), (there,))


def _sum(argument: Val, group: Group, may_be_empty: bool) -> Val:
    var = group.env.names.fresh("sum")
    lift = Lift(var, group.total(*argument.present, argument.term))
    if not may_be_empty:
        return Val(Var(var), argument.type.not_null(), (lift,))
    # One product, not a sum of two cases: k such sums in a row stay one product as well.
    total, count = group.env.names.fresh("total"), group.env.names.fresh("count")
    prefix = (
        Lift(total, group.total(*argument.present, argument.term)),
        Lift(count, group.total(*argument.present)),
        Lift(var, Apply("when", (Var(count), Var(total)))),
    )
    certain = (exists(group.total(*argument.present)), lift)
    return Val(Var(var), argument.type.or_null(), prefix, (var,), certain)


def _avg(argument: Val, group: Group, may_be_empty: bool) -> Val:
    """Sum / count; division by a count of 0 is the NULL that SQL asks for."""
    names = group.env.names
    total, count, var = names.fresh("sum"), names.fresh("count"), names.fresh("avg")
    parts = (
        Lift(total, group.total(*argument.present, argument.term)),
        Lift(count, group.total(*argument.present)),
    )
    quotient = Lift(var, Apply("div", (Var(total), Var(count))))
    if not may_be_empty:
        return Val(Var(var), DOUBLE, (*parts, quotient))
    certain = (*parts, Cmp("<>", Var(count), ZERO), quotient)
    return Val(Var(var), DOUBLE.or_null(), (*parts, quotient), (var,), certain)


def _extreme(e: Aggregate, argument: Val, group: Group, may_be_empty: bool) -> Val:
    """The first row by the value, in the group's order."""
    names = group.env.names
    var = names.fresh(e.fn)
    values_ = product(*group.core, *argument.present, Lift(var, argument.term))
    body = freshen(sum_((*group.keys, var), values_), names)
    first = Top(group.keys, (Order(var, e.fn == "max"),), 1, body) if not is_zero(body) else ZERO
    if not may_be_empty:
        return Val(Var(var), argument.type.not_null(), (first,))
    return _or_null(var, first, argument.present, group, argument)
