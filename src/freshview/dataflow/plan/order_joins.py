"""Join order: of a chain of joins, the one that is expected to have the fewest pairs comes first.

A chain has one window for all, which holds between each two streams whatever the order. Joins by
Python functions, and windows of the last rows, keep their places; so do joins below a function that
gets rows, since it may know columns by their places. The result has its columns as they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from freshview.dataflow.plan.estimate import has_window, joined, rows
from freshview.dataflow.plan.terms import (
    Aggregate,
    Condition,
    Filter,
    FlatMap,
    Join,
    Plan,
    Project,
    Test,
)
from freshview.dataflow.plan.walk import inputs, reads_only, with_inputs
from freshview.temporal import TupleCount


def order_joins(p: Plan, sizes: Mapping[str, float]) -> Plan:
    """The plan with its chains of joins in a good order."""
    return _walk(p, sizes, is_free=True)


def _walk(p: Plan, sizes: Mapping[str, float], *, is_free: bool) -> Plan:
    """The plan in order; `is_free` if the places of its columns do not matter."""
    match p:
        case Project() | Aggregate():
            is_free = True
        case FlatMap() | Filter(_, Test()):
            is_free = False
        case Join() if any(isinstance(c, Test) for c in p.on):
            is_free = False
        case Join() if is_free:
            leaves, on = _chain(p, p)
            if len(leaves) > 2:
                below = [_walk(leaf, sizes, is_free=True) for leaf in leaves]
                return _ordered(below, on, p, sizes)
    return with_inputs(p, tuple(_walk(child, sizes, is_free=is_free) for child in inputs(p)))


def _chain(p: Plan, top: Join) -> tuple[list[Plan], list[Condition]]:
    """What a chain of joins joins, and its conditions."""
    if not isinstance(p, Join) or not _is_movable(p) or p.window != top.window:
        return [p], []
    leaves: list[Plan] = []
    on = list(p.on)
    for side in (p.left, p.right):
        more, conditions = _chain(side, top)
        leaves += more
        on += conditions
    return leaves, on


def _is_movable(p: Join) -> bool:
    is_counted = isinstance(p.window, TupleCount)
    return not is_counted and not any(isinstance(c, Test) for c in p.on)


def _ordered(
    leaves: Sequence[Plan], on: Sequence[Condition], top: Join, sizes: Mapping[str, float]
) -> Plan:
    """Greedy: the best pair of neighbours first, then whatever keeps the result smallest.

    As written where nothing is better.
    """
    pairs = [(a, b) for i, a in enumerate(leaves) for b in leaves[i + 1 :]]
    a, b = min(pairs, key=lambda two: _cost(two[0], two[1], on, top, sizes))
    left = _joined(a, b, on, top)
    used = [left.left, left.right]
    rest = [leaf for leaf in leaves if not any(leaf is u for u in used)]
    open_conditions = [c for c in on if c not in left.on]
    while rest:
        right = min(rest, key=lambda leaf: _cost(left, leaf, open_conditions, top, sizes))
        left = _joined(left, right, open_conditions, top)
        open_conditions = [c for c in open_conditions if c not in left.on]
        rest = [leaf for leaf in rest if leaf is not right]
    return left


def _joined(a: Plan, b: Plan, on: Sequence[Condition], top: Join) -> Join:
    """Two plans with the conditions that both have the columns for."""
    pair = Join(a, b, (), top.window)
    own = [c for c in on if reads_only(c, pair)]
    return replace(pair, on=tuple(own))


def _cost(
    a: Plan, b: Plan, on: Sequence[Condition], top: Join, sizes: Mapping[str, float]
) -> tuple[bool, float]:
    """A product without conditions comes last, however small it is said to be."""
    pair = _joined(a, b, on, top)
    size = joined(rows(a, sizes), rows(b, sizes), pair.on, has_window(pair))
    return not pair.on, size
