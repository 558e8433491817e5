"""Column pruning: a stream sends to a join only the columns that are read above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from freshview.dataflow.plan.build import project
from freshview.dataflow.plan.terms import (
    Aggregate,
    Filter,
    FlatMap,
    Join,
    Plan,
    Project,
    Scan,
    Test,
)
from freshview.dataflow.plan.walk import column, fields, names
from freshview.sql.terms import Item

Columns: TypeAlias = frozenset[tuple[str, str]]


def prune_columns(p: Plan, sizes: Mapping[str, float]) -> Plan:
    """The plan without columns that nobody reads; those of the result stay."""
    return _pruned(p, _all(p))


def _all(p: Plan) -> Columns:
    return frozenset((f.table, f.name) for f in fields(p))


def _pruned(p: Plan, read: Columns) -> Plan:
    match p:
        case Scan():
            return p
        case FlatMap(child):  # a function may look at any column
            return replace(p, input=_pruned(child, _all(child)))
        case Filter(child, condition):
            below = _all(child) if isinstance(condition, Test) else read | names(condition)
            return replace(p, input=_pruned(child, below))
        case Project(child, items):
            below = frozenset().union(*(names(i.expr) for i in items))
            return replace(p, input=_pruned(child, below))
        case Aggregate(child, keys, items):
            below = frozenset().union(*(names(e) for e in (*keys, *(i.expr for i in items))))
            return replace(p, input=_pruned(child, below))
        case Join(left, right, on):
            if any(isinstance(c, Test) for c in on):
                below = _all(p)
            else:
                below = read.union(*(names(c) for c in on))
            left, right = (_narrow(_pruned(side, below), below) for side in (left, right))
            return replace(p, left=left, right=right)


def _narrow(p: Plan, read: Columns) -> Plan:
    """The side of a join with the columns that are read alone; there is always one."""
    if isinstance(p, Join):
        return p  # its sides are narrow
    kept = [f for f in fields(p) if (f.table, f.name) in read] or list(fields(p)[:1])
    if len(kept) == len(fields(p)):
        return p
    tables = {f.table for f in kept}
    if len(tables) > 1:
        return p
    return project(p, [Item(column(f), f.name) for f in kept], tables.pop())
