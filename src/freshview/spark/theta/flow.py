"""The joiners of a theta join on Spark, version after version."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from freshview.durable.batch_log import NO_VERSION, Entry
from freshview.durable.checkpoint import (
    CheckpointProblem,
    check_new,
    checkpoint_errors,
    described,
    new_checkpoint,
    place_of,
)
from freshview.durable.commit import Commit
from freshview.durable.commit_log import PackedBatch
from freshview.durable.coordinator import Coordinator
from freshview.durable.settings import FlowSettings
from freshview.durable.step import StepId
from freshview.durable.storage.folders import folder_at
from freshview.durable.task import StageOrder, WorkerReport
from freshview.durable.versions import Versions
from freshview.spark.nodes.shipped_kernels import ship_library
from freshview.spark.runner import runner_of
from freshview.spark.theta.blocks import pack_shares
from freshview.spark.theta.work import BATCH, READY, STATUS, JoinPlan, ThetaWork
from freshview.theta.local.columns import Tuples
from freshview.theta.operator.partition import BatchOrder
from freshview.theta.terms import Side


class ThetaCoordinator(Coordinator):
    """Runs the batches of a join, and keeps what the last one gave."""

    gathered: list[bytes]

    def status(self, now: Commit) -> list[bytes]:
        """The reports of all partitions at a version."""
        return self._with_repairs(lambda: self._status(now))

    def repeat(self, entry: Entry) -> list[bytes]:
        """The reports at the end of a version, once more."""
        return self._recall(entry, 1, self.work.driver)

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


class ThetaFlow(Versions):
    """The joiners of a plan, in the partitions of a Spark session."""

    coordinator_type = ThetaCoordinator
    _coordinator: ThetaCoordinator

    def __init__(self, work: ThetaWork, spark: object) -> None:
        """Use `start` or `restart`."""
        super().__init__(work, runner_of(spark, work.workers))
        self.plan = work.plan
        self._reports: list[list[bytes]] = []
        self._open_at(READY, [[b""]] * (work.workers + 1))
        self._reports.clear()

    @classmethod
    def start(
        cls,
        plan: JoinPlan,
        spark: object,
        *,
        workers: int,
        checkpoint: str | Path,
        settings: FlowSettings,
        digest: str,
        library: Path | None = None,
    ) -> ThetaFlow:
        """Start in an empty folder; `digest` is stored with it, for restarts.

        So is the `library` of the local joins that the plan has.
        """
        place = place_of(checkpoint)
        with checkpoint_errors(place):
            check_new(folder_at(place), place)
            work = ThetaWork.of(uuid.uuid4().hex, place, workers, plan, settings)
            native = None if plan.native is None else plan.native.library
            description = {
                "name": work.name,
                "workers": workers,
                "theta": digest,
                "native": native,
            }
            with new_checkpoint(work.folder, description):
                if library is not None:
                    ship_library(library, work.folder)
                return cls(work, spark)

    @classmethod
    def restart(
        cls, plan: JoinPlan, spark: object, *, checkpoint: str | Path, settings: FlowSettings
    ) -> ThetaFlow:
        """Continue from a checkpoint, however the driver before ended."""
        place = place_of(checkpoint)
        with checkpoint_errors(place):
            description = read_description(place)
            name, workers = description["name"], description["workers"]
            return cls(ThetaWork.of(name, place, workers, plan, settings), spark)

    @property
    def logged(self) -> int:
        """The last version that is logged: it is finished, or the next call finishes it."""
        pending = self._commit_log.pending
        return pending[-1].version if pending else self.version

    def run(self, order: BatchOrder, batch: Mapping[Side, Tuples], driver: bytes) -> int:
        """Join a batch as the next version; `driver` is logged with it. The version."""
        version, parts = self.version + 1, self.work.workers
        shares = pack_shares(order, batch, self.plan.schemas, parts, version % parts)
        blocks = [[share] for share in (*shares, driver)]
        packed = PackedBatch(BATCH, blocks, sum(map(len, batch.values())))
        self._run_batch(self._commit_log.append_rows(packed, version), {}, 0.0)
        return self.version

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


def read_description(checkpoint: str | Path) -> dict[str, Any]:
    """The description in a checkpoint of a theta join."""
    return described(place_of(checkpoint), "theta", "theta join")
