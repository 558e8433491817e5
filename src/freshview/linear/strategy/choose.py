"""The cheapest trigger for an update, and the phases of a compilation as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from freshview.linear.compile.delta import derive
from freshview.linear.compile.normal import Normal
from freshview.linear.compile.options import STRATEGIES, MatrixOptions, Strategy
from freshview.linear.compile.trigger import Trigger, change_term
from freshview.linear.compile.trigger_compiler import candidates
from freshview.linear.cost.operations import Sizes
from freshview.linear.language.show import show
from freshview.linear.strategy.fill import Fill
from freshview.linear.strategy.rates import Rates, trigger_seconds
from freshview.linear.strategy.sparse_cost import trigger_operations


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
    if rates is None:
        price = {
            s: t.cost().at(at) if fill is None else trigger_operations(t, at, fill)
            for s, t in triggers.items()
        }
        what, unit = "takes the fewest operations", ""
    else:
        price = {s: trigger_seconds(t, at, rates) for s, t in triggers.items()}
        what, unit = "is expected to be fastest", " s"
    best = min(triggers, key=lambda s: (price[s], STRATEGIES.index(s)))
    prices = ", ".join(f"{s} {price[s]:.3g}{unit}" for s in triggers)
    return Choice(triggers[best], best, f"{best} {what} for an update of rank {rank}: {prices}")


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
