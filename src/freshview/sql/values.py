"""Scalar expressions as values: `e` is `term` once the factors of `prefix` are joined."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import assert_never

from freshview.algebra import NUMBERS
from freshview.calculus.build import NULL, ZERO, add, const, mul, sub
from freshview.calculus.casts import to_timestamp
from freshview.calculus.domain import is_within
from freshview.calculus.functions import call as compute
from freshview.calculus.rows import scaled
from freshview.calculus.terms import Add, Apply, Const, Expr, Lift, Mul, Var
from freshview.calculus.types import NULL as NULL_TYPE
from freshview.calculus.types import STRING, Type, common, counted, product
from freshview.errors import FreshviewError, TypeProblem, UnsupportedSql
from freshview.sql import cases, casts, functions, predicates, select
from freshview.sql.products import assign
from freshview.sql.scope import Env, Val, column
from freshview.sql.terms import (
    Aggregate,
    And,
    Arith,
    Call,
    Case,
    Cast,
    Compare,
    ExistsQuery,
    InList,
    Interval,
    IsNull,
    IsTruth,
    Lifted,
    Literal,
    Name,
    Not,
    Or,
    Quantified,
    Ref,
    Same,
    Scalar,
    ScalarQuery,
)


def value(e: Scalar, env: Env) -> Val:
    """What a scalar expression is worth in a row."""
    if env.known and e in env.known:  # a hash looks at the whole expression
        return env.known[e]
    try:
        return _value(e, env)
    except FreshviewError as problem:
        raise problem.located(e.at) from None


def _value(e: Scalar, env: Env) -> Val:
    match e:
        case Ref():
            env.scope.check_grouped(e)
            return column(e.var, e.type)
        case Name():
            return value(env.resolve(e), env)
        case Literal(None):
            return null(env)
        case Literal(literal, t):
            return Val(Const(literal, t), t)
        case Interval():
            raise TypeProblem(
                "an interval stands alone", instead="add it to a date or take it from one"
            )
        case Arith():
            return _arith(e, env)
        case Call(fn, args):
            return functions.call(fn, args, env)
        case Lifted(fn, ring, args):
            return functions.lift(fn, ring, args, env)
        case Case():
            return cases.case(e, env)
        case Cast(arg, t, digits, tried):
            return casts.cast(value(arg, env), t, env, digits, tried=tried)
        case Aggregate(fn):
            raise UnsupportedSql(
                f"{fn.upper()} is not allowed here",
                instead="use it in SELECT, HAVING or ORDER BY, and not inside another aggregate",
            )
        case ScalarQuery(query):
            return select.scalar(query, env)
        case (
            Compare()
            | Same()
            | And()
            | Or()
            | Not()
            | InList()
            | IsNull()
            | IsTruth()
            | ExistsQuery()
            | Quantified()
        ):
            return predicates.as_value(e, env)
        case _:
            assert_never(e)


def null(env: Env) -> Val:
    """The literal NULL: a variable that is NULL, and never present."""
    var = env.names.fresh("nothing")
    return Val(Var(var), NULL_TYPE, (Lift(var, NULL),), (var,), (ZERO,))


def joined(term: Expr, t: Type, *operands: Val) -> Val:
    """A value computed of others: NULL as soon as one of them is."""
    nulls = tuple(dict.fromkeys(n for v in operands for n in v.nulls))
    certain = None
    if any(v.certain is not None for v in operands):
        certain = tuple(f for v in operands for f in v.present)
    prefix = tuple(f for v in operands for f in v.prefix)
    t = t.or_null() if nulls else t.not_null()
    return Val(term, t, prefix, nulls, certain)


def named(v: Val, hint: str, env: Env) -> Val:
    """The value held by one variable, NULL included, so that it can be read twice."""
    if isinstance(v.term, Var) and v.nulls in ((), (v.term.name,)):
        return v
    var = env.names.fresh(hint)
    return replace(column(var, v.type), prefix=assign(var, v, env.catalog.functions))


def bare(v: Val, env: Env) -> Val:
    """The value as a term that is NULL by itself where the value is: fit for any function."""
    if not v.nulls or isinstance(v.term, Var):
        return v
    return named(v, "v", env)


def _arith(e: Arith, env: Env) -> Val:
    if isinstance(e.right, Interval):
        count = e.right.count if e.op == "+" else -e.right.count
        if e.op not in ("+", "-"):
            raise TypeProblem(f"an interval cannot take part in {e.op}", instead="use + or -")
        return functions.shift(value(e.left, env), count, e.right.unit, env)
    if isinstance(e.left, Interval) and e.op == "+":
        return _arith(Arith("+", e.right, e.left, e.at), env)
    left, right = value(e.left, env), value(e.right, env)
    if "date" in (left.type.kind, right.type.kind):
        return functions.date_arithmetic(e.op, left, right, env)
    rings = {"ring"} if e.op in ("+", "-", "*") else set()
    for side in (left, right):
        if side.type.kind not in {"int", "decimal", "double", "null"} | rings:
            raise TypeProblem(
                f"'{e.op}' needs numbers, not {side.type.kind}", instead="cast the value first"
            )
    if e.op in ("/", "%"):
        return functions.apply("div" if e.op == "/" else "mod", [left, right], env)
    left, right = alike(left, right)
    if e.op == "*":
        t = product(left.type, right.type, env.catalog.functions.headers)
        return fold(joined(mul(left.term, right.term), t, left, right), env)
    t = common(counted(left.type), counted(right.type))
    term = add(left.term, right.term) if e.op == "+" else sub(left.term, right.term)
    return fold(joined(term, t, left, right), env)


def alike(left: Val, right: Val) -> tuple[Val, Val]:
    """Two numbers of which a decimal constant beside a double is a double."""
    if left.type.kind == "double":
        return left, as_double(right)
    if right.type.kind == "double":
        return as_double(left), right
    return left, right


def as_double(v: Val) -> Val:
    """A constant number as a double; anything else stays as it is."""
    if isinstance(v.term, Const) and isinstance(v.term.value, int | Decimal):
        if v.type.is_numeric:
            constant = const(float(v.term.value))
            return replace(v, term=constant, type=replace(constant.type, nullable=v.type.nullable))
    return v


def fold(v: Val, env: Env) -> Val:
    """A computation on constants, done now; its type follows from its value."""
    if v.prefix or v.nulls:
        return v
    try:
        folded = _fold(v.term, env)
    except (ArithmeticError, ValueError) as e:
        raise TypeProblem(f"the value of a constant leaves its range: {e}") from e
    if folded is None:
        return v
    if v.type.kind == "double" and isinstance(folded, int):
        folded = float(folded)  # constants that the builders put together
    constant = const(folded)
    if v.type.kind == "decimal" and isinstance(folded, int | Decimal):
        return Val(_exact(Decimal(folded), v.type), v.type)
    if not is_within(folded, constant.type):
        raise TypeProblem(
            f"{folded} leaves the 64-bit integers", instead="write the constants as decimals"
        )
    return Val(constant, constant.type)


def _exact(value: Decimal, t: Type) -> Const:
    """A decimal constant with the digits of its type."""
    try:
        return Const(scaled(value, t.scale), t)
    except ValueError as e:
        raise TypeProblem(f"a constant is {value}", instead="decimals have 38 digits") from e


def _fold(e: Expr, env: Env) -> int | Decimal | float | str | date | datetime | bool | None:
    match e:
        case Const(literal):
            return literal
        case Add(parts) | Mul(parts):
            numbers = [_fold(p, env) for p in parts]
            if not all(isinstance(n, int | float | Decimal) for n in numbers):
                return None
            combine = NUMBERS.add if isinstance(e, Add) else NUMBERS.mul
            total: int | Decimal | float = numbers[0]  # type: ignore[assignment]
            for n in numbers[1:]:
                total = combine(total, n)  # type: ignore[arg-type]
            return total
        case Apply(fn, args, ring) if not ring:
            values = tuple(_fold(a, env) for a in args)
            return None if None in values else compute(env.catalog.functions[fn], values)
        case _:
            return None


def coerce(v: Val, t: Type) -> Val:
    """A value as one of a wider type, where that changes the value's representation."""
    if t.kind == "double" and v.type.kind in ("int", "decimal"):
        if isinstance(v.term, Const):
            return as_double(v)
        return replace(v, term=Apply("double", (v.term,)), type=t.or_null(v.type.nullable))
    if (
        t.kind == "decimal"
        and isinstance(v.term, Const)
        and isinstance(v.term.value, int | Decimal)
    ):
        exact = _exact(Decimal(v.term.value), t.not_null())
        return replace(v, term=exact, type=t.not_null())
    if t.kind == "timestamp" and v.type.kind == "date":
        if isinstance(v.term, Const):
            midnight = const(to_timestamp(v.term.value))
            return replace(v, term=midnight, type=midnight.type)
        return replace(v, term=Apply(t.kind, (v.term,)), type=t.or_null(v.type.nullable))
    return v


def text_literal(v: Val) -> str | None:
    """The text of a string constant."""
    if v.type.kind == STRING.kind and isinstance(v.term, Const):
        return str(v.term.value)
    return None
