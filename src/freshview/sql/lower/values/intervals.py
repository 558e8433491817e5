"""Values that are intervals: integers that count microseconds or months, and say so in their type.

A number of months and a number of microseconds do not go together, nor with other numbers, but for
products and quotients: everything else of an interval is what it is of the integer.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from freshview.calculus.build import add, const, mul, sub
from freshview.calculus.types import DAY_TIME, DOUBLE, INT, TIMESTAMP, YEAR_MONTH, Type, decimal
from freshview.errors import TypeProblem, UnsupportedSql
from freshview.sql.frames import Unit
from freshview.sql.lower.env import Env
from freshview.sql.lower.val import Val, combined
from freshview.sql.lower.values.apply import apply
from freshview.sql.lower.values.casts import as_timestamp, by_its_form, cast
from freshview.sql.lower.values.coerce import coerce
from freshview.sql.lower.values.fold import fold
from freshview.sql.terms import Interval

MICROS: dict[Unit, int] = {"micros": 1, "seconds": 1_000_000, "days": 86_400_000_000}
_DAY = MICROS["days"]

MOMENTS = ("date", "timestamp")

_PARTS: dict[str, tuple[int, int]] = {
    "day": (_DAY, 0),
    "hour": (3_600_000_000, 24),
    "minute": (60_000_000, 60),
}
"""What a part of an interval is: how often a length goes into it, and where that begins anew."""

_NAMES = {
    DAY_TIME.span: "an INTERVAL DAY TO SECOND",
    YEAR_MONTH.span: "an INTERVAL YEAR TO MONTH",
}

_KEPT = frozenset(("abs", "coalesce", "greatest", "least", "listmax", "listmin"))
"""Functions whose answer is an interval again."""


def interval(e: Interval) -> Val:
    """A constant interval as a value."""
    t = YEAR_MONTH if e.unit == "months" else DAY_TIME
    count = e.count if e.unit == "months" else e.count * MICROS[e.unit]
    return Val(replace(const(count), type=t), t)


def is_interval(*values: Val) -> bool:
    """Whether one of these values is an interval."""
    return any(v.type.span for v in values)


def interval_arithmetic(op: str, left: Val, right: Val, env: Env) -> Val:
    """Left op right, of which at least one is an interval."""
    spans = left.type.span, right.type.span
    if left.type.kind == "null" or right.type.kind == "null":
        t = left.type if left.type.span else right.type
        return _typed(combined(add(left.term, right.term), t, left, right), t, env)
    if all(spans):
        if op in ("+", "-") and spans[0] == spans[1]:
            term = add(left.term, right.term) if op == "+" else sub(left.term, right.term)
            return _typed(combined(term, left.type, left, right), left.type, env)
        raise TypeProblem(
            f"'{op}' does not go with {_name(left)} and {_name(right)}",
            instead="months and days have no common length; move a date by one after the other",
        )
    if spans[1] and op in ("+", "-"):
        if op == "-" and left.type.kind == "int":
            return _negative(left, right, env)
        return _moved(by_its_form(left), right, op, env)
    if spans[0] and op == "+":
        return _moved(by_its_form(right), left, op, env)
    if op == "*" or (op == "/" and spans[0]):
        return _scaled(op, *((left, right) if spans[0] else (right, left)), env)
    raise TypeProblem(
        f"'{op}' does not go with {_name(left)} and {_name(right)}",
        instead="add an interval to a date, or multiply it by a number",
    )


def apart(left: Val, right: Val, env: Env) -> Val:
    """Timestamp - timestamp: the microseconds between them."""
    sides = [apply("unix_micros", [as_timestamp(by_its_form(v))], env) for v in (left, right)]
    term = sub(sides[0].term, sides[1].term)
    return _typed(combined(term, INT, *sides), DAY_TIME, env)


def of_interval(fn: str, operands: list[Val], env: Env) -> Val | None:
    """A function of intervals, if it is not what it is of integers."""
    v = operands[0]
    if fn in _KEPT:
        return None
    day_time = v.type.span == DAY_TIME.span
    plain = replace(v, type=replace(v.type, span=""))
    if fn in _PARTS and day_time:
        length, many = _PARTS[fn]
        count = apply("int_div", [plain, _int(length)], env)
        return apply("mod", [count, _int(many)], env) if many else count
    if fn == "seconds_of" and day_time:
        rest = apply("mod", [plain, _int(60_000_000)], env)
        micro = const(Decimal("0.000001"))
        return fold(combined(mul(rest.term, micro), decimal(6), rest), env)
    if fn in ("year", "month") and not day_time:
        return apply("int_div" if fn == "year" else "mod", [plain, _int(12)], env)
    raise UnsupportedSql(
        f"{fn.upper()} of {_name(v)} is not supported", instead="EXTRACT its parts first"
    )


def average(v: Val, t: Type, env: Env) -> Val:
    """An average of intervals, which is a double so far, as an interval."""
    return _typed(_whole(v, env), t, env)


def _int(n: int) -> Val:
    return Val(const(n), INT)


def _name(v: Val) -> str:
    return _NAMES.get(v.type.span, v.type.kind)


def _typed(v: Val, t: Type, env: Env) -> Val:
    v = fold(v, env)
    return replace(v, type=replace(t, nullable=v.type.nullable))


def _negative(zero: Val, v: Val, env: Env) -> Val:
    """-interval, which is read as 0 - interval."""
    if zero.term != const(0):
        raise TypeProblem(
            f"'-' does not go with {_name(zero)} and {_name(v)}", instead="subtract an interval"
        )
    return _typed(combined(mul(const(-1), v.term), v.type, v), v.type, env)


def _moved(moment: Val, by: Val, op: str, env: Env) -> Val:
    """A date or timestamp moved by an interval."""
    if moment.type.kind not in MOMENTS:
        raise TypeProblem(
            f"'{op}' does not go with {_name(moment)} and {_name(by)}",
            instead="add an interval to a date or a timestamp",
        )
    plain = replace(by, type=replace(by.type, span=""))
    if op == "-":
        plain = fold(combined(mul(const(-1), plain.term), INT, plain), env)
    if by.type.span == YEAR_MONTH.span:
        return apply("add_months", [moment, plain], env)
    return apply("add_micros", [coerce(moment, TIMESTAMP), plain], env)


def _scaled(op: str, v: Val, factor: Val, env: Env) -> Val:
    """Interval * number, interval / number: halves of a microsecond or month go away from zero."""
    if not factor.type.is_numeric:
        raise TypeProblem(
            f"'{op}' does not go with {_name(v)} and {_name(factor)}", instead="use a number"
        )
    plain = replace(v, type=replace(v.type, span=""))
    if op == "/":
        return _typed(_whole(apply("div", [plain, factor], env), env), v.type, env)
    if factor.type.kind == "double":
        plain = coerce(plain, DOUBLE)
    kind = factor.type
    product = fold(combined(mul(plain.term, factor.term), kind, plain, factor), env)
    return _typed(product if kind.kind == "int" else _whole(product, env), v.type, env)


def _whole(v: Val, env: Env) -> Val:
    """A number as the nearest integer, halves away from zero."""
    if v.type.kind == "decimal":
        return cast(cast(v, decimal(0), env), INT, env)
    return cast(apply("round", [v], env), INT, env)
