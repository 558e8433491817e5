"""How a program is compiled: one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Strategy = Literal["auto", "incremental", "hybrid", "reevaluate"]
STRATEGIES: tuple[Strategy, ...] = ("auto", "incremental", "hybrid", "reevaluate")


@dataclass(frozen=True)
class MatrixOptions:
    """Choices of the compiler.

    - `sizes`: what the named sizes are taken to be where costs are compared;
    - `rank`: of the updates that a trigger is made for;
    - `strategy`: factored deltas everywhere, deltas as whole matrices where factors would not be
      narrower, no deltas at all, or the cheapest of the three;
    - `second_order`: where d(A) * d(B) goes if that makes no difference: `right`, to the factor of
      d(B), as LINVIEW has it, or `left`, to the factor of d(A), as Lago has it;
    - `budget`: how many terms a search for a cheaper equivalent may visit.
    """

    sizes: Mapping[str, float] = field(default_factory=dict)
    rank: int = 1
    strategy: Strategy = "auto"
    second_order: Literal["left", "right"] = "right"
    budget: int = 40
