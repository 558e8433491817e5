"""What all cost models share: a cost for a plan, and the choice of the cheapest.

Programs are compared by rows of work, transformers by communication, triggers of matrix programs by
operations or seconds. Each of these models is a class with a method `cost`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Plan_contra = TypeVar("Plan_contra", contravariant=True)
Cost_co = TypeVar("Cost_co", covariant=True)


class CostModel(Protocol[Plan_contra, Cost_co]):
    """A measure of plans: of two plans, the one of less cost is better."""

    def cost(self, plan: Plan_contra, /) -> Cost_co:
        """The estimated cost of a plan."""


def nearly_cheapest(
    plans: Iterable[Item], cost: Callable[[Item], float], ratio: float = 1.0
) -> list[Item]:
    """The plans whose cost is at most `ratio` times the least, in their order.

    Estimates are rough: what is best among nearly equal ones is for the caller to say.

    >>> nearly_cheapest(["scan", "index", "hash"], {"scan": 9, "index": 5, "hash": 4}.get, 1.5)
    ['index', 'hash']
    """
    costs = [(plan, cost(plan)) for plan in plans]
    most = ratio * min(c for _, c in costs)
    return [plan for plan, c in costs if c <= most]
