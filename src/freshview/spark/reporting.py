"""Versions of one job each, in which every partition reports to the driver."""

from __future__ import annotations

import uuid

from freshview.durable.batch_log import NO_VERSION, Entry
from freshview.durable.checkpoint import CheckpointProblem
from freshview.durable.commit import Commit
from freshview.durable.coordinator import Coordinator
from freshview.durable.runner import Runner
from freshview.durable.step import StepId
from freshview.durable.task import StageOrder, WorkerReport
from freshview.durable.versions import Versions
from freshview.durable.work import Work
from freshview.spark.one_job import BATCH, READY, STATUS


class ReportingCoordinator(Coordinator):
    """Runs batches, and keeps what the last one gave."""

    gathered: list[bytes]

    def status(self, now: Commit) -> list[bytes]:
        """The reports of all partitions at a version."""
        return self._with_repairs(lambda: self._status(now))

    def repeat(self, entry: Entry) -> list[bytes]:
        """The reports at the end of a version, once more."""
        last = len(self.work.schedules[BATCH].stages) - 1
        return self._recall(entry, last, self.work.driver)

    def _status(self, now: Commit) -> list[bytes]:
        at = StepId(self.epoch, NO_VERSION, now.after, STATUS, 0)
        stage = self.work.schedules[STATUS].stages[0]
        order = self._order("read", at, stage, (), uuid.uuid4().hex)
        return [r.gathered for r in self._job([order])]

    def _job(self, orders: list[StageOrder]) -> list[WorkerReport]:
        reports = super()._job(orders)
        if orders[-1].kind == "step":
            self.gathered = [r.gathered for r in reports]
        return reports


class ReportingFlow(Versions):
    """Work with the routines `READY`, `BATCH` and `STATUS`, in the partitions of a session."""

    coordinator_type = ReportingCoordinator
    _coordinator: ReportingCoordinator

    def __init__(self, work: Work, runner: Runner) -> None:
        """Run the versions that are logged and not finished."""
        super().__init__(work, runner)
        self._reports: list[list[bytes]] = []
        self._open_at(READY, [[b""]] * (work.workers + 1))
        self._reports.clear()

    @property
    def logged(self) -> int:
        """The last version that is logged: it is finished, or the next call finishes it."""
        pending = self._commit_log.pending
        return pending[-1].version if pending else self.version

    def reports(self) -> list[list[bytes]]:
        """What the versions gave that were finished since this was last asked."""
        reports, self._reports = self._reports, []
        return reports

    def status(self) -> list[bytes]:
        """The reports of all partitions, without pairs."""
        return self._safely(lambda: self._coordinator.status(self._commit_log.commit))

    def repeat(self) -> list[bytes]:
        """What the last version gave, once more."""
        entry = self._last_entry()
        return self._safely(lambda: self._coordinator.repeat(entry))

    def driver_block(self) -> bytes:
        """What was logged for the driver with the last version."""
        return self._safely(
            lambda: bytes(self.work.log.block(self._last_entry(), self.work.driver))
        )

    def _last_entry(self) -> Entry:
        entry = self.work.log.entry(self.version)
        if entry is None:
            raise CheckpointProblem(
                f"the log has no version {self.version}", instead="restore its files"
            )
        return entry

    def _run_version(self, entry: Entry) -> None:
        super()._run_version(entry)
        self._reports.append(self._coordinator.gathered)
