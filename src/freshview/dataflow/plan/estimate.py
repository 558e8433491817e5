"""How many rows a plan may have: sizes of its streams, and usual selectivities.

Only comparisons of estimates count: which join first, and which component gets more joiners.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

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
from freshview.dataflow.plan.walk import times
from freshview.sql.terms import Compare, InList, IsNull, Name, Not, Or, Same
from freshview.temporal import FullHistory

STREAM_ROWS, TABLE_ROWS = 1_000_000.0, 10_000.0
"""Of streams and tables whose sizes nobody says."""

EQUAL, RANGE, UNEQUAL, BAND, OTHER = 0.05, 0.3, 0.9, 0.01, 0.25
"""The share of rows for which a comparison with a constant holds, and other conditions."""

IN_WINDOW = 0.01
"""The share of pairs that a window admits."""

GROUPS = 0.1
"""Groups to rows."""


def rows(p: Plan, sizes: Mapping[str, float]) -> float:
    """The estimated rows; `sizes` has those of streams and tables by their names."""
    match p:
        case Scan(relation):
            usual = TABLE_ROWS if relation.static else STREAM_ROWS
            return float(sizes.get(relation.name, usual))
        case Project(child) | FlatMap(child):
            return rows(child, sizes)
        case Filter(child, condition):
            return rows(child, sizes) * selectivity(condition)
        case Join(left, right, on):
            return joined(rows(left, sizes), rows(right, sizes), on, has_window(p))
        case Aggregate(child, keys):
            return max(1.0, rows(child, sizes) * GROUPS) if keys else 1.0
        case _:
            assert_never(p)


def has_window(p: Join) -> bool:
    """Whether a window keeps pairs apart."""
    timed = bool(times(p.left)) and bool(times(p.right))
    return timed and not isinstance(p.window, FullHistory)


def joined(left: float, right: float, on: Sequence[Condition], windowed: bool) -> float:
    """The estimated pairs: an equality finds each row of the smaller side for one of the larger."""
    pairs = left * right * (IN_WINDOW if windowed else 1.0)
    equalities = 0
    for c in on:
        if isinstance(c, Compare) and c.op == "=":
            equalities += 1
        else:
            pairs *= selectivity(c)
    if equalities:
        pairs /= max(left, right, 1.0) * 2.0 ** (equalities - 1)
    return pairs


def selectivity(c: Condition) -> float:
    """The share of rows for which a condition holds.

    >>> from freshview.sql.terms import Literal
    >>> from freshview.calculus.types import INT
    >>> selectivity(Compare("=", Name("a"), Literal(1, INT)))
    0.05
    """
    match c:
        case Test():
            return OTHER
        case Compare(op, left, right):
            if op == "=":
                return EQUAL
            if op == "<>":
                return UNEQUAL
            return RANGE if isinstance(left, Name) or isinstance(right, Name) else BAND
        case InList(_, items):
            return min(1.0, EQUAL * len(items))
        case Or(parts):
            return min(1.0, sum(selectivity(p) for p in parts))
        case Not(arg):
            return 1 - selectivity(arg)
        case IsNull() | Same():
            return EQUAL
        case _:
            return OTHER
