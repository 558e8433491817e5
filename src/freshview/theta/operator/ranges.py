"""Which ranges of values a tuple belongs to: the places of a join whose rows go by ranges.

A row of S lies in one range, a row of R in all that its partners may lie in. So each pair meets
where its row of S is, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite

import numpy as np

from freshview.theta.local.columns import Tuples
from freshview.theta.local.predicate import Band, Bound, BoundTheta
from freshview.theta.operator.options import BadJoin
from freshview.theta.terms import RangePlacement, Side


def in_ranges(tuples: Tuples, side: Side, theta: BoundTheta, ranges: RangePlacement) -> Tuples:
    """Tuples whose hashes are their addresses: the place of their range, or of two ranges."""
    bound = ranged_band(theta)
    values, _ = bound.values(side, tuples.columns)
    bounds = np.array(ranges.bounds, values.dtype)
    if side == "S":
        return replace(tuples, hash=np.searchsorted(bounds, values, "right").astype(np.uint64))
    reach = bound.interval("R", values)
    assert reach.low is not None
    assert reach.high is not None
    first, last = (np.searchsorted(bounds, ends, "right") for ends in (reach.low, reach.high))
    return replace(tuples, hash=(first * len(ranges.hosts) + last).astype(np.uint64))


def ranged_band(theta: BoundTheta) -> Bound:
    """The band whose values have ranges."""
    return next(b for b in theta.comparisons if isinstance(b.condition, Band))


def check_ranges(bounds: Sequence[float], theta: BoundTheta) -> None:
    """Refuse bounds that are no ranges, and predicates whose rows cannot go by them."""
    if theta.equalities:
        raise BadJoin(
            "rows of an equality do not go by ranges", instead="use the scheme 'hash' or 'hybrid'"
        )
    kinds = [b.kind for b in theta.comparisons if isinstance(b.condition, Band)]
    if not kinds or kinds[0] == "decimal":
        raise BadJoin(
            "only the rows of a band go by ranges, between columns that are no decimals",
            instead="use the scheme 'dynamic'",
        )
    number = float if kinds[0] == "double" else int
    if not all(type(b) in (int, number) and isfinite(b) for b in bounds):
        raise BadJoin(
            f"ranges of {kinds[0]}s cannot end at {list(bounds)}",
            instead=f"give {'numbers' if number is float else '64-bit integers'}",
        )
    if any(a >= b for a, b in pairwise(bounds)):
        raise BadJoin(f"the ends of ranges {list(bounds)} do not ascend", instead="sort them")
    if number is int and any(abs(b) >= 1 << 63 for b in bounds):
        raise BadJoin("a range ends beyond 64 bits", instead="leave that end out")
