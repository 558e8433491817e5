"""Metrics of a flow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from freshview.durable.task import StepMetrics


@dataclass(frozen=True, slots=True)
class StageStats:
    """One stage of a batch: the seconds of its slowest worker, and the bytes that all sent.

    Of the seconds, `native` were spent in the maps and `arrow` in conversions of rows; the rest in
    files.
    """

    seconds: float
    sent: int
    native: float = 0.0
    arrow: float = 0.0


@dataclass(frozen=True, slots=True)
class BatchStats:
    """The metrics of one batch; `state` are the bytes of all the maps.

    `rebuilt` counts the workers that rebuilt their maps from snapshots and logs, `repeated` the
    steps that were finished before.
    """

    version: int
    rows: int
    seconds: float
    jobs: int
    stages: tuple[StageStats, ...]
    state: int
    rebuilt: int = 0
    repeated: int = 0
    intake: float = 0.0
    """Seconds before `seconds`, in which the driver validated and split the rows."""
    written: float = 0.0
    """And in which it wrote them to the log."""

    @property
    def scheduling(self) -> float:
        """Seconds that neither the workers nor the intake took: Spark's, and the driver's."""
        return self.seconds - sum(s.seconds for s in self.stages)

    @property
    def shuffled(self) -> int:
        """Bytes that workers sent."""
        return sum(s.sent for s in self.stages)


def batch_stats(
    version: int, rows: int, seconds: float, jobs: int, driver: int, steps: Iterable[StepMetrics]
) -> BatchStats:
    """The metrics of a batch from those of its steps; `driver` are bytes of the driver."""
    step_metrics = list(steps)
    stages = []
    for step in sorted({f.step for f in step_metrics}):
        of = [f for f in step_metrics if f.step == step]
        slowest = max(of, key=lambda f: f.seconds)
        sent = sum(f.sent for f in of)
        stages.append(StageStats(slowest.seconds, sent, slowest.native, slowest.arrow))
    state = {f.part: f.state for f in step_metrics}
    return BatchStats(
        version,
        rows,
        seconds,
        jobs,
        tuple(stages),
        driver + sum(state.values()),
        len({f.part for f in step_metrics if f.rebuilt > 0}),
        sum(f.rebuilt < 0 for f in step_metrics),
    )
