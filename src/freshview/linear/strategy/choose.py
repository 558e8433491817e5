"""The cheapest trigger for an update, and the phases of a compilation as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from freshview.cost_model import CostModel, nearly_cheapest
from freshview.linear.compile.delta import derive
from freshview.linear.compile.normal import Normal
from freshview.linear.compile.options import STRATEGIES, MatrixOptions, Strategy
from freshview.linear.compile.trigger import Trigger, change_term
from freshview.linear.compile.trigger_compiler import candidates
from freshview.linear.cost.operations import Sizes
from freshview.linear.language.show import show
from freshview.linear.strategy.fill import Fill
from freshview.linear.strategy.rates import Rates, SecondsModel
from freshview.linear.strategy.sparse_cost import SparseOperationsModel


@dataclass(frozen=True)
class Choice:
    """A trigger, the strategy that it follows, and why it was chosen."""

    trigger: Trigger
    strategy: Strategy
    why: str


def choose(
    triggers: Mapping[Strategy, Trigger],
    sizes: Sizes,
    rank: int,
    rates: Rates | None = None,
    fill: Fill | None = None,
) -> Choice:
    """The trigger that costs least for updates of a rank: in operations, or in seconds.

    With `fill`, operations are counted that the kernels do not skip.
    """
    if len(triggers) == 1:
        (strategy, only), *_ = triggers.items()
        return Choice(only, strategy, "it was asked for")
    at = {**sizes, str(next(iter(triggers.values())).rank): float(rank)}
    model = _cost_model(at, rates, fill)
    costs = {s: model.cost(t) for s, t in triggers.items()}
    best, *_ = nearly_cheapest(sorted(triggers, key=STRATEGIES.index), costs.__getitem__)
    what, unit = "takes the fewest operations", ""
    if rates is not None:
        what, unit = "is expected to be fastest", " s"
    compared = ", ".join(f"{s} {cost:.3g}{unit}" for s, cost in costs.items())
    return Choice(triggers[best], best, f"{best} {what} for an update of rank {rank}: {compared}")


@dataclass(frozen=True, slots=True)
class OperationsModel:
    """Triggers by their operations, on every cell."""

    sizes: Sizes

    def cost(self, plan: Trigger, /) -> float:
        """Operations of one run."""
        return plan.cost().at(self.sizes)


def _cost_model(sizes: Sizes, rates: Rates | None, fill: Fill | None) -> CostModel[Trigger, float]:
    """By seconds where rates are known, else by operations, fewer where matrices are sparse."""
    if rates is not None:
        return SecondsModel(sizes, rates)
    return OperationsModel(sizes) if fill is None else SparseOperationsModel(sizes, fill)


def phases(program: Normal, changed: str, options: MatrixOptions) -> str:
    """The phases of the compilation for one input, as text."""
    lines = ["-- normal form"]
    lines += [f"{s.name} := {show(s.term)};" for s in program.statements]
    lines += [f"-- derivation for {changed}"]
    lines += [f"{s.name} := {show(s.term)};" for s in derive(program, changed)]
    choice = choose(candidates(program, changed, options), options.sizes, options.rank)
    lines += [f"-- factorization ({choice.strategy})"]
    for u in choice.trigger.updates:
        lines.append(f"d_{u.view} = {show(change_term(u.change))}")
    lines += ["-- materialization", str(choice.trigger).rstrip()]
    lines += [f"-- cost: {choice.trigger.cost()}", f"-- {choice.strategy}: {choice.why}"]
    return "\n".join(lines) + "\n"
