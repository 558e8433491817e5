"""The work of a pipeline, known to all its processes: its program, schedules and folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from freshview.calculus.functions import Functions
from freshview.distributed.stages import Schedule, schedule
from freshview.distributed.terms import Distributed, Guard
from freshview.durable.settings import FlowSettings
from freshview.durable.step import Clock, LostState, SentBlocks
from freshview.durable.storage.blocks import unpack
from freshview.durable.storage.files import Folder
from freshview.durable.storage.folders import folder_at
from freshview.durable.work import Role, Work
from freshview.spark.nodes.kernel_node import KernelNode
from freshview.spark.nodes.node import READY, ProgramNode, change_routine, read_routine
from freshview.spark.nodes.perform import PartStep, perform
from freshview.spark.nodes.reference_node import ReferenceNode
from freshview.spark.nodes.shipped_kernels import ShippedKernel, fetch_library

NO_ROUTINE = "nothing"
"""The routine of a batch that no view reads."""


@dataclass(frozen=True)
class ViewWork(Work):
    """A prepared program on so many workers, with its checkpoint at `place`."""

    name: str
    place: str
    workers: int
    distributed: Distributed
    functions: Functions
    settings: FlowSettings
    folder: Folder = field(compare=False)
    schedules: Mapping[str, Schedule] = field(compare=False)
    kernels: Mapping[Role, ShippedKernel] = field(compare=False, default_factory=dict)
    """By role; without one, Python keeps the maps."""
    guards: Mapping[str, tuple[Guard, ...]] = field(compare=False, default_factory=dict)
    """By routine, the guards to check."""
    changes: Mapping[str, tuple[str, ...]] = field(compare=False, default_factory=dict)
    """By routine, the driver's maps of what changed in queries."""

    @classmethod
    def of(
        cls,
        name: str,
        place: str,
        workers: int,
        distributed: Distributed,
        functions: Functions,
        settings: FlowSettings,
        kernels: Mapping[Role, ShippedKernel] | None = None,
    ) -> ViewWork:
        """The work with all its derived fields."""
        folder = folder_at(place, sync=settings.sync)
        scheduled, checks = schedules_of(distributed), guards_of(distributed)
        changes = {change_routine(i): r.changes for i, r in enumerate(distributed.routines)}
        derived = (folder, scheduled, kernels or {}, checks, changes)
        return cls(name, place, workers, distributed, functions, settings, *derived)

    def kind(self, role: Role) -> str:
        """See `Work`: a kernel cannot read the maps of another one."""
        shipped = self.kernels.get(role)
        return shipped.library[:16] if shipped else "python"

    def node(self, role: Role, folder: Path) -> ProgramNode:
        """See `Work`: maps in a kernel if there is one, else in Python."""
        shipped = self.kernels.get(role)
        if shipped is None:
            return ReferenceNode(self.distributed, role, self.functions)
        library = fetch_library(shipped.library, self.folder)
        return KernelNode(shipped.program, library, folder / "state", self.functions)

    def fill(self, node: ProgramNode) -> None:
        """See `Work`: the static tables."""
        for table, parts in self.tables().items():
            for rows in parts:
                node.load(table, rows)

    def perform(
        self,
        node: ProgramNode,
        part: int,
        routine: str,
        step: int,
        inputs: Sequence[bytes],
        batch: bytes | memoryview,
        clock: Clock,
    ) -> SentBlocks:
        """See `Work`."""
        steps, checks = self.steps(routine, part), self.guards.get(routine, ())
        last = part == self.driver and step == steps[-1]
        changes = self.changes.get(routine, ()) if last else ()
        first = step == steps[0]
        plan = self.schedules[routine]
        at = PartStep(routine, plan, checks, step, first, part, self.workers, changes)
        return perform(node, at, inputs, batch, clock)

    def tables(self) -> dict[str, list[pa.RecordBatch]]:
        """The rows of the static tables."""
        data = self.folder.read(tables_name(self.name))
        if data is None:
            raise LostState(
                f"the static tables of {self.place} are missing",
                instead=f"restore its file '{tables_name(self.name)}', or start over in another "
                "folder",
            )
        return unpack(data)


def tables_name(name: str) -> str:
    """The file of the static tables; that of another start has another name."""
    return f"tables-{name}"


def schedules_of(distributed: Distributed) -> dict[str, Schedule]:
    """The schedule of every routine of a prepared program, by name."""
    scheduled = {NO_ROUTINE: schedule(()), READY: schedule(distributed.ready.blocks)}
    scheduled |= {change_routine(i): schedule(r.blocks) for i, r in enumerate(distributed.routines)}
    return scheduled | {
        read_routine(r.query.name): schedule(r.blocks) for r in distributed.readouts
    }


def guards_of(distributed: Distributed) -> dict[str, tuple[Guard, ...]]:
    """By routine, the guards of the relations in it."""
    return {
        change_routine(i): tuple(g for g in distributed.guards if g.relation.name in r.relations)
        for i, r in enumerate(distributed.routines)
    }
