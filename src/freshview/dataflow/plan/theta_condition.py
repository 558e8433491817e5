"""Conditions of a join as those that joiners have indexes for.

A comparison of an expression over the left side with one over the right compares two columns: plain
ones, or computed ones that are sent along. Two bounds on the distance of two integers, dates or
timestamps are a band. Every other condition is asked of each pair, as SQL means it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from freshview.calculus.types import Kind
from freshview.dataflow.plan.scalars import select
from freshview.dataflow.plan.terms import Condition, Join, Test
from freshview.dataflow.plan.walk import fields, names, reads_only
from freshview.sql.terms import Arith, Call, Compare, Interval, Item, Name, Scalar
from freshview.sql.terms import Literal as Constant
from freshview.theta.local.predicate import Op

_OPS: dict[str, Op] = {"=": "=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_FLIPPED: dict[Op, Op] = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NUMBERS: tuple[Kind, ...] = ("int", "decimal", "double")
_STEPS: tuple[Kind, ...] = ("int", "date", "timestamp")
_SECOND, _DAY = 1_000_000, 86_400_000_000


@dataclass(frozen=True, slots=True)
class Compared:
    """An expression over the left side compared with one over the right side."""

    left: Scalar
    op: Op
    right: Scalar


@dataclass(frozen=True, slots=True)
class Distance:
    """`low <= right - left <= high` for two columns, in days, microseconds or ones."""

    left: Name
    right: Name
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class OtherCondition:
    """Any other condition."""

    condition: Condition


Local = Compared | Distance | OtherCondition


def local_conditions(p: Join) -> list[Local]:
    """The conditions of a join as joiners take them."""
    bounds: dict[tuple[Name, Name], dict[Literal["low", "high"], int]] = {}
    bounded: dict[tuple[Name, Name], list[Condition]] = {}
    rest: list[Condition] = []
    for c in p.on:
        ends = list(_ends(c, p))
        for left, right, end, value in ends:
            sides = bounds.setdefault((left, right), {})
            nearer = max if end == "low" else min
            sides[end] = nearer(sides.get(end, value), value)
            if c not in bounded.setdefault((left, right), []):
                bounded[left, right].append(c)
        if not ends:
            rest.append(c)
    local: list[Local] = []
    for pair, sides in bounds.items():
        if len(sides) == 2 and sides["low"] <= sides["high"]:
            local.append(Distance(*pair, sides["low"], sides["high"]))
        else:
            rest += bounded[pair]
    return (
        [_local(c, p) for c in rest if isinstance(c, Compare)]
        + local
        + [OtherCondition(c) for c in rest if not isinstance(c, Compare)]
    )


def is_equality(c: Condition, p: Join) -> bool:
    """Whether a condition says where rows of both sides meet."""
    if not isinstance(c, Compare) or c.op != "=":
        return False
    return isinstance(_local(c, p), Compared)


def _local(c: Compare, p: Join) -> Local:
    plain = _OPS[c.op]
    for left, op, right in ((c.left, plain, c.right), (c.right, _FLIPPED[plain], c.left)):
        if _is_of(left, p, "left") and _is_of(right, p, "right") and _go_together(left, right, p):
            return Compared(left, op, right)
    return OtherCondition(c)


def _is_of(e: Scalar, p: Join, side: Literal["left", "right"]) -> bool:
    return bool(names(e)) and reads_only(e, p.left if side == "left" else p.right)


def _kind(e: Scalar, p: Join) -> Kind:
    return select(fields(p), [Item(e, "x")]).columns[0].type.kind


def _go_together(left: Scalar, right: Scalar, p: Join) -> bool:
    a, b = _kind(left, p), _kind(right, p)
    return a == b or (a in _NUMBERS and b in _NUMBERS)


def _ends(c: Condition, p: Join) -> Iterator[tuple[Name, Name, Literal["low", "high"], int]]:
    """The bounds that a condition puts on `right - left`, for two columns."""
    if not isinstance(c, Compare) or isinstance(c, Test):
        return
    around = _distance(c, p)
    if around is not None:
        one, other, most = around
        for left, right in _sides(one, other, p):
            yield left, right, "low", -most
            yield left, right, "high", most
        return
    one_side, other_side = _moved(c.left, p), _moved(c.right, p)
    if one_side is None or other_side is None or c.op in ("=", "<>"):
        return
    (a, by), (b, to) = one_side, other_side
    if _kind(a, p) != _kind(b, p):
        return  # days and microseconds
    # a + by op b + to: so b - a is at least or at most by - to.
    for left, _ in _sides(a, b, p):
        is_left = a == left
        at_least = c.op in ("<", "<=")
        end = by - to + (0 if c.op in ("<=", ">=") else 1 if at_least else -1)
        low = at_least == is_left
        yield (
            (a, b, "low" if low else "high", end)
            if is_left
            else (
                b,
                a,
                "low" if low else "high",
                -end,
            )
        )


def _sides(a: Name, b: Name, p: Join) -> Iterator[tuple[Name, Name]]:
    """Two columns as one of the left and one of the right side, if that is what they are."""
    if _is_of(a, p, "left") and _is_of(b, p, "right"):
        yield a, b
    elif _is_of(b, p, "left") and _is_of(a, p, "right"):
        yield b, a


def _distance(c: Compare, p: Join) -> tuple[Name, Name, int] | None:
    """ABS(a - b) <= n, for integers: its columns and n."""
    match c:
        case Compare(
            ("<" | "<=") as op,
            Call("abs", (Arith("-", Name() as a, Name() as b),)),
            Constant(int(n)),
        ) if not isinstance(n, bool) and _kind(a, p) == _kind(b, p) == "int":
            most = n if op == "<=" else n - 1
            return (a, b, most) if most >= 0 else None
    return None


def _moved(e: Scalar, p: Join) -> tuple[Name, int] | None:
    """A column and what is added to it, where that is exact."""
    match e:
        case Name() if _kind(e, p) in _STEPS:
            return e, 0
        case Arith(("+" | "-") as op, Name() as name, by):
            steps = _steps(by, _kind(name, p))
            return None if steps is None else (name, steps if op == "+" else -steps)
    return None


def _steps(by: Scalar, kind: Kind) -> int | None:
    match by:
        case Constant(n) if kind == "int" and isinstance(n, int) and not isinstance(n, bool):
            return n if abs(n) < 1 << 61 else None
        case Interval(count, "days") if kind in ("date", "timestamp"):
            return count if kind == "date" else count * _DAY
        case Interval(count, "seconds") if kind == "timestamp":
            return count * _SECOND
    return None
