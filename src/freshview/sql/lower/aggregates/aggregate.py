"""Aggregates of a group: assignments over copies of the group's rows."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from freshview.calculus.build import ZERO, exists, sum_
from freshview.calculus.terms import Apply, Cmp, Lift, Var
from freshview.calculus.types import DOUBLE, INT
from freshview.errors import TypeProblem, UnsupportedSql
from freshview.sql.lower.aggregates import bits
from freshview.sql.lower.aggregates.extremes import beside_extreme, extreme, mode
from freshview.sql.lower.aggregates.group import Group, present
from freshview.sql.lower.aggregates.moments import STATISTICS, coefficient, moment
from freshview.sql.lower.aggregates.percentiles import percentile
from freshview.sql.lower.env import Env
from freshview.sql.lower.products import product
from freshview.sql.lower.val import Val
from freshview.sql.lower.values.intervals import average
from freshview.sql.terms import Aggregate, Literal, Name, Ref
from freshview.sql.walk import inside

_PICKS = {
    **dict.fromkeys(("min", "first", "first_value", "any_value", "bool_and", "every"), "min"),
    **dict.fromkeys(("max", "last", "last_value", "bool_or", "some", "any"), "max"),
}
"""Aggregates that are the least value or the largest one."""

_OF_TRUTH = ("bool_and", "every", "bool_or", "some", "any", "count_if")
_UNORDERED = ("first", "first_value", "any_value", "last", "last_value")


def aggregate(e: Aggregate, group: Group) -> Val:
    """An aggregate of a group; NULL where no value goes into it, except for counts."""
    env = group.env
    if not e.args:
        var = env.names.fresh("count")
        return Val(Var(var), INT, (Lift(var, group.total()),))
    _check_own(e, env)
    e, share = _share(e)
    arguments = [env.value(a) for a in e.args]
    if e.fn != "sum" and any(a.type.kind == "ring" for a in arguments):
        raise UnsupportedSql(
            f"{e.fn.upper()} of a ring is not supported",
            instead="take SUM of the lifting functions",
        )
    if e.fn in _OF_TRUTH and arguments[0].type.kind not in ("bool", "null"):
        raise TypeProblem(f"{e.fn.upper()} needs a BOOLEAN, not {arguments[0].type.kind}")
    if e.fn == "count_if":
        return _count_if(e, group)
    _note(e, env)
    if e.distinct and e.fn not in _PICKS:
        group, arguments = _distinct(arguments, group)
    return _of_values(e.fn, arguments, share, group)


def _of_values(fn: str, arguments: list[Val], share: Decimal | None, group: Group) -> Val:
    argument = arguments[0]
    may_be_empty = group.is_global or any(a.nulls for a in arguments) or argument.type.nullable
    if fn in ("count", "approx_count_distinct"):
        var = group.env.names.fresh("count")
        return Val(Var(var), INT, (Lift(var, group.total(*present(arguments))),))
    if fn == "regr_model":
        raise UnsupportedSql(
            "REGR_MODEL here is not supported", instead="select it, or one of its fields, of groups"
        )
    if fn in _PICKS:
        return extreme(_PICKS[fn], argument, group, may_be_empty=may_be_empty)
    if fn in ("min_by", "max_by"):
        return beside_extreme(fn, arguments, group)
    if fn in ("mode", "mode_desc"):
        return mode(argument, group, may_be_empty=may_be_empty, last=fn == "mode_desc")
    if argument.type.span and (fn in STATISTICS or share is not None):
        raise TypeProblem(f"{fn.upper()} needs numbers, not intervals", instead="use SUM or AVG")
    if fn in bits.FUNCTIONS:
        return bits.of_bits(fn, argument, group)
    if fn == "regr_coefficient":
        return coefficient(arguments, group)
    if fn in STATISTICS:
        return moment(fn, arguments, group)
    if share is not None:
        return percentile(fn, argument, share, group)
    if fn == "sum" and argument.type.kind == "ring":
        var = group.env.names.fresh("sum")  # over no rows it is the ring's zero, not NULL
        total = group.total(*argument.present, argument.term)
        return Val(Var(var), argument.type.not_null(), (Lift(var, total),))
    if not argument.type.is_numeric:
        raise TypeProblem(
            f"{fn.upper()} needs numbers, not {argument.type.kind}", instead="use MIN or COUNT"
        )
    of = _sum if fn == "sum" else _avg
    answer = of(argument, group, may_be_empty=may_be_empty)
    if fn == "avg" and argument.type.span:
        return average(answer, argument.type, group.env)
    return answer


def _check_own(e: Aggregate, env: Env) -> None:
    """An aggregate of outer columns only would belong to the outer SELECT."""
    refs = [x for a in e.args for x in inside(a) if isinstance(x, Ref | Name)]
    if refs and not any(isinstance(r, Ref) and env.scope.is_local(r.var) for r in refs):
        raise UnsupportedSql(
            f"{e.fn.upper()} of an outer column is not supported",
            instead="aggregate in the outer SELECT",
            at=e.at,
        )


def _share(e: Aggregate) -> tuple[Aggregate, Decimal | None]:
    """The share of the rows that a percentile is about, apart from its argument."""
    if e.fn == "median":
        return replace(e, fn="percentile_cont"), Decimal("0.5")
    if not e.fn.startswith("percentile_"):
        return e, None
    share = e.args[1]
    if not isinstance(share, Literal) or isinstance(share.value, bool):
        share = Literal(None, INT)
    if not isinstance(share.value, int | float | Decimal):
        raise UnsupportedSql(
            "a computed share of a percentile is not supported", instead="write a number like 0.5"
        )
    return replace(e, args=e.args[:1]), Decimal(str(share.value))


def _note(e: Aggregate, env: Env) -> None:
    """What a reader of the answer may not expect."""
    if e.fn in _UNORDERED:
        which = "least" if _PICKS[e.fn] == "min" else "largest"
        env.notes[
            f"{e.fn.upper()} as an aggregate is the {which} value that is not NULL: rows of a view "
            "have no order"
        ] = None
    if e.fn == "approx_count_distinct":
        env.notes["APPROX_COUNT_DISTINCT is exact"] = None


def _count_if(e: Aggregate, group: Group) -> Val:
    names = group.env.names
    var = names.fresh("count")
    if e.distinct:
        group, [truth] = _distinct([group.env.value(e.args[0])], group)
        return Val(Var(var), INT, (Lift(var, group.total(truth.term)),))
    return Val(Var(var), INT, (Lift(var, group.total(group.env.condition(e.args[0], True))),))


def _distinct(arguments: list[Val], group: Group) -> tuple[Group, list[Val]]:
    """The group with every combination of values once, none of them NULL."""
    names = group.env.names
    variables = tuple(names.fresh("distinct") for _ in arguments)
    lifts = [Lift(v, a.term) for v, a in zip(variables, arguments, strict=True)]
    core = product(*group.core, *present(arguments), *lifts)
    once = exists(sum_((*group.keys, *variables), core))
    kept = [Val(Var(v), a.type.not_null()) for v, a in zip(variables, arguments, strict=True)]
    may_be_empty = any(a.nulls for a in arguments)
    if may_be_empty:
        kept[0] = Val(kept[0].term, kept[0].type.or_null())
    return Group((once,), group.keys, group.is_global, group.env), kept


def _sum(argument: Val, group: Group, *, may_be_empty: bool) -> Val:
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


def _avg(argument: Val, group: Group, *, may_be_empty: bool) -> Val:
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
