"""Figures of a flow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from freshet.spark.run.task import Figures


@dataclass(frozen=True, slots=True)
class StageStats:
    """One stage of a batch: the seconds of its slowest worker, and the bytes that all sent."""

    seconds: float
    sent: int


@dataclass(frozen=True, slots=True)
class BatchStats:
    """What one batch took; `state` are the bytes of all the maps.

    `rebuilt` counts the workers that had to rebuild their maps from snapshots and logs, `repeated`
    the steps that were done before.
    """

    version: int
    rows: int
    seconds: float
    jobs: int
    stages: tuple[StageStats, ...]
    state: int
    rebuilt: int = 0
    repeated: int = 0

    @property
    def shuffled(self) -> int:
        """Bytes that workers sent."""
        return sum(s.sent for s in self.stages)


def batch_stats(
    version: int, rows: int, seconds: float, jobs: int, driver: int, figures: Iterable[Figures]
) -> BatchStats:
    """The figures of all the steps of a batch together; `driver` are the bytes of its maps."""
    told = list(figures)
    stages = []
    for step in sorted({f.step for f in told}):
        of = [f for f in told if f.step == step]
        stages.append(StageStats(max(f.seconds for f in of), sum(f.sent for f in of)))
    state = {f.part: f.state for f in told}
    return BatchStats(
        version,
        rows,
        seconds,
        jobs,
        tuple(stages),
        driver + sum(state.values()),
        len({f.part for f in told if f.rebuilt > 0}),
        sum(f.rebuilt < 0 for f in told),
    )
