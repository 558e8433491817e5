"""A theta join as versioned work: two stages a batch, and what a partition does in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from freshview.calculus.schema import Column as Declared
from freshview.durable.step import Clock, SentBlocks
from freshview.durable.work import Role
from freshview.errors import BadRow, FreshviewError
from freshview.spark.nodes.shipped_kernels import fetch_library
from freshview.spark.one_job import BATCH, READY, STATUS, OneJob, Stage, Transfer
from freshview.spark.plan_work import PlanWork
from freshview.spark.theta.blocks import (
    Schemas,
    pack_mail,
    pack_report,
    unpack_mail,
    unpack_share,
)
from freshview.spark.theta.node import JoinerNode
from freshview.temporal.terms import OutputTime
from freshview.theta.local.native.emit import Inputs, native_predicate
from freshview.theta.local.native.kernel import JoinKernel
from freshview.theta.local.native.library import load_library
from freshview.theta.local.native.store import native_stores
from freshview.theta.local.reserve import Spill
from freshview.theta.local.store import Shape, array_stores
from freshview.theta.operator.joiner import MakeStores
from freshview.theta.operator.output import Pairs, collect
from freshview.theta.operator.partition import Mail, Partition
from freshview.theta.terms import Placement

SCHEDULES: Mapping[str, OneJob] = {
    READY: OneJob((Stage(),)),
    BATCH: OneJob((Stage(), Stage((Transfer(),)))),
    STATUS: OneJob((Stage(),)),
}


@dataclass(frozen=True, slots=True)
class NativeJoins:
    """Local joins in C++: the hash of their library, which the checkpoint has, and its inputs."""

    library: str
    inputs: Inputs
    seed: int


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """What every process knows of a join: the predicate and the window, columns, and times."""

    shape: Shape
    schemas: Schemas
    first: Placement
    columns: tuple[Declared, ...]
    empty: Pairs
    timed: tuple[bool, bool]
    output_time: OutputTime
    spill: Spill | None = None
    native: NativeJoins | None = None


@dataclass(frozen=True)
class ThetaWork(PlanWork[JoinPlan, OneJob]):
    """A join on so many partitions, with its checkpoint at `place`."""

    @staticmethod
    def schedules_of(plan: JoinPlan) -> Mapping[str, OneJob]:
        """See `PlanWork`."""
        return SCHEDULES

    def kind(self, role: Role) -> str:
        """See `Work`."""
        return "theta"

    def node(self, role: Role, folder: Path) -> JoinerNode:
        """See `Work`."""
        return JoinerNode(self.plan.schemas, self._partition)

    def _partition(self, part: int) -> Partition:
        plan = self.plan
        stores = array_stores if plan.native is None else self._native_stores(plan.native)
        return Partition(part, self.workers, plan.shape, plan.first, plan.spill, stores)

    def _native_stores(self, native: NativeJoins) -> MakeStores:
        shape = self.plan.shape
        predicate = native_predicate(shape, native.inputs)
        assert predicate is not None
        calls = load_library(fetch_library(native.library, self.folder))
        kernel = JoinKernel(calls, predicate, shape, native.inputs, native.seed)
        return lambda _: native_stores(kernel)

    def perform(
        self,
        node: JoinerNode,
        part: int,
        routine: str,
        step: int,
        inputs: Sequence[bytes],
        batch: bytes | memoryview,
        clock: Clock,
    ) -> SentBlocks:
        """See `Work`."""
        plan, partition = self.plan, node.partition(part)
        nothing = collect(plan.columns, [], plan.empty, plan.timed, plan.output_time, {})
        if routine == BATCH and step == 0:
            order, rows = unpack_share(batch, plan.schemas)
            began = perf_counter()
            mail = partition.send(order, rows)
            clock.native += perf_counter() - began
            return SentBlocks(pack_mail(mail, plan.schemas, self.workers))
        if routine != BATCH:
            return SentBlocks((), pack_report(partition.status(), nothing.to_arrow()))
        incoming = unpack_mail(inputs, plan.schemas)
        began = perf_counter()
        pairs = self._joined(partition, incoming)
        clock.native += perf_counter() - began
        output = collect(plan.columns, pairs, plan.empty, plan.timed, plan.output_time, {})
        return SentBlocks((), pack_report(partition.status(), output.to_arrow()))

    def replay(
        self,
        node: JoinerNode,
        part: int,
        routine: str,
        step: int,
        inputs: Sequence[bytes],
        batch: bytes | memoryview,
        clock: Clock,
    ) -> SentBlocks:
        """See `Work`: what was joined before is only stored."""
        if routine == BATCH and step == 0:
            order, _ = unpack_share(batch, self.plan.schemas)
            node.partition(part).settle(order)
        elif routine == BATCH:
            node.partition(part).receive(unpack_mail(inputs, self.plan.schemas), again=True)
        return SentBlocks(())

    def _joined(self, partition: Partition, mail: Mail) -> list[Pairs]:
        """The pairs; where a function of the user raises, the batch is refused."""
        if not self.plan.shape.theta.functions:
            return partition.receive(mail)
        try:
            return partition.receive(mail)
        except (FreshviewError, MemoryError):
            raise
        except Exception as e:
            raise BadRow(
                f"a function of the predicate raised {type(e).__name__}: {e}",
                instead="let it answer for all rows, or leave the rows out",
            ) from e
