"""Computations on constants, done when the query is compiled."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from functools import reduce

from freshview.algebra import NUMBERS
from freshview.calculus.build import const
from freshview.calculus.domain import is_within
from freshview.calculus.functions import call as compute
from freshview.calculus.terms import Add, Apply, Const, Expr, Mul
from freshview.errors import TypeProblem
from freshview.sql.lower.env import Env
from freshview.sql.lower.val import Val
from freshview.sql.lower.values.coerce import exact

RAISE = "raise_error"
"""What is computed for rows only: it has no answer, and may stand in a CASE."""


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
        return Val(exact(Decimal(folded), v.type), v.type)
    if not is_within(folded, constant.type):
        raise TypeProblem(
            f"{folded} leaves the 64-bit integers", instead="write the constants as decimals"
        )
    return Val(constant, v.type if v.type.span else constant.type)


def _fold(e: Expr, env: Env) -> int | Decimal | float | str | date | datetime | bool | None:
    match e:
        case Const(literal):
            return literal
        case Add(parts) | Mul(parts):
            values = [_fold(p, env) for p in parts]
            numbers = [v for v in values if isinstance(v, int | float | Decimal)]
            if len(numbers) < len(values):
                return None
            return reduce(NUMBERS.add if isinstance(e, Add) else NUMBERS.mul, numbers)
        case Apply(fn, args, ring) if not ring and fn != RAISE:
            constants = tuple(_fold(a, env) for a in args)
            return None if None in constants else compute(env.catalog.functions[fn], constants)
        case _:
            return None
