"""What a maintained program has done so far."""

from __future__ import annotations

from dataclasses import dataclass, field

REMEMBERED = 100
"""How many reasons a report keeps: the last ones."""


@dataclass
class Report:
    """What a program has done so far; `reasons` tell why it was last computed anew.

    `rounds` tells after how many rounds an iteration to a tolerance last came to its end.
    """

    updates: int = 0
    reevaluations: int = 0
    drift: float = 0.0
    worst_drift: float = 0.0
    reasons: list[str] = field(default_factory=list)
    rounds: dict[str, int] = field(default_factory=dict)

    def reevaluated(self, why: str) -> None:
        """Note that views were computed anew."""
        self.reevaluations += 1
        self.reasons.append(why)
        del self.reasons[:-REMEMBERED]
