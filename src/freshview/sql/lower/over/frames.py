"""The frame of a row: which rows of its partition an aggregate is about."""

from __future__ import annotations

from dataclasses import dataclass

from freshview.calculus.build import ONE, ZERO, add, mul, sub
from freshview.calculus.terms import Cmp, Expr, Op, Var
from freshview.calculus.types import type_of
from freshview.errors import UnsupportedSql
from freshview.sql.frames import Edge, Frame
from freshview.sql.lower.over.ordering import Key, apart, backwards, before, same, up_to
from freshview.sql.lower.over.partition import Partition
from freshview.sql.lower.val import is_null, not_null
from freshview.sql.terms import Arith, Interval, Literal, Ref


@dataclass(frozen=True)
class Framed:
    """Rows of a partition; whether the row at hand is among them in any case."""

    rows: Expr
    has_own: bool


def framed(p: Partition) -> Framed:
    """The rows of the frame; without one, those up to the row at hand and its equals."""
    frame = p.over.frame
    if frame is None:
        return Framed(p.where(up_to(p.order)), has_own=True)
    excluded = _excluded(frame, p)
    if frame.unit == "range":
        tests = (_limit(frame.start, p, begins=True), _limit(frame.end, p, begins=False))
        rows = p.where(*tests, excluded)
    else:
        counts = _count(frame.start, p), _count(frame.end, p)
        rows = mul(_counted(p, *counts), excluded)
    start, end = frame.start.count, frame.end.count
    own = (start is None or start <= 0) and (end is None or end >= 0)
    return Framed(rows, own and not frame.exclude)


def _excluded(frame: Frame, p: Partition) -> Expr:
    """The test that EXCLUDE stands for."""
    match frame.exclude:
        case "":
            return ONE
        case "current row":
            return apart(p.total)
        case "group":
            return apart(p.order) if p.order else ZERO
        case "ties":
            return add(apart(p.order) if p.order else ZERO, same(p.total))


def _count(edge: Edge, p: Partition) -> int | None:
    """How many rows or groups behind the row at hand an edge is; before it, below zero."""
    if edge.count is not None and (edge.unit or not isinstance(edge.count, int)):
        raise UnsupportedSql(
            "ROWS and GROUPS count in whole numbers", instead="write RANGE for a span", at=p.over.at
        )
    return edge.count if isinstance(edge.count, int) else None


# -- ROWS and GROUPS: the rows next to the row at hand, counted from it ---------------------------


def _counted(p: Partition, start: int | None, end: int | None) -> Expr:
    """Rows before the row at hand, itself and rows behind it, each as far as the frame goes."""
    assert p.over.frame is not None
    if start is None and end is None:
        return p.where()
    keys = p.total if p.over.frame.unit == "rows" else p.order
    forward, back = keys, backwards(keys)
    parts: list[Expr] = []
    tests: list[Expr] = []
    if start is None or start < 0:
        skipped = -end - 1 if end is not None and end < 0 else 0
        _side(p, back, None if start is None else -start, skipped, parts, tests)
    if (start is None or start <= 0) and (end is None or end >= 0):
        tests.append(same(keys))
    if end is None or end > 0:
        skipped = start - 1 if start is not None and start > 0 else 0
        _side(p, forward, end, skipped, parts, tests)
    return add(*([p.where(add(*tests))] if tests else []), *parts)


def _side(
    p: Partition,
    away: tuple[Key, ...],
    count: int | None,
    skipped: int,
    parts: list[Expr],
    tests: list[Expr],
) -> None:
    """The nearest rows on one side, without those that are skipped; `away` orders them."""
    beyond = before(backwards(away))
    if count is None:
        tests.append(beyond)
    else:
        parts.append(_nearest(p, away, beyond, count))
    if skipped:
        parts.append(sub(ZERO, _nearest(p, away, beyond, skipped)))


def _nearest(p: Partition, away: tuple[Key, ...], beyond: Expr, count: int) -> Expr:
    """So many rows, or all the rows of so many values of ORDER BY."""
    assert p.over.frame is not None
    if p.over.frame.unit == "rows":
        return p.first(p.where(beyond), away, count)
    return mul(p.first(mul(p.values(), beyond), away, count), p.where())


# -- RANGE: the rows whose value is not further away than so much ---------------------------------


def _limit(edge: Edge, p: Partition, *, begins: bool) -> Expr:
    """The test that a row is not outside of one edge of the frame."""
    if edge.count is None:
        return ONE
    if not edge.count:
        return up_to(backwards(p.order) if begins else p.order)
    if len(p.order) != 1:
        raise UnsupportedSql(
            "RANGE with an offset is about one column of ORDER BY, of numbers or times",
            instead="order by one column, or write ROWS",
            at=p.over.at,
        )
    (key,) = p.order
    op = "+" if (edge.count > 0) != key.descending else "-"
    own = Ref(key.own, key.type, "", p.over.at)
    target = p.env.value(Arith(op, own, _size(edge), p.over.at))
    reaches: Op = ">=" if begins != key.descending else "<="
    test = mul(*target.prefix, Cmp(reaches, Var(key.other), target.term))
    if not key.type.nullable:
        return test
    at_edge = key.own if begins == key.nulls_first else key.other
    return add(mul(not_null(key.own), test), is_null(at_edge))


def _size(edge: Edge) -> Literal | Interval:
    """How far an edge is from the row at hand, on either side."""
    assert edge.count is not None
    size = edge.count if edge.count > 0 else -edge.count
    if edge.unit is not None:
        return Interval(int(size), edge.unit)
    return Literal(size, type_of(size))
