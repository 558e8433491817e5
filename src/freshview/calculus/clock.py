"""The clock of a database or pipeline: a stream of the steps that it took.

A condition that names the present, C(now), is what it was at the first moment and all that changed
since: C(FIRST) + the sum over the steps of C(until) - C(since). So a step is a row as any other:
views follow it by their deltas, a log replays it, and what a step cannot reach is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, TypeAlias

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

Moment: TypeAlias = int | float | date
"""A time: where it is a date, days or moments."""

Step: TypeAlias = tuple[Moment, Moment]

_FIRST: dict[str, Moment] = {
    "int": -(1 << 62),
    "double": -1e300,
    "date": date.min,
    "timestamp": datetime.min,
}
"""Before all the rows of a stream, by the type of their times."""


def progress_of(stream: Relation) -> Relation:
    """The steps of a stream's watermark, as those of a clock."""
    t = stream.columns[stream.time_column or 0].type.not_null()
    return Relation(
        f"progress of {stream.name}",
        (Column("since", t), Column("until", t)),
        time=EventTime("since", promise="until"),
    )


def steps_from_start(stream: Relation) -> Steps:
    """No step of a stream's watermark, which is before all rows."""
    return Steps(first=_FIRST[stream.columns[stream.time_column or 0].type.kind])


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a clock, one behind the other."""

    each: tuple[Step, ...] = ()
    first: Moment = FIRST

    @property
    def now(self) -> Moment:
        """Where the clock stands."""
        return self.each[-1][1] if self.each else self.first

    def to(self, moment: Moment) -> tuple[list[tuple[Step, int]], Steps]:
        """The rows of the clock that come and go when it moves to a moment, and its steps then.

        >>> rows, steps = Steps().to(datetime(2024, 1, 1))
        >>> steps.to(datetime(2024, 1, 2))[0] == [
        ...     ((datetime(2024, 1, 1), datetime(2024, 1, 2)), 1)]
        True
        """
        if moment == self.now:
            return [], self
        if len(self.each) < MOST_STEPS:
            step = (self.now, moment)
            return [(step, 1)], replace(self, each=(*self.each, step))
        whole = (self.first, moment)
        rows = [*((step, -1) for step in self.each), (whole, 1)]
        return rows, replace(self, each=(whole,))


def later(steps: Steps, moment: object) -> datetime:
    """A moment to which a clock may be moved."""
    if not isinstance(moment, datetime) or moment.tzinfo is not None:
        raise BadRow(
            f"the clock cannot be set to {moment!r}", instead="give a datetime without a zone"
        )
    if moment < steps.now:  # type: ignore[operator]
        raise BadRow(
            f"the clock stands at {steps.now}, and never goes back to {moment}",
            instead="give a later moment",
        )
    return moment


def steps_of(rows: Iterable[Sequence[Any]], steps: Steps) -> Steps:
    """The steps that the rows of a clock show, of one that has not begun yet."""
    return replace(steps, each=tuple(sorted((since, until) for since, until in rows)))
