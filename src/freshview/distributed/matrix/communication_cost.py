"""What moves, and what that costs beside the operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freshview.distributed.matrix.terms import Exchange, Gather, MatrixSchedule, Scatter, Step
from freshview.linear.compile.trigger import Trigger
from freshview.linear.cost.rates import Rates, trigger_seconds
from freshview.linear.language.sizes import NOTHING, Size, total

JOB_SECONDS = 0.1
"""Seconds of a job, or of one more stage of it, that does nothing: `design/spark.md`, section 1."""

CELL_SECONDS = 8e-8
"""Seconds in which a number moves: 100 MB a second, pickled, logged and read again."""

NOMINAL = Rates(product=1e10, update=2e9, memory=5e8, inverse=3e9)
"""Rates of one core where nobody measured them."""


def moved(steps: Iterable[Step], workers: int) -> Size:
    """How many cells move between processes, in all."""
    return total(_cells(s, workers) for s in steps)


def _cells(s: Step, workers: int) -> Size:
    match s:
        case Scatter():
            return s.size * workers
        case Gather():
            return s.size * (workers if s.source.form == "partial" else 1)
        case Exchange(how="whole" | "reduce"):
            return s.size * (workers - 1)
        case Exchange():
            return s.size  # but for the share that stays
        case _:
            return NOTHING


def seconds(
    trigger: Trigger,
    schedule: MatrixSchedule,
    sizes: Mapping[str, float],
    workers: int,
    rates: Rates,
) -> float:
    """How long an update takes: its operations on all the workers, its jobs, and what moves."""
    stages = sum(len(j) for j in schedule.jobs)
    cells = moved(schedule.steps, workers).at(sizes)
    return (
        trigger_seconds(trigger, sizes, rates) / workers
        + stages * JOB_SECONDS
        + cells * CELL_SECONDS
    )


def pays(view: str, triggers: Iterable[Trigger], sizes: Mapping[str, float], workers: int) -> bool:
    """Whether a copy by columns spares more than it costs.

    Without it the summands of A' * x go to the driver from all the workers, with it there is
    another copy to update.
    """
    spared = costs = 0.0
    for t in triggers:
        m, rank = t.scope[view], t.ranks().get(view)
        if rank is None:
            continue
        k = rank.at(sizes)
        spared += (workers - 1) * m.cols.at(sizes) * k * CELL_SECONDS
        cells = m.rows.at(sizes) * m.cols.at(sizes) / workers
        costs += cells / NOMINAL.memory + cells * k / NOMINAL.update
    return spared > costs
