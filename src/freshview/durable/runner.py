"""Runners of jobs: Spark, or this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from freshview.durable.task import Parcel, StageOrder, WorkerReport, provide, run_stage
from freshview.durable.work import Work


class Runner(Protocol):
    """Runs jobs on the workers."""

    def provide(self, work: Work) -> None:
        """Send the work to all the workers, before the first order."""

    def run(self, orders: Sequence[StageOrder]) -> list[WorkerReport]:
        """Run the stages of one job, each on every worker; the reports by part."""

    def close(self) -> None:
        """No more jobs."""


class InlineRunner:
    """Runs all the workers in this process, one after the other: for tests and small data."""

    def provide(self, work: Work) -> None:
        """See `Runner`."""
        provide(work.place, lambda: work)

    def run(self, orders: Sequence[StageOrder]) -> list[WorkerReport]:
        """See `Runner`."""
        workers = orders[0].workers
        received: list[list[Parcel]] = [[] for _ in range(workers)]
        for order in orders:
            sent: list[list[Parcel]] = [[] for _ in range(workers)]
            for part in range(workers):
                for target, parcel in run_stage(order, part, received[part]):
                    sent[target].append(parcel)
            received = sent
        return [report for parcels in received for _, _, report in parcels if report is not None]

    def close(self) -> None:
        """See `Runner`."""
