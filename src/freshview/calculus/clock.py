"""The clock of a database or pipeline: a stream of the steps that it took.

A condition that names the present, C(now), is what it was at the first moment and all that changed
since: C(FIRST) + the sum over the steps of C(until) - C(since). So a step is a row as any other:
views follow it by their deltas, a log replays it, and what a step cannot reach is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from freshview.calculus.schema import Column, EventTime, Relation
from freshview.calculus.types import TIMESTAMP
from freshview.errors import BadRow

FIRST = datetime(1970, 1, 1)
"""Where a clock stands that nobody has moved."""

MOST_STEPS = 64
"""Steps that are kept apart; more of them become one, which changes no view."""

CLOCK = Relation(
    "the clock",
    (Column("since", TIMESTAMP.not_null()), Column("until", TIMESTAMP.not_null())),
    time=EventTime("since", promise="until"),
)

Step: TypeAlias = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a clock, one behind the other, the first of them from `FIRST`."""

    taken: tuple[Step, ...] = ()

    @property
    def now(self) -> datetime:
        """Where the clock stands."""
        return self.taken[-1][1] if self.taken else FIRST

    def to(self, moment: object) -> tuple[list[tuple[Step, int]], Steps]:
        """The rows of the clock that come and go when it moves to a moment, and its steps then.

        >>> rows, steps = Steps().to(datetime(2024, 1, 1))
        >>> steps.to(datetime(2024, 1, 2))[0] == [
        ...     ((datetime(2024, 1, 1), datetime(2024, 1, 2)), 1)]
        True
        """
        if not isinstance(moment, datetime) or moment.tzinfo is not None:
            raise BadRow(
                f"the clock cannot be set to {moment!r}", instead="give a datetime without a zone"
            )
        if moment < self.now:
            raise BadRow(
                f"the clock stands at {self.now}, and never goes back to {moment}",
                instead="give a later moment",
            )
        if moment == self.now:
            return [], self
        if len(self.taken) < MOST_STEPS:
            step = (self.now, moment)
            return [(step, 1)], Steps((*self.taken, step))
        whole = (FIRST, moment)
        return [*((step, -1) for step in self.taken), (whole, 1)], Steps((whole,))


def steps_of(rows: Sequence[Step]) -> Steps:
    """The steps that the rows of a clock show."""
    return Steps(tuple(sorted(rows)))
