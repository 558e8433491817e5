"""Conditions in three parts: a term for true, one for false, one for unknown; they add up to 1.

NOT exchanges the first two. Every part is a closed term: it binds nothing that others see.
"""

from __future__ import annotations

from typing import Literal as OneOf

from freshview.calculus.build import ONE, ZERO, add, const, is_zero, mul, sub
from freshview.calculus.scope import is_value
from freshview.calculus.terms import Apply, Cmp, Const, Expr, Lift, Op, Var
from freshview.calculus.types import BOOL, Kind, common
from freshview.errors import FreshviewError, TypeProblem
from freshview.sql import casts, either, quantifiers, values
from freshview.sql.products import carriers, closed, some_null
from freshview.sql.scope import Env, Val, not_null
from freshview.sql.terms import (
    And,
    Case,
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
    ScalarQuery,
    inside,
)

Want = bool | None
"""Which part is asked for: true, false, or (None) unknown."""

NEGATED: dict[Op, Op] = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def part(e: Scalar, env: Env, want: Want) -> Expr:
    """1 in the rows where the condition is `want`, else 0."""
    try:
        return _part(e, env, want)
    except FreshviewError as problem:
        raise problem.located(e.at) from None


def _part(e: Scalar, env: Env, want: Want) -> Expr:
    if env.known and e in env.known:
        return _truth_value(env.known[e], want, env)
    match e:
        case Not(arg):
            return part(arg, env, None if want is None else not want)
        case And(parts):
            return _junction(parts, env, want, neutral=True)
        case Or():
            factored = either.factored(e)
            if not isinstance(factored, Or):
                return part(factored, env, want)
            return _junction(factored.parts, env, want, neutral=False)
        case Compare(op, left, right):
            return compare(op, values.value(left, env), values.value(right, env), want, env)
        case Same(left, right):
            return _same(values.value(left, env), values.value(right, env), want, env)
        case InList():
            return _in_list(e, env, want)
        case IsNull(arg):
            return _is_null(values.value(arg, env), want)
        case IsTruth(arg, truth):
            if want is None:
                return ZERO
            if want:
                return part(arg, env, truth)
            return add(part(arg, env, not truth), part(arg, env, None))
        case ExistsQuery(query):
            return quantifiers.exists(query, env, want)
        case Quantified():
            return quantifiers.quantified(e, env, want)
        case Literal(None):
            return ONE if want is None else ZERO
        case Literal(truth, t) if t.kind == "bool":
            return ONE if want is truth else ZERO
        case _:
            return _truth_value(values.value(e, env), want, env)


def not_true(e: Scalar, env: Env) -> Expr:
    """1 where the condition is false or unknown."""
    return add(part(e, env, False), part(e, env, None))


def _junction(parts: tuple[Scalar, ...], env: Env, want: Want, *, neutral: bool) -> Expr:
    """AND (whose neutral part is true) or OR (false) of several conditions."""
    if want is None:
        if all(is_zero(part(p, env, None)) for p in parts):
            return ZERO
        open_ = mul(*(add(part(p, env, neutral), part(p, env, None)) for p in parts))
        return sub(open_, mul(*(part(p, env, neutral) for p in parts)))
    if want is neutral:
        return mul(*(part(p, env, neutral) for p in parts))
    return either.some(parts, env, want)


def flat(e: Scalar, env: Env, want: bool) -> Expr | None:
    """The part as one computation on values, 0 or 1; None if it needs a subquery or a binding."""
    if any(isinstance(x, ScalarQuery | ExistsQuery | Quantified | Case) for x in inside(e)):
        return None
    if isinstance(e, Not):
        return flat(e.arg, env, not want)
    if isinstance(e, And | Or):
        terms = [flat(p, env, want) for p in e.parts]
        found = [t for t in terms if t is not None]
        if len(found) < len(terms):
            return None
        return mul(*found) if want is isinstance(e, And) else Apply("or", tuple(found))
    term = part(e, env, want)
    return term if is_value(term) else None


def _null_part(*sides: Val) -> Expr:
    nulls = tuple(n for s in sides for n in s.nulls)
    if not nulls:
        return ZERO
    return closed(*(f for s in sides for f in s.prefix), some_null(nulls))


def compare(op: Op, left: Val, right: Val, want: Want, env: Env) -> Expr:
    """Left op right: unknown if a side is NULL."""
    left, right = comparable(op, left, right)
    if want is None:
        return _null_part(left, right)
    if not want:
        op = NEGATED[op]
    needless = _needless(op, left, right, env)
    factors = [f for side in (left, right) for f in side.present if f not in needless]
    return closed(*factors, Cmp(op, left.term, right.term))


def _needless(op: Op, left: Val, right: Val, env: Env) -> list[Expr]:
    """The guards against NULL that the comparison itself implies.

    Order comparisons are false on NULL; `=` is identity, so it needs one guard only where both
    sides may be NULL.
    """
    known = env.catalog.functions
    of_left, of_right = carriers(left.term, known), carriers(right.term, known)
    if op == "<>":
        implied: frozenset[str] = frozenset()
    elif op != "=":
        implied = of_left | of_right
    elif not right.nulls:
        implied = of_left
    else:
        implied = of_right - frozenset(left.nulls)
    return [not_null(v) for v in implied]


def comparable(op: Op, left: Val, right: Val) -> tuple[Val, Val]:
    """Both sides in one type; a string constant beside a date is a date."""
    kinds = {left.type.kind, right.type.kind}
    if kinds & {"date", "timestamp"} and "string" in kinds:
        kind: Kind = "timestamp" if "timestamp" in kinds else "date"
        left, right = casts.as_time(left, kind), casts.as_time(right, kind)
        kinds = {left.type.kind, right.type.kind}
    if "ring" in kinds:
        raise TypeProblem("elements of a ring have no order", instead="compare columns")
    try:
        t = common(left.type, right.type)
    except TypeProblem:
        raise TypeProblem(
            f"{left.type.kind} is compared with {right.type.kind}", instead="cast one of them"
        ) from None
    if kinds == {"date", "timestamp"}:
        return casts.as_timestamp(left), casts.as_timestamp(right)
    left, right = values.alike(left, right)
    # Doubles and exact numbers meet as doubles, or the test would ask for equal digits.
    if t.kind == "double" and (op in ("=", "<>") or "decimal" in kinds):
        return values.coerce(left, t), values.coerce(right, t)
    return left, right


def _same(left: Val, right: Val, want: Want, env: Env) -> Expr:
    """IS NOT DISTINCT FROM is what `=` means in the calculus."""
    if want is None:
        return ZERO
    left, right = comparable("=", left, right)
    left, right = values.bare(left, env), values.bare(right, env)
    op: OneOf["=", "<>"] = "=" if want else "<>"
    return closed(*left.prefix, *right.prefix, Cmp(op, left.term, right.term))


def _is_null(v: Val, want: Want) -> Expr:
    if want is None:
        return ZERO
    if not v.nulls:
        return ZERO if want else ONE
    return closed(*v.prefix, some_null(v.nulls)) if want else closed(*v.present)


def _truth_value(v: Val, want: Want, env: Env) -> Expr:
    """A value of type bool as a condition."""
    if v.type.kind == "null":
        return ONE if want is None else ZERO
    if v.type.kind != "bool":
        raise TypeProblem(f"a condition is asked for, not {v.type.kind}", instead="compare it")
    if want is None:
        return _null_part(v)
    if isinstance(v.term, Apply):
        test: Expr = v.term if want else Apply("not", (v.term,))
        guards = [not_null(n) for n in carriers(v.term, env.catalog.functions)]
        return closed(*(f for f in v.present if f not in guards), test)
    if isinstance(v.term, Const):
        return ONE if v.term.value is want else ZERO
    return closed(*v.prefix, Cmp("=", v.term, const(want)))


def _in_list(e: InList, env: Env, want: Want) -> Expr:
    arg = values.value(e.arg, env)
    items = [comparable("=", arg, values.value(i, env))[1] for i in e.items if not _is_nothing(i)]
    has_null = len(items) < len(e.items)
    constants = all(isinstance(i.term, Const) and not i.prefix for i in items)
    if not constants or len(items) < 2 or has_null:
        parts = tuple(Compare("=", e.arg, i, i.at) for i in e.items)
        return part(Or(parts, e.at) if len(parts) > 1 else parts[0], env, want)
    if want is None:
        return _null_part(arg)
    kind = items[0].type
    arg = values.coerce(arg, kind) if kind.kind == "double" else arg
    test: Expr = Apply("in", (arg.term, *(i.term for i in items)))
    if want:
        guards = [not_null(n) for n in carriers(arg.term, env.catalog.functions)]
        return closed(*(f for f in arg.present if f not in guards), test)
    return closed(*arg.present, Apply("not", (test,)))


def _is_nothing(e: Scalar) -> bool:
    return isinstance(e, Literal) and e.value is None


def as_value(e: Scalar, env: Env) -> Val:
    """A condition where a value is asked for: true, false or NULL."""
    unknown = part(e, env, None)
    term = flat(e, env, True)
    if is_zero(unknown) and term is not None:
        return Val(Apply("or", (term,)), BOOL)
    var = env.names.fresh("holds")
    known = add(
        mul(part(e, env, True), Lift(var, const(True))),
        mul(part(e, env, False), Lift(var, const(False))),
    )
    if is_zero(unknown):
        return Val(Var(var), BOOL, (known,))
    whole = add(known, mul(unknown, Lift(var, const(None))))
    return Val(Var(var), BOOL.or_null(), (whole,), (var,), (known,))


def never_null(e: Scalar, env: Env) -> frozenset[str]:
    """The variables that cannot be NULL in a row where the condition is true."""
    match e:
        case Compare(_, left, right):
            sides = (left, right)
        case Not(IsNull(arg)):
            sides = (arg, arg)
        case InList(arg):
            sides = (arg, arg)
        case _:
            return frozenset()
    if any(isinstance(x, ScalarQuery | ExistsQuery | Quantified) for s in sides for x in inside(s)):
        return frozenset()
    found = [values.value(s, env) for s in sides]
    return frozenset(n for v in found for n in v.nulls if env.scope.is_local(n))
