"""Calls of scalar functions, casts, and arithmetic on dates."""

from __future__ import annotations

from freshview.calculus.build import const
from freshview.calculus.scalars import ESCAPE, like_parts
from freshview.calculus.terms import Apply, Const, Lift, Var
from freshview.calculus.types import (
    BOOL,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Kind,
    Type,
    common,
    decimal,
)
from freshview.calculus.types import NULL as NULL_TYPE
from freshview.calculus.types import ring as ring_type
from freshview.errors import TypeProblem, UnknownName, UnsupportedSql
from freshview.sql.lower.env import Env
from freshview.sql.lower.val import Val, combined
from freshview.sql.lower.values.apply import apply
from freshview.sql.lower.values.bind import bare
from freshview.sql.lower.values.casts import as_double, cast, rounded
from freshview.sql.lower.values.coerce import coerce, text_literal
from freshview.sql.lower.values.fold import fold
from freshview.sql.lower.values.intervals import of_interval
from freshview.sql.lower.values.rewritten import RENAMED, rewritten
from freshview.sql.lower.values.sql_functions import call_sql
from freshview.sql.terms import Call, Scalar

_CALLED = {
    "date": DATE,
    "timestamp": TIMESTAMP,
    "string": STRING,
    "boolean": BOOL,
    **dict.fromkeys(("double", "float"), DOUBLE),
    **dict.fromkeys(("int", "bigint", "smallint", "tinyint"), INT),
    "decimal": decimal(0),
}
"""Casts that are written as calls; the parser reads those to other types as CAST."""

_SIZES = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_EXTREMES = ("greatest", "least", "listmax", "listmin")


_CAST = {t.kind: t for t in (INT, DOUBLE, STRING, DATE, TIMESTAMP, BOOL)}


def call(fn: str, args: tuple[Scalar, ...], env: Env) -> Val:
    """fn(args)."""
    if fn in env.catalog.sql_functions:
        return call_sql(env.catalog.sql_functions[fn], args, env)
    known = fn in env.catalog.functions  # one that a user has registered comes first
    other = None if known else rewritten(fn, args)
    if other is not None:
        return env.value(other)
    fn = fn if known else RENAMED.get(fn, fn)
    if fn in ("grouping", "grouping_id"):
        raise _no_grouping(fn, env)
    operands = [env.value(a) for a in args]
    if fn in _CALLED and len(operands) == 1:
        return cast(operands[0], _CALLED[fn], env, _SIZES.get(fn, 10))
    if operands and operands[0].type.span:
        part = of_interval(fn, operands, env)
        if part is not None:
            return part
    if fn in _EXTREMES:
        return _extreme(fn, operands, env)
    return apply(fn, _prepared(fn, operands, env), env)


def _no_grouping(fn: str, env: Env) -> UnsupportedSql:
    """The error about a GROUPING that is none of those that a GROUP BY answers."""
    word = fn.upper()
    if any(isinstance(e, Call) and e.fn == "grouping" for e in env.known):
        instead = "name one of the grouped expressions, or for GROUPING_ID all of them in order"
        return UnsupportedSql(f"{word} of this is not supported", instead=instead)
    what = f"{word} without ROLLUP, CUBE or GROUPING SETS is not supported"
    return UnsupportedSql(what, instead="leave it out: without them every key is grouped by")


def _prepared(fn: str, operands: list[Val], env: Env) -> list[Val]:
    """The arguments of a function in the types in which Spark takes them."""
    operands = _special(fn, operands, env)
    takes = env.catalog.functions[fn].takes if fn in env.catalog.functions else ()
    if not takes:
        return operands
    kinds = [takes[min(i, len(takes) - 1)] for i in range(len(operands))]
    return [_as_asked(v, k, env) for v, k in zip(operands, kinds, strict=True)]


def _special(fn: str, operands: list[Val], env: Env) -> list[Val]:
    """The arguments of functions that look at more than one of them, or at their values."""
    match fn, operands:
        case "coalesce", [_, *_]:
            t = _common(operands)
            return [coerce(v, t) for v in operands]
        case "add_days" | "add_months", [day, count] if day.type.kind in ("timestamp", "string"):
            return [cast(day, DATE, env), count]
        case "like", [_, pattern, *_]:
            text, escape = text_literal(pattern), text_literal(operands[-1])
            if text is not None:  # a bad pattern is refused now, not with the first row
                like_parts(text, escape or ESCAPE if len(operands) == 3 else ESCAPE)
        case "round", [v, *_] if v.type.kind == "decimal":
            digits = operands[1].term if len(operands) == 2 else const(0)
            if isinstance(digits, Const) and isinstance(digits.value, int) and digits.value >= 0:
                return [rounded(v, digits.value, env), *operands[1:]]
    return operands


def _as_asked(v: Val, kinds: tuple[Kind, ...], env: Env) -> Val:
    """An argument as one of the kinds that a function takes, cast where Spark casts by itself."""
    kind = v.type.kind
    if not kinds or kind in kinds or kind == "null":
        return v
    wanted: Kind = "double" if "double" in kinds else kinds[0]
    if wanted == "double" and kind in ("int", "decimal"):
        return coerce(v, DOUBLE) if isinstance(v.term, Const) else as_double(v, env)
    if wanted == "string" or kind == "string" or {kind, wanted} == {"date", "timestamp"}:
        return cast(v, _CAST[wanted], env)
    return v


def _common(operands: list[Val]) -> Type:
    t = NULL_TYPE.not_null()
    for v in operands:
        t = common(t, v.type)
    return t


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
    operands = [env.value(a) for a in args]
    low, _ = known[fn].arity
    if len(operands) != low:
        raise TypeProblem(
            f"'{fn}' takes {low} arguments, {len(operands)} are given",
            instead="give it the right number",
        )
    term = Apply(fn, tuple(v.term for v in operands), ring)
    return combined(term, ring_type(ring), *operands)


def _extreme(fn: str, operands: list[Val], env: Env) -> Val:
    """GREATEST and LEAST skip NULLs, as Spark does.

    greatest(a, b) is greatest(coalesce(a, b), coalesce(b, a)): NULL only if both are.
    """
    t = _common(operands)
    arguments = [bare(coerce(v, t), env) for v in operands]
    prefix = tuple(f for v in arguments for f in v.prefix)
    terms = [v.term for v in arguments]
    filled = tuple(
        Apply("coalesce", (v.term, *(x for x in terms if x is not v.term))) if v.nulls else v.term
        for v in arguments
    )
    if not all(v.nulls for v in arguments):
        return fold(Val(Apply(fn, filled), t.not_null(), prefix), env)
    var = env.names.fresh(fn)
    return Val(Var(var), t.or_null(), (*prefix, Lift(var, Apply(fn, filled))), (var,))
