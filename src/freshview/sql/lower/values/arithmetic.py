"""Arithmetic on numbers, dates and intervals."""

from __future__ import annotations

from freshview.calculus.build import add, const, mul, sub
from freshview.calculus.types import INT, common, counted, product
from freshview.errors import TypeProblem
from freshview.sql.frames import Unit
from freshview.sql.lower.env import Env
from freshview.sql.lower.val import Val, combined
from freshview.sql.lower.values.apply import apply
from freshview.sql.lower.values.casts import as_time, as_timestamp, by_its_form
from freshview.sql.lower.values.coerce import alike
from freshview.sql.lower.values.fold import fold
from freshview.sql.lower.values.intervals import apart, interval_arithmetic, is_interval
from freshview.sql.terms import Arith, Interval


def arithmetic(e: Arith, env: Env) -> Val:
    """Left op right, where one side may be a date or an interval."""
    if isinstance(e.right, Interval) and e.op in ("+", "-"):
        count = e.right.count if e.op == "+" else -e.right.count
        moment = env.value(e.left)
        if moment.type.kind in ("date", "timestamp", "string", "null"):
            return shift(moment, count, e.right.unit, env)
    if isinstance(e.left, Interval) and e.op == "+" and not isinstance(e.right, Interval):
        return arithmetic(Arith("+", e.right, e.left, e.at), env)
    left, right = env.value(e.left), env.value(e.right)
    if is_interval(left, right):
        return interval_arithmetic(e.op, left, right, env)
    if e.op == "-" and "timestamp" in (left.type.kind, right.type.kind):
        kinds = {by_its_form(v).type.kind for v in (left, right)}
        if kinds <= {"date", "timestamp"}:
            return apart(left, right, env)
    if "date" in (left.type.kind, right.type.kind):
        return date_arithmetic(e.op, left, right, env)
    rings = {"ring"} if e.op in ("+", "-", "*") else set()
    for side in (left, right):
        if side.type.kind not in {"int", "decimal", "double", "null"} | rings:
            raise TypeProblem(
                f"'{e.op}' needs numbers, not {side.type.kind}", instead="cast the value first"
            )
    if e.op in ("/", "%"):
        return apply("div" if e.op == "/" else "mod", [left, right], env)
    left, right = alike(left, right)
    if e.op == "*":
        t = product(left.type, right.type, env.catalog.functions.headers)
        return fold(combined(mul(left.term, right.term), t, left, right), env)
    t = common(counted(left.type), counted(right.type))
    term = add(left.term, right.term) if e.op == "+" else sub(left.term, right.term)
    return fold(combined(term, t, left, right), env)


def shift(v: Val, count: int, unit: Unit, env: Env) -> Val:
    """A date or timestamp moved by an interval."""
    v = by_its_form(v)
    if unit in ("seconds", "micros"):
        v = as_timestamp(v)
    amount = Val(const(count), INT)
    return apply(f"add_{unit}", [v, amount], env)


def date_arithmetic(op: str, left: Val, right: Val, env: Env) -> Val:
    """Date - date is a number of days; date + n and date - n move by days."""
    if op == "-" and right.type.kind == "date":
        return apply("days_between", [as_time(left, "date"), right], env)
    if op == "+" and left.type.kind == "int":
        left, right = right, left
    if op in ("+", "-") and right.type.kind == "int":
        sign = const(1 if op == "+" else -1)
        amount = fold(combined(mul(sign, right.term), INT, right), env)
        return apply("add_days", [left, amount], env)
    raise TypeProblem(
        f"'{op}' does not go with {left.type.kind} and {right.type.kind}",
        instead="add an INTERVAL",
    )
