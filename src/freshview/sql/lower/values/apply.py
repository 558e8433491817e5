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
    operands = [_asked(fn, function.takes, i, v) for i, v in enumerate(operands)]
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


def _asked(fn: str, kinds: tuple[tuple[Kind, ...], ...], index: int, v: Val) -> Val:
    if not kinds or v.type.kind == "null":
        return v
    asked = kinds[min(index, len(kinds) - 1)]
    if asked and v.type.kind not in asked:
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
