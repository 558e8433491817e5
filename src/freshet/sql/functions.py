"""Calls of scalar functions, casts, and arithmetic on dates."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Literal as OneOf

from freshet.calculus.build import const, mul
from freshet.calculus.terms import Apply, Const, Expr, Lift, Var
from freshet.calculus.types import DATE, DOUBLE, INT, TIMESTAMP, Kind, Type, common
from freshet.calculus.types import NULL as NULL_TYPE
from freshet.calculus.types import ring as ring_type
from freshet.errors import TypeProblem, UnknownName, UnsupportedSql
from freshet.sql import values
from freshet.sql.products import assign
from freshet.sql.scope import Env, Val, not_null
from freshet.sql.terms import Case, Compare, Literal, Scalar

_TEXT: tuple[Kind, ...] = ("string",)
_NUMBER: tuple[Kind, ...] = ("int", "decimal", "double")
_TIME: tuple[Kind, ...] = ("date", "timestamp")
# What the built-in functions ask of their arguments; the last entry holds for all that follow.
_ASKED: dict[str, tuple[tuple[Kind, ...], ...]] = {
    **dict.fromkeys(("year", "quarter", "month", "day", "hour", "minute", "second"), (_TIME,)),
    **dict.fromkeys(("upper", "lower", "trim", "length", "concat", "like"), (_TEXT,)),
    **dict.fromkeys(("abs", "floor", "ceil", "sqrt", "power", "double", "div", "mod"), (_NUMBER,)),
    **dict.fromkeys(("vec_length", "dihedral_angle", "round"), (_NUMBER,)),
    "substring": (_TEXT, ("int",)),
    "add_days": (_TIME, ("int",)),
    "add_months": (_TIME, ("int",)),
    "add_seconds": (_TIME, ("int",)),
    "days_between": (_TIME,),
    "date": (("date", "timestamp", "string"),),
}
_EXTREMES = ("greatest", "least", "listmax", "listmin")


def call(fn: str, args: tuple[Scalar, ...], env: Env) -> Val:
    """fn(args)."""
    if fn in ("nvl", "ifnull"):
        fn = "coalesce"
    if fn == "nullif" and len(args) == 2:
        equal = Compare("=", args[0], args[1], args[0].at)
        return values.value(Case(((equal, Literal(None, NULL_TYPE)),), args[0]), env)
    operands = [values.value(a, env) for a in args]
    if fn == "date" and [v.type.kind for v in operands] == ["date"]:
        return operands[0]
    if fn in _EXTREMES:
        return _extreme(fn, operands, env)
    return apply(fn, operands, env)


def apply(fn: str, operands: list[Val], env: Env) -> Val:
    """A function of values: strict ones are NULL as soon as an argument is."""
    function = env.catalog.functions[fn]
    low, high = function.arity
    if not low <= len(operands) <= high:
        asked = str(low) if low == high else f"at least {low}"
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
    t = NULL_TYPE.not_null()
    for v in operands:
        t = common(t, v.type)
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
    v = as_time(v)
    if unit == "seconds" and v.type.kind == "date":
        raise TypeProblem("hours are added to a date", instead="cast it to TIMESTAMP first")
    amount = Val(const(count), INT)
    return apply(f"add_{unit}", [v, amount], env)


def as_time(v: Val) -> Val:
    """A string constant as the date or timestamp that it spells; other values as they are."""
    text = values.text_literal(v)
    if text is None:
        return v
    moment = read_time(text)
    return Val(const(moment), TIMESTAMP if isinstance(moment, datetime) else DATE)


def as_timestamp(v: Val) -> Val:
    """A constant date as the timestamp of its midnight; dates of rows are not converted."""
    if v.type.kind == "timestamp":
        return v
    if isinstance(v.term, Const):
        return _cast_constant(v.term, TIMESTAMP)
    raise TypeProblem("date is compared with timestamp", instead="cast the timestamp to DATE")


def read_time(text: str) -> date | datetime:
    """A date, or a timestamp if hours are given."""
    try:
        if len(text.strip()) <= len("1997-09-01"):
            return date.fromisoformat(text.strip())
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise TypeProblem(f"'{text}' is not a date", instead="write it as '1997-09-01'") from None


def date_arithmetic(op: str, left: Val, right: Val, env: Env) -> Val:
    """Date - date is a number of days; date + n and date - n move by days."""
    if op == "-" and right.type.kind == "date":
        return apply("days_between", [as_time(left), right], env)
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


def cast(v: Val, to: Type, env: Env) -> Val:
    """CAST(v AS to)."""
    if v.type.kind == "null":
        return replace(v, type=to.or_null())
    if isinstance(v.term, Const):
        return _cast_constant(v.term, to)
    kinds = (v.type.kind, to.kind)
    if kinds[0] == kinds[1] and v.type.scale <= to.scale:
        return v
    if to.kind == "double" and v.type.is_numeric:
        return values.coerce(v, DOUBLE)
    if to.kind == "decimal" and v.type.kind == "int":
        one = const(Decimal(1).scaleb(-to.scale) * 10**to.scale)
        return values.joined(mul(one, v.term), to, v)
    if kinds in (("timestamp", "date"), ("string", "date")):
        return apply("date", [v], env)
    raise UnsupportedSql(
        f"CAST from {v.type.kind} to {to.kind} is not supported",
        instead="store the value in the type that you compare it with",
    )


def _cast_constant(e: Const, to: Type) -> Val:
    raw = e.value
    try:
        new: Expr
        match to.kind:
            case "date" | "timestamp":
                moment = read_time(raw) if isinstance(raw, str) else raw
                if to.kind == "date" and isinstance(moment, datetime):
                    moment = moment.date()
                elif to.kind == "timestamp" and not isinstance(moment, datetime):
                    assert isinstance(moment, date)
                    moment = datetime(moment.year, moment.month, moment.day)
                new = const(moment)
            case "int":
                new = const(int(raw))  # type: ignore[arg-type]
            case "double":
                new = const(float(raw))  # type: ignore[arg-type]
            case "decimal":
                exact = Decimal(str(raw)).quantize(Decimal(1).scaleb(-to.scale))
                new = Const(exact, to.not_null())
            case "string":
                new = const(str(raw))
            case _:
                new = const(bool(raw))
    except (ValueError, InvalidOperation, AssertionError):
        raise TypeProblem(f"'{raw}' is no {to.kind}", instead="write another constant") from None
    assert isinstance(new, Const)
    return Val(new, new.type)
