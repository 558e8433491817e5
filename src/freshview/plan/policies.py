"""Policies of views: how far a view may be recomputed, as one word beside the strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freshview.calculus.schema import POLICIES, Query
from freshview.errors import FreshviewError
from freshview.plan.options import PlanOptions


def check_policy(policy: str) -> str:
    """A policy by its name, in lower case.

    >>> check_policy("Strict")
    'strict'
    """
    if policy.lower() not in POLICIES:
        raise FreshviewError(
            f"there is no policy '{policy}'", instead=f"use one of {', '.join(POLICIES)}"
        )
    return policy.lower()


def under_policy(options: PlanOptions, queries: Sequence[Query]) -> PlanOptions:
    """The options with what the views themselves say."""
    policies = sorted({q.policy for q in queries} - {""})
    if len(policies) > 1:
        raise FreshviewError(
            f"views with the policies {' and '.join(policies)} are planned together",
            instead="give them one policy",
        )
    by_deltas = "auto" if options.strategy == "reeval" else options.strategy
    match policies:
        case ["auto"]:
            return replace(options, strategy="auto", strict=False)
        case ["incremental"]:
            strategy = "higher-order" if by_deltas == "auto" else by_deltas
            return replace(options, strategy=strategy, strict=False)
        case ["strict"]:
            return replace(options, strategy=by_deltas, strict=True)
        case ["full"]:
            return replace(options, strategy="reeval", strict=False)
    return options
