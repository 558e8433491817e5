"""Conditions in three parts: a term for true, one for false, one for unknown; they add up to 1.

NOT exchanges the first two. Every part is a closed term: it binds nothing that others see.
"""

from __future__ import annotations

from freshview.calculus.build import ONE, ZERO, add, is_zero, mul, sub
from freshview.calculus.terms import Apply, Const, Expr
from freshview.errors import FreshviewError
from freshview.sql.lower.conditions.comparisons import comparable, compare, null_part, same
from freshview.sql.lower.conditions.disjunction import disjunction, factored
from freshview.sql.lower.conditions.quantifiers import exists_condition, quantified
from freshview.sql.lower.conditions.temporal import at_present, names_the_present
from freshview.sql.lower.conditions.truth import truth_value
from freshview.sql.lower.env import Env, Want
from freshview.sql.lower.products import carriers, closed, some_null
from freshview.sql.lower.val import Val, not_null
from freshview.sql.lower.values.coerce import coerce
from freshview.sql.terms import (
    And,
    Compare,
    ExistsQuery,
    InList,
    IsNull,
    IsTruth,
    Literal,
    Not,
    Or,
    Quantified,
    Same,
    Scalar,
)


def condition(e: Scalar, env: Env, want: Want) -> Expr:
    """1 in the rows where the condition is `want`, else 0."""
    try:
        return _condition(e, env, want)
    except FreshviewError as problem:
        raise problem.located(e.at) from None


def _condition(e: Scalar, env: Env, want: Want) -> Expr:
    if env.known and e in env.known:
        return truth_value(env.known[e], want, env)
    if names_the_present(e, env):
        return at_present((e,), env, want)
    match e:
        case Not(arg):
            return condition(arg, env, None if want is None else not want)
        case And(parts):
            return _junction(parts, env, want, neutral=True)
        case Or():
            common = factored(e)
            if not isinstance(common, Or):
                return condition(common, env, want)
            return _junction(common.parts, env, want, neutral=False)
        case Compare(op, left, right):
            return compare(op, env.value(left), env.value(right), want, env)
        case Same(left, right):
            return same(env.value(left), env.value(right), want, env)
        case InList():
            return _in_list(e, env, want)
        case IsNull(arg):
            return _is_null(env.value(arg), want)
        case IsTruth(arg, truth):
            if want is None:
                return ZERO
            if want:
                return condition(arg, env, truth)
            return add(condition(arg, env, not truth), condition(arg, env, None))
        case ExistsQuery(query):
            return exists_condition(query, env, want)
        case Quantified():
            return quantified(e, env, want)
        case Literal(None):
            return ONE if want is None else ZERO
        case Literal(truth, t) if t.kind == "bool":
            return ONE if want is truth else ZERO
        case _:
            return truth_value(env.value(e), want, env)


def _junction(parts: tuple[Scalar, ...], env: Env, want: Want, *, neutral: bool) -> Expr:
    """AND (whose neutral part is true) or OR (false) of several conditions."""
    if want is None:
        if all(is_zero(condition(p, env, None)) for p in parts):
            return ZERO
        open_ = mul(*(add(condition(p, env, neutral), condition(p, env, None)) for p in parts))
        return sub(open_, mul(*(condition(p, env, neutral) for p in parts)))
    if want is neutral:
        return mul(*(condition(p, env, neutral) for p in parts))
    return disjunction(parts, env, want)


def _is_null(v: Val, want: Want) -> Expr:
    if want is None:
        return ZERO
    if not v.nulls:
        return ZERO if want else ONE
    return closed(*v.prefix, some_null(v.nulls)) if want else closed(*v.present)


def _in_list(e: InList, env: Env, want: Want) -> Expr:
    arg = env.value(e.arg)
    items = [comparable("=", arg, env.value(i))[1] for i in e.items if not _is_nothing(i)]
    has_null = len(items) < len(e.items)
    constants = all(isinstance(i.term, Const) and not i.prefix for i in items)
    if not constants or len(items) < 2 or has_null:
        parts = tuple(Compare("=", e.arg, i, i.at) for i in e.items)
        return condition(Or(parts, e.at) if len(parts) > 1 else parts[0], env, want)
    if want is None:
        return null_part(arg)
    kind = items[0].type
    arg = coerce(arg, kind) if kind.kind == "double" else arg
    test: Expr = Apply("in", (arg.term, *(i.term for i in items)))
    if want:
        guards = [not_null(n) for n in carriers(arg.term, env.catalog.functions)]
        return closed(*(f for f in arg.present if f not in guards), test)
    return closed(*arg.present, Apply("not", (test,)))


def _is_nothing(e: Scalar) -> bool:
    return isinstance(e, Literal) and e.value is None
