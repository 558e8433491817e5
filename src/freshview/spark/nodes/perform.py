"""One step of a routine on a node: receive rows, run blocks, send rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from freshview.distributed.batches.guard import CHECK_BLOCK
from freshview.distributed.stages import Schedule
from freshview.distributed.terms import Dist, Guard, Replicated, Slice, Transfer
from freshview.durable.step import Clock, SentBlocks
from freshview.durable.storage.blocks import merged, pack, unpack
from freshview.spark.batches.partition import partition_rows, rows_of_worker
from freshview.spark.nodes.node import ProgramNode
from freshview.spark.nodes.violations import check_guards


@dataclass(frozen=True, slots=True)
class PartStep:
    """A step of one part: its number in the schedule of a routine, and the guards to check."""

    routine: str
    schedule: Schedule
    guards: tuple[Guard, ...]
    step: int
    is_first: bool
    part: int
    workers: int
    changes: tuple[str, ...] = ()
    """The maps that this step has what changed in queries in: of the driver, at the end."""

    @property
    def is_driver(self) -> bool:
        """Whether the part is the driver, which follows the workers."""
        return self.part == self.workers


def perform(
    node: ProgramNode,
    at: PartStep,
    inputs: Sequence[bytes],
    batch: bytes | memoryview,
    clock: Clock,
) -> SentBlocks:
    """Run the step of one part; `batch` are its rows of the batch that were not added yet."""
    routine, schedule = at.routine, at.schedule
    if at.is_first:
        clock(node.begin, routine)
    for relation, parts in unpack(batch).items():
        for rows in parts:
            node.add_batch(relation, rows)
    work = schedule.turns[at.step] if at.is_driver else schedule.stages[at.step]
    received = merged(inputs)
    for t in work.receives:
        for rows in received.get(t.target, ()):
            clock(node.receive, routine, t.target, rows)
    outbox = _Outbox(at.workers)
    for block in work.blocks:
        for t in schedule.moves(block):
            if at.is_driver and t.kind == "scatter":
                outbox.put(t, node.send(routine, t.source))
            elif not at.is_driver and t.kind == "keep":
                rows = _own_rows(t, node.send(routine, t.source), at)
                clock(node.receive, routine, t.target, rows)
        clock(node.run, routine, block)
        if block == CHECK_BLOCK and not at.is_driver and at.guards:
            check_guards(node, routine, at.guards)
    if at.is_driver:
        return SentBlocks(outbox.blocks(), _changed(node, at))
    stage = schedule.stages[at.step]
    for t in stage.sends:
        if t.sends(at.part):
            outbox.put(t, node.send(routine, t.source))
    gathered = [t for t in stage.gathers if t.sends(at.part)]
    return SentBlocks(outbox.blocks(), _gathered(node, routine, gathered))


def _own_rows(t: Transfer, rows: pa.RecordBatch, at: PartStep) -> pa.RecordBatch:
    """The rows that stay on a worker which has them all."""
    if not isinstance(t.to, Slice):
        return rows_of_worker(rows, t.by, at.part, at.workers)
    line = t.to.line(at.part)
    return rows.slice(0, 0) if line is None else rows_of_worker(rows, t.by, line, t.to.lines)


def _changed(node: ProgramNode, at: PartStep) -> bytes:
    """What changed in queries; nothing at all if nothing did."""
    rows = {name: node.send(at.routine, name) for name in at.changes}
    changed = {name: [r] for name, r in rows.items() if r.num_rows}
    return pack(changed) if changed else b""


def _gathered(node: ProgramNode, routine: str, gathers: Iterable[Transfer]) -> bytes:
    return pack({t.target: [node.send(routine, t.source)] for t in gathers})


class _Outbox:
    """The rows for every worker, by target map."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.copies: dict[str, list[pa.RecordBatch]] = {}
        self.parts: list[dict[str, list[pa.RecordBatch]]] = [{} for _ in range(workers)]

    def put(self, t: Transfer, rows: pa.RecordBatch) -> None:
        match t.to:
            case Replicated():
                self.copies[t.target] = [rows]
            case Dist():
                for box, mine in zip(
                    self.parts, partition_rows(rows, t.by, self.workers), strict=True
                ):
                    box[t.target] = [mine]
            case Slice():
                lines = partition_rows(rows, t.by, t.to.lines)
                for worker, box in enumerate(self.parts):
                    line = t.to.line(worker)
                    box[t.target] = [rows.slice(0, 0) if line is None else lines[line]]
            case _:
                raise AssertionError(f"nothing is moved to {t.to}")

    def blocks(self) -> tuple[bytes, ...]:
        copies = pack(self.copies)
        return tuple(pack(box) + copies for box in self.parts)
