"""Calls of scalar functions, casts, and arithmetic on dates."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal as OneOf

from freshview.calculus.build import const, mul
from freshview.calculus.scalars import ESCAPE, like_parts
from freshview.calculus.terms import Apply, Const, Lift, Var
from freshview.calculus.types import DATE, DOUBLE, INT, Kind, Type, common, decimal
from freshview.calculus.types import NULL as NULL_TYPE
from freshview.calculus.types import ring as ring_type
from freshview.errors import TypeProblem, UnknownName
from freshview.sql import casts, values
from freshview.sql.products import assign
from freshview.sql.scope import Env, Val, not_null
from freshview.sql.terms import Case, Compare, Literal, Scalar

_TEXT: tuple[Kind, ...] = ("string",)
_NUMBER: tuple[Kind, ...] = ("int", "decimal", "double")
_TIME: tuple[Kind, ...] = ("date", "timestamp")
# What the built-in functions ask of their arguments; the last entry holds for all that follow.
_ASKED: dict[str, tuple[tuple[Kind, ...], ...]] = {
    **dict.fromkeys(("year", "quarter", "month", "day", "hour", "minute", "second"), (_TIME,)),
    **dict.fromkeys(("upper", "lower", "trim", "length", "concat", "like"), (_TEXT,)),
    **dict.fromkeys(("abs", "floor", "ceil", "sqrt", "power", "div", "mod"), (_NUMBER,)),
    **dict.fromkeys(("vec_length", "dihedral_angle"), (_NUMBER,)),
    "round": (_NUMBER, ("int",)),
    "substring": (_TEXT, ("int",)),
    "add_days": (_TIME, ("int",)),
    "add_months": (_TIME, ("int",)),
    "add_seconds": (_TIME, ("int",)),
    "days_between": (_TIME,),
}
_CALLED = {"date": DATE, "double": DOUBLE, "decimal": decimal(0)}
"""Casts that are written as calls; the parser reads those to other types as CAST."""
_MANY = 1000
_EXTREMES = ("greatest", "least", "listmax", "listmin")


def call(fn: str, args: tuple[Scalar, ...], env: Env) -> Val:
    """fn(args)."""
    if fn in ("nvl", "ifnull"):
        fn = "coalesce"
    if fn == "nullif" and len(args) == 2:
        equal = Compare("=", args[0], args[1], args[0].at)
        return values.value(Case(((equal, Literal(None, NULL_TYPE)),), args[0]), env)
    operands = [values.value(a, env) for a in args]
    if fn in _CALLED and len(operands) == 1:
        return casts.cast(operands[0], _CALLED[fn], env, 10)
    if fn in _EXTREMES:
        return _extreme(fn, operands, env)
    return apply(fn, _prepared(fn, operands, env), env)


def _prepared(fn: str, operands: list[Val], env: Env) -> list[Val]:
    """The arguments of a function in the types in which Spark takes them."""
    match fn, operands:
        case "coalesce", [_, *_]:
            t = _common(operands)
            return [values.coerce(v, t) for v in operands]
        case "add_days" | "add_months", [day, count] if day.type.kind in ("timestamp", "string"):
            return [casts.cast(day, DATE, env), count]
        case "days_between", [a, b]:
            return [casts.cast(v, DATE, env) if v.type.kind == "string" else v for v in (a, b)]
        case "like", [_, pattern, *_]:
            text, escape = values.text_literal(pattern), values.text_literal(operands[-1])
            if text is not None:  # a bad pattern is refused now, not with the first row
                like_parts(text, escape or ESCAPE if len(operands) == 3 else ESCAPE)
        case "round", [v, *_] if v.type.kind == "decimal":
            digits = operands[1].term if len(operands) == 2 else const(0)
            if isinstance(digits, Const) and isinstance(digits.value, int) and digits.value >= 0:
                return [casts.rounded(v, digits.value, env), *operands[1:]]
    return operands


def _common(operands: list[Val]) -> Type:
    t = NULL_TYPE.not_null()
    for v in operands:
        t = common(t, v.type)
    return t


def apply(fn: str, operands: list[Val], env: Env) -> Val:
    """A function of values: strict ones are NULL as soon as an argument is."""
    function = env.catalog.functions[fn]
    low, high = function.arity
    if not low <= len(operands) <= high:
        most = f" to {high}" if high < _MANY else " or more"
        asked = str(low) if low == high else f"{low}{most}"
        raise TypeProblem(
            f"{fn.upper()} takes {asked} arguments, {len(operands)} are given",
            instead="give it the right number",
        )
    operands = [_asked(fn, i, v) for i, v in enumerate(operands)]
    if not function.strict:
        operands = [values.bare(v, env) for v in operands]
    t = function.result(*(v.type for v in operands))
    term = Apply(fn, tuple(v.term for v in operands))
    if not function.strict:
        return _loose(term, t, operands, env)
    v = values.joined(term, t, *operands)
    if function.partial and not _total(fn, operands):
        return _partial(v, fn, env)
    return values.fold(v, env)


def lift(fn: str, ring: str, args: tuple[Scalar, ...], env: Env) -> Val:
    """[fn: ring](args): an element of a ring."""
    known = env.catalog.functions
    into = {f.name: f.ring for f in known.known.values() if f.ring}
    if fn not in into:
        there = ", ".join(sorted(f"[{f}: {r}]" for f, r in into.items()))
        raise UnknownName(
            f"there is no lifting function '{fn}' into the ring '{ring}'",
            instead=f"the lifting functions are {there}; CREATE TYPE declares more",
        )
    if into[fn] != ring:
        raise TypeProblem(
            f"'{fn}' lifts into the ring {into[fn]}, not into {ring}",
            instead=f"write [{fn}: {into[fn]}](...)",
        )
    operands = [values.value(a, env) for a in args]
    low, _ = known[fn].arity
    if len(operands) != low:
        raise TypeProblem(
            f"'{fn}' takes {low} arguments, {len(operands)} are given",
            instead="give it the right number",
        )
    term = Apply(fn, tuple(v.term for v in operands), ring)
    return values.joined(term, ring_type(ring), *operands)


def _asked(fn: str, index: int, v: Val) -> Val:
    kinds = _ASKED.get(fn)
    if kinds is None or v.type.kind == "null":
        return v
    asked = kinds[min(index, len(kinds) - 1)]
    if v.type.kind not in asked:
        raise TypeProblem(
            f"{fn.upper()} needs {' or '.join(asked)}, not {v.type.kind}",
            instead="cast the argument",
        )
    return v


def _total(fn: str, operands: list[Val]) -> bool:
    """Division by a constant that is not zero always has an answer."""
    divisor = operands[-1].term
    return fn in ("div", "mod") and isinstance(divisor, Const) and bool(divisor.value)


def _partial(v: Val, fn: str, env: Env) -> Val:
    """A function that may answer NULL is bound to a variable, which then tells."""
    var = env.names.fresh(fn)
    known = env.catalog.functions
    prefix = assign(var, v, known)
    certain = None
    if v.certain is not None:
        certain = (*assign(var, replace(v, prefix=v.certain, nulls=()), known), not_null(var))
    return Val(Var(var), v.type.or_null(), prefix, (var,), certain)


def _loose(term: Apply, t: Type, operands: list[Val], env: Env) -> Val:
    prefix = tuple(f for v in operands for f in v.prefix)
    if not t.nullable:
        return Val(term, t, prefix)
    var = env.names.fresh(term.fn)
    return Val(Var(var), t, assign(var, Val(term, t, prefix), env.catalog.functions), (var,))


def _extreme(fn: str, operands: list[Val], env: Env) -> Val:
    """GREATEST and LEAST skip NULLs, as Spark does.

    greatest(a, b) is greatest(coalesce(a, b), coalesce(b, a)): NULL only if both are.
    """
    t = _common(operands)
    bare = [values.bare(values.coerce(v, t), env) for v in operands]
    prefix = tuple(f for v in bare for f in v.prefix)
    terms = [v.term for v in bare]
    filled = tuple(
        Apply("coalesce", (v.term, *(x for x in terms if x is not v.term))) if v.nulls else v.term
        for v in bare
    )
    if not all(v.nulls for v in bare):
        return values.fold(Val(Apply(fn, filled), t.not_null(), prefix), env)
    var = env.names.fresh(fn)
    return Val(Var(var), t.or_null(), (*prefix, Lift(var, Apply(fn, filled))), (var,))


def shift(v: Val, count: int, unit: OneOf["days", "months", "seconds"], env: Env) -> Val:
    """A date or timestamp moved by an interval."""
    v = casts.by_its_form(v)
    if unit == "seconds" and v.type.kind == "date":
        raise TypeProblem("hours are added to a date", instead="cast it to TIMESTAMP first")
    amount = Val(const(count), INT)
    return apply(f"add_{unit}", [v, amount], env)


def date_arithmetic(op: str, left: Val, right: Val, env: Env) -> Val:
    """Date - date is a number of days; date + n and date - n move by days."""
    if op == "-" and right.type.kind == "date":
        return apply("days_between", [casts.as_time(left, "date"), right], env)
    if op == "+" and left.type.kind == "int":
        left, right = right, left
    if op in ("+", "-") and right.type.kind == "int":
        sign = const(1 if op == "+" else -1)
        amount = values.fold(values.joined(mul(sign, right.term), INT, right), env)
        return apply("add_days", [left, amount], env)
    raise TypeProblem(
        f"'{op}' does not go with {left.type.kind} and {right.type.kind}",
        instead="add an INTERVAL",
    )
