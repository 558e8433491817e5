"""Predicate push-down: a condition is asked as early as its columns are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from freshview.dataflow.plan.terms import (
    Aggregate,
    Condition,
    Filter,
    FlatMap,
    Join,
    Plan,
    Project,
    Scan,
    Test,
)
from freshview.dataflow.plan.walk import inputs, names, reads_only, with_inputs
from freshview.sql.terms import Aggregate as SqlAggregate
from freshview.sql.terms import Name, Scalar
from freshview.sql.walk import inside, rewrite
from freshview.temporal import TupleCount


def push_filters(p: Plan, sizes: Mapping[str, float]) -> Plan:
    """The plan with each condition as far down as it keeps its meaning."""
    children = tuple(push_filters(child, sizes) for child in inputs(p))
    p = with_inputs(p, children)
    match p:
        case Filter(child, condition):
            return _pushed(condition, child) or p
        case Join(left, right, on, window) if not isinstance(window, TupleCount):
            kept: list[Condition] = []
            for c in on:
                if names(c) and reads_only(c, left):
                    left = _filtered(c, left)
                elif names(c) and reads_only(c, right):
                    right = _filtered(c, right)
                else:
                    kept.append(c)
            return replace(p, left=left, right=right, on=tuple(kept))
        case _:
            return p


def _filtered(c: Condition, p: Plan) -> Plan:
    return _pushed(c, p) or Filter(p, c)


def _pushed(c: Condition, p: Plan) -> Plan | None:
    """The plan `p` with the condition somewhere in it; None where it must stay above."""
    if isinstance(c, Test):
        return None
    match p:
        case Filter(child, Test() as other):
            return Filter(_filtered(c, child), other)
        case Filter(child, other):
            below = _pushed(c, child)
            return None if below is None else Filter(below, other)
        case Project(child):
            return replace(p, input=_filtered(_through(c, p), child))
        case Aggregate(child, keys, items, window):
            by_name = {i.name: i.expr for i in items if i.expr in keys}
            if isinstance(window, TupleCount) or not all(n in by_name for _, n in names(c)):
                return None
            return replace(p, input=_filtered(_through(c, p), child)) if names(c) else None
        case Join(left, right, on, window):
            if isinstance(window, TupleCount) or not names(c):
                return replace(p, on=(*on, c))  # the last rows are counted before it is asked
            if reads_only(c, left):
                return replace(p, left=_filtered(c, left))
            if reads_only(c, right):
                return replace(p, right=_filtered(c, right))
            return replace(p, on=(*on, c))
        case Scan() | FlatMap():
            return None


def _through(c: Scalar, p: Project | Aggregate) -> Scalar:
    """A condition in what the columns of a node are computed from."""
    by_name = {str(i.name): i.expr for i in p.items}

    def rule(e: Scalar) -> Scalar | None:
        return by_name[e.name] if isinstance(e, Name) else None

    new = rewrite(c, rule)
    assert not any(isinstance(e, SqlAggregate) for e in inside(new))
    return new
