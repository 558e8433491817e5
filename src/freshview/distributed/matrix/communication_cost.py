"""The communication cost of matrix programs: cells moved, and seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from freshview.distributed.matrix.terms import Exchange, Gather, MatrixSchedule, Scatter, Step
from freshview.linear.compile.trigger import Trigger
from freshview.linear.language.sizes import NOTHING, Size, total
from freshview.linear.strategy.rates import Rates, SecondsModel

JOB_SECONDS = 0.1
"""Seconds of an empty job, or of one more empty stage of it."""

CELL_SECONDS = 8e-8
"""Seconds to move a number: 100 MB a second, pickled, logged and read again."""

NOMINAL = Rates(product=1e10, update=2e9, memory=5e8, inverse=3e9)
"""Rates of one core, if they were not measured."""


def moved(steps: Iterable[Step], workers: int) -> Size:
    """The number of cells that move between processes."""
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
            return s.size  # the local share included
        case _:
            return NOTHING


def seconds(
    trigger: Trigger,
    schedule: MatrixSchedule,
    sizes: Mapping[str, float],
    workers: int,
    rates: Rates,
) -> float:
    """The estimated seconds of an update: its operations, jobs and transfers."""
    stages = sum(len(j) for j in schedule.jobs)
    cells = moved(schedule.steps, workers).at(sizes)
    return (
        SecondsModel(sizes, rates).cost(trigger) / workers
        + stages * JOB_SECONDS
        + cells * CELL_SECONDS
    )


def pays(view: str, triggers: Iterable[Trigger], sizes: Mapping[str, float], workers: int) -> bool:
    """Whether a copy by columns saves more than it costs.

    Without it all the workers send summands of A' * x to the driver; with it there is another copy
    to update.
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
