"""The options of the distributed compiler."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from freshview.program.statistics import Statistics
from freshview.program.terms import Program

Measure = Literal["time", "transformers"]

STREAM_ROWS = 10_000_000.0
"""The assumed rows of a stream of unknown size: distributed data are large."""


@dataclass(frozen=True, slots=True)
class DistributionOptions:
    """The choices of the distributed compiler.

    The first three are the levels of Nikolic 2016, 5.5.3:

    - `push`: look for the cheapest place of every transformer; else only well-formed statements.
    - `fuse`: merge the statements into as few blocks as possible.
    - `share`: compute and move a map once, and not at all if nothing reads it.
    - `measure`: the cost measure. `transformers` counts them, as Nikolic 2016 does; `time`
      estimates rounds (transformers that wait for each other) and bytes.
    - `workers`: how many copies a replicated map has, in those estimates.
    - `deliver`: partition or replicate batches on arrival. A driver that logs batches can do it;
      in Nikolic 2016 they arrive at random.
    - `grids`: put the sides of a join on a grid of the `workers` where no key can partition both.
    - `statistics`: rows of relations and of batches, in those estimates.
    """

    push: bool = True
    fuse: bool = True
    share: bool = True
    measure: Measure = "time"
    workers: int = 16
    deliver: bool = False
    grids: bool = False
    statistics: Statistics = field(default_factory=lambda: Statistics(batch=10_000.0))


LEVELS: dict[str, DistributionOptions] = {
    "naive": DistributionOptions(push=False, fuse=False, share=False),
    "pushed": DistributionOptions(fuse=False, share=False),
    "fused": DistributionOptions(share=False),
    "shared": DistributionOptions(),
    "delivered": DistributionOptions(deliver=True),
}
"""The levels of optimization, each with those before it."""


def sized(program: Program, statistics: Statistics) -> Statistics:
    """The statistics with a large number of rows for every stream that has none."""
    unknown = {r.name: STREAM_ROWS for r in program.relations if not r.static}
    return replace(statistics, rows={**unknown, **statistics.rows})
