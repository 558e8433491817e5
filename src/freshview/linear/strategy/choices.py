"""The triggers of a program, compiled and chosen when the first update needs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from freshview.linear.compile.normal import Normal
from freshview.linear.compile.options import MatrixOptions, Strategy
from freshview.linear.compile.trigger import Trigger
from freshview.linear.compile.trigger_compiler import candidates
from freshview.linear.strategy.choose import Choice, choose
from freshview.linear.strategy.fill import Fill
from freshview.linear.strategy.rates import Rates


@dataclass
class TriggerChoices:
    """Triggers are compiled for ranks of 1, 2, 4, 8 ...

    Which strategy is cheapest is asked for every rank, and over semirings for factors of every
    density.
    """

    program: Normal
    options: MatrixOptions
    rates: Rates | None
    _candidates: dict[tuple[str, int], dict[Strategy, Trigger]] = field(default_factory=dict)
    _choices: dict[tuple[str, int, float, float], Choice] = field(default_factory=dict)

    def choice(
        self, name: str, rank: int, fill: Fill | None, sizes: Mapping[str, float]
    ) -> tuple[Choice, bool]:
        """The trigger for updates of an input of this rank, and whether it was chosen just now."""
        key = (name, rank, *((fill.left, fill.right) if fill else (1.0, 1.0)))
        known = key in self._choices
        if not known:
            triggers = self._compiled(name, 1 << max(0, rank - 1).bit_length())
            self._choices[key] = choose(triggers, sizes, rank, self.rates, fill)
        return self._choices[key], not known

    def _compiled(self, name: str, rank: int) -> dict[Strategy, Trigger]:
        if (name, rank) not in self._candidates:
            options = replace(self.options, rank=rank)
            self._candidates[name, rank] = candidates(self.program, name, options)
        return self._candidates[name, rank]

    def triggers(self) -> dict[int, Trigger]:
        """The triggers that were chosen so far, by their identities."""
        return {id(c.trigger): c.trigger for c in self._choices.values()}

    def forget(self) -> None:
        """Choose anew from now on, among the triggers that are compiled."""
        self._choices.clear()
