"""How to spread a program: one frozen value that all passes of this room take."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from freshview.program.cost import Statistics
from freshview.program.terms import Program

Measure = Literal["time", "transformers"]

STREAM_ROWS = 10_000_000.0
"""Rows of a stream that nobody told the size of: what is spread over workers is large."""


@dataclass(frozen=True, slots=True)
class DistributionOptions:
    """The choices of the distributed compiler; the first three are the levels of thesis 5.5.3.

    - `push`: look for the cheapest place of every transformer; else only well-formed statements.
    - `fuse`: merge the statements into as few blocks as possible.
    - `share`: compute and move a thing once, and not at all if nobody reads it.
    - `measure`: what is cheap. `transformers` counts them, as the thesis does; `time` reckons with
      rounds (transformers that wait for each other) and with the bytes that move.
    - `workers`: how many copies a replicated map has, in those estimates.
    - `deliver`: let batches arrive where they are wanted, by key or in copies. A driver that writes
      batches down can do that; in the thesis they arrive anyhow.
    - `statistics`: rows of relations and of batches, in those estimates.
    """

    push: bool = True
    fuse: bool = True
    share: bool = True
    measure: Measure = "time"
    workers: int = 16
    deliver: bool = False
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
