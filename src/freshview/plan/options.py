"""What the user may choose: a strategy, and single rows or batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from freshview.errors import FreshviewError
from freshview.factorized.order import VariableOrder
from freshview.factorized.products import Groups
from freshview.program.cost import Statistics
from freshview.program.updates import Mode

Strategy = Literal["auto", "higher-order", "factorized", "first-order", "project", "reeval"]


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """How to maintain a view.

    - `strategy`: `reeval` recomputes, `first-order` is classical IVM over stored base relations,
      `project` the same with only the columns in use, `higher-order` takes deltas of deltas,
      `factorized` keeps a tree of views for every aggregate over a join, `auto` chooses by cost
      and says why.
    - `mode`: triggers for batches, or for single rows (`tuple`).
    - `strict`: refuse a view that would need recomputation, naming the node.
    - `caches`: whether `auto` may choose view caches; kernels have none.
    - `statistics`: sizes and rates that `auto` reckons with.
    - `orders`: variable orders over columns, by view, for `factorized`; others are searched for.
    - `products`: streams that also change by products, and the columns of each factor: view trees
      keep those apart, and `auto` prefers them then.
    """

    strategy: Strategy = "auto"
    mode: Mode = "batch"
    strict: bool = False
    caches: bool = True
    statistics: Statistics = field(default_factory=Statistics)
    orders: Mapping[str, VariableOrder] = field(default_factory=dict)
    products: Groups = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value, known in (
            ("strategy", self.strategy, get_args(Strategy)),
            ("mode", self.mode, get_args(Mode)),
        ):
            if value not in known:
                raise FreshviewError(
                    f"there is no {name} '{value}'", instead=f"use one of {', '.join(known)}"
                )
