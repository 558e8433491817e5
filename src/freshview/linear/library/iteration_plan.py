"""What iterative models cost (LINVIEW, table 6.2): operations of an update of rank one.

`n` rows, `p` columns of T, `k` rounds, `s` steps at a time; products by the schoolbook, n^3.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import Literal, TypeAlias

from freshview.linear.compile.options import Strategy

Model = Literal["powers", "sums", "general"]
Form: TypeAlias = "Literal['auto', 'linear', 'exponential'] | int"


@dataclass(frozen=True, slots=True)
class IterationPlan:
    """A form and a strategy, what they cost, and the words for it."""

    form: Form
    strategy: Strategy
    cost: float
    why: str


def table(model: Model, n: float, p: float, k: int, s: int) -> dict[Strategy, float]:
    """The row of the table for `s` steps at a time: 1 is linear, k exponential.

    >>> table("powers", 1000, 0, 16, 16)["incremental"]
    16000000.0
    """
    lg, ratio = log2(s) if s > 1 else 0.0, k / s
    if model != "general":
        return {"incremental": n**2 * k * ratio, "reevaluate": n**3 * (lg + ratio - (s == k))}
    return {
        "incremental": (n**2 + n * p) * k * ratio,
        "hybrid": p * n**2 * (lg + ratio) + (n**2 * s if s > 1 else 0.0),
        "reevaluate": n**3 * lg + p * n**2 * (lg + ratio),
    }


def forms(k: int) -> list[Form]:
    """The forms that a number of rounds admits."""
    admitted: list[Form] = ["linear"]
    s = 2
    while s < k:
        if k % s == 0:
            admitted.append(s)
        s *= 2
    if k > 1 and not k & (k - 1):
        admitted.append("exponential")
    return admitted


def plans(model: Model, n: float, p: float, k: int) -> list[IterationPlan]:
    """All the plans, cheapest first."""
    every = []
    for form in forms(k):
        s = 1 if form == "linear" else k if form == "exponential" else form
        assert isinstance(s, int)
        name = form if isinstance(form, str) else f"skip-{form}"
        for strategy, cost in table(model, n, p, k, s).items():
            words = f"{name} form, {strategy}: about {cost:.2g} operations an update"
            every.append(IterationPlan(form, strategy, cost, words))
    return sorted(every, key=lambda plan: plan.cost)


def cheapest(model: Model, n: float, p: float, k: int) -> IterationPlan:
    """The cheapest plan, with the words that tell what it beats.

    >>> cheapest("general", 10_000, 1, 16).why
    'skip-4 form, hybrid: about 1e+09 operations an update; next best skip-2 form, hybrid 1.1e+09'
    """
    first, *others = plans(model, n, p, k)
    beaten = next((o for o in others if o.form != first.form), None)
    if beaten is None:
        return first
    why = f"{first.why}; next best {beaten.why.partition(':')[0]} {beaten.cost:.2g}"
    return IterationPlan(first.form, first.strategy, first.cost, why)
