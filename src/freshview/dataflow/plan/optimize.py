"""The rules of logical plans, in order; `explain` shows the plan after each.

push_filters     conditions go as far down as their columns are there
order_joins      the most selective join first, where several could be
prune_columns    only what is read above travels
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from freshview.dataflow.plan.order_joins import order_joins
from freshview.dataflow.plan.prune_columns import prune_columns
from freshview.dataflow.plan.push_filters import push_filters
from freshview.dataflow.plan.terms import Plan

Sizes = Mapping[str, float]
RULES: tuple[Callable[[Plan, Sizes], Plan], ...] = (push_filters, order_joins, prune_columns)


def optimize(p: Plan, sizes: Sizes) -> list[tuple[str, Plan]]:
    """The plan as it was written, and after each rule that changed it."""
    steps = [("as written", p)]
    for rule in RULES:
        new = rule(p, sizes)
        if new != p:
            steps.append((rule.__name__, new))
            p = new
    return steps
