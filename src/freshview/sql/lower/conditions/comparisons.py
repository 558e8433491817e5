"""Comparisons of two values: unknown where a side is NULL."""

from __future__ import annotations

from typing import Literal as OneOf

from freshview.calculus.build import ZERO
from freshview.calculus.terms import Cmp, Expr, Op
from freshview.calculus.types import Kind, common
from freshview.errors import TypeProblem
from freshview.sql.lower.env import Env, Want
from freshview.sql.lower.products import carriers, closed, some_null
from freshview.sql.lower.val import Val, not_null
from freshview.sql.lower.values.bind import bare
from freshview.sql.lower.values.casts import as_time, as_timestamp
from freshview.sql.lower.values.coerce import alike, coerce

NEGATED: dict[Op, Op] = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def compare(op: Op, left: Val, right: Val, want: Want, env: Env) -> Expr:
    """Left op right: unknown if a side is NULL."""
    left, right = comparable(op, left, right)
    if want is None:
        return null_part(left, right)
    if not want:
        op = NEGATED[op]
    needless = _implied_guards(op, left, right, env)
    factors = [f for side in (left, right) for f in side.present if f not in needless]
    return closed(*factors, Cmp(op, left.term, right.term))


def _implied_guards(op: Op, left: Val, right: Val, env: Env) -> list[Expr]:
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
        left, right = as_time(left, kind), as_time(right, kind)
        kinds = {left.type.kind, right.type.kind}
    if left.type.span != right.type.span and "null" not in kinds:
        raise TypeProblem(
            "an interval cannot be compared with another kind of value",
            instead="write an INTERVAL on both sides",
        )
    if "ring" in kinds:
        raise TypeProblem("elements of a ring have no order", instead="compare columns")
    try:
        t = common(left.type, right.type)
    except TypeProblem:
        raise TypeProblem(
            f"{left.type.kind} cannot be compared with {right.type.kind}",
            instead="cast one of them",
        ) from None
    if kinds == {"date", "timestamp"}:
        return as_timestamp(left), as_timestamp(right)
    left, right = alike(left, right)
    # Doubles and exact numbers meet as doubles, or the test would ask for equal digits.
    if t.kind == "double" and (op in ("=", "<>") or "decimal" in kinds):
        return coerce(left, t), coerce(right, t)
    return left, right


def same(left: Val, right: Val, want: Want, env: Env) -> Expr:
    """IS NOT DISTINCT FROM is what `=` means in the calculus."""
    if want is None:
        return ZERO
    left, right = comparable("=", left, right)
    left, right = bare(left, env), bare(right, env)
    op: OneOf["=", "<>"] = "=" if want else "<>"
    return closed(*left.prefix, *right.prefix, Cmp(op, left.term, right.term))


def null_part(*sides: Val) -> Expr:
    """1 where one of the values is NULL, else 0."""
    nulls = tuple(n for s in sides for n in s.nulls)
    if not nulls:
        return ZERO
    return closed(*(f for s in sides for f in s.prefix), some_null(nulls))
