"""The joiners of a theta join on Spark, version after version."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from freshview.durable.checkpoint import (
    check_new,
    checkpoint_errors,
    described,
    new_checkpoint,
    place_of,
)
from freshview.durable.commit_log import PackedBatch
from freshview.durable.settings import FlowSettings
from freshview.durable.storage.folders import folder_at
from freshview.spark.nodes.shipped_kernels import ship_library
from freshview.spark.one_job import BATCH
from freshview.spark.reporting import ReportingFlow
from freshview.spark.runner import runner_of
from freshview.spark.theta.blocks import pack_shares
from freshview.spark.theta.work import JoinPlan, ThetaWork
from freshview.theta.local.columns import Tuples
from freshview.theta.operator.partition import BatchOrder
from freshview.theta.terms import Side


class ThetaFlow(ReportingFlow):
    """The joiners of a plan, in the partitions of a Spark session."""

    def __init__(self, work: ThetaWork, spark: object) -> None:
        """Use `start` or `restart`."""
        super().__init__(work, runner_of(spark, work.workers))
        self.plan = work.plan

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

    def run(self, order: BatchOrder, batch: Mapping[Side, Tuples], driver: bytes) -> int:
        """Join a batch as the next version; `driver` is logged with it. The version."""
        version, parts = self.version + 1, self.work.workers
        shares = pack_shares(order, batch, self.plan.schemas, parts, version % parts)
        blocks = [[share] for share in (*shares, driver)]
        packed = PackedBatch(BATCH, blocks, sum(map(len, batch.values())))
        self._run_batch(self._commit_log.append_rows(packed, version), {}, 0.0)
        return self.version


def read_description(checkpoint: str | Path) -> dict[str, Any]:
    """The description in a checkpoint of a theta join."""
    return described(place_of(checkpoint), "theta", "theta join")
