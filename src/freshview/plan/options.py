"""What the user may choose: a strategy, single rows or batches, and switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from freshview.errors import FreshviewError
from freshview.plan.switches import Switches
from freshview.program.statistics import Statistics
from freshview.program.updates import Mode

if TYPE_CHECKING:
    from freshview.factorized.order import VariableOrder
    from freshview.factorized.products import Groups

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
    - `caches`: whether `auto` may choose view caches; kernels have indexes that do better.
    - `ordered`: whether `auto` may keep what a LIMIT chooses from in one map, from which an engine
      with ordered indexes reads the first rows.
    - `statistics`: sizes and rates that `auto` reckons with.
    - `orders`: variable orders over columns, by view, for `factorized`; others are searched for.
    - `products`: streams that also change by products, and the columns of each factor: view trees
      keep those apart, and `auto` prefers them then.
    - `switches`: what the compiler of deltas is told beside the strategy; view trees have none.
    """

    strategy: Strategy = "auto"
    mode: Mode = "batch"
    strict: bool = False
    caches: bool = True
    statistics: Statistics = field(default_factory=Statistics)
    orders: Mapping[str, VariableOrder] = field(default_factory=dict)
    products: Groups = field(default_factory=dict)
    switches: Switches = field(default_factory=Switches)
    ordered: bool = False

    def __post_init__(self) -> None:
        for name, value, known in (
            ("strategy", self.strategy, get_args(Strategy)),
            ("mode", self.mode, get_args(Mode)),
        ):
            if value not in known:
                raise FreshviewError(
                    f"there is no {name} '{value}'", instead=f"use one of {', '.join(known)}"
                )
        self._refuse_contradiction()

    def _refuse_contradiction(self) -> None:
        if self.strategy == "factorized" and self.switches != Switches():
            raise FreshviewError(
                "the strategy 'factorized' takes no deltas of deltas, and has no switches",
                instead="drop the switches, or use the strategy 'auto'",
            )
        if self.strategy == "reeval" and self.switches.always_update:
            raise FreshviewError(
                "the strategy 'reeval' recomputes, and always_update never does",
                instead="drop the switch, or use the strategy 'first-order'",
            )
