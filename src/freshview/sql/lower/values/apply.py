"""A scalar function of values: what it asks for, and where it is NULL."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.terms import Apply, Const, Var
from freshview.calculus.types import Kind, Type
from freshview.errors import TypeProblem
from freshview.sql.lower.env import Env
from freshview.sql.lower.products import assign
from freshview.sql.lower.val import Val, combined, not_null
from freshview.sql.lower.values.bind import bare
from freshview.sql.lower.values.fold import fold

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

_MANY = 1000


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
        operands = [bare(v, env) for v in operands]
    t = function.result(*(v.type for v in operands))
    term = Apply(fn, tuple(v.term for v in operands))
    if not function.strict:
        return _loose(term, t, operands, env)
    v = combined(term, t, *operands)
    if function.partial and not _total(fn, operands):
        return _partial(v, fn, env)
    return fold(v, env)


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
