"""One step of a routine on a node: rows in, blocks run, rows out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]

from freshview.distributed.batches.guard import CHECKS
from freshview.distributed.terms import Dist, Replicated, Transfer
from freshview.durable.blocks import merged, pack, unpack
from freshview.durable.step import Clock, Sent
from freshview.spark.batches.partition import own, spread
from freshview.spark.nodes.node import Node
from freshview.spark.nodes.refusals import check

if TYPE_CHECKING:
    from freshview.spark.nodes.view_work import ViewWork


def perform(
    node: Node,
    pipeline: ViewWork,
    part: int,
    routine: str,
    step: int,
    inputs: Sequence[bytes],
    batch: bytes | memoryview,
    clock: Clock,
) -> Sent:
    """The step of one part; `batch` are the rows that it has of the batch and was not given yet."""
    if step == pipeline.steps(routine, part)[0]:
        clock(node.begin, routine)
    for relation, parts in unpack(batch).items():
        for rows in parts:
            node.give(relation, rows)
    found = pipeline.schedules[routine]
    driver = part == pipeline.driver
    work = found.turns[step] if driver else found.stages[step]
    received = merged(inputs)
    for t in work.receives:
        for rows in received.get(t.target, ()):
            clock(node.receive, routine, t.target, rows)
    outbox = _Outbox(pipeline.workers)
    for block in work.blocks:
        for t in found.moves(block):
            if driver and t.kind == "scatter":
                outbox.put(t, node.send(routine, t.source))
            elif not driver and t.kind == "keep":
                rows = own(node.send(routine, t.source), t.by, part, pipeline.workers)
                clock(node.receive, routine, t.target, rows)
        clock(node.run, routine, block)
        if block == CHECKS and not driver and pipeline.guards.get(routine):
            check(node, routine, pipeline.guards[routine])
    if not driver:
        stage = found.stages[step]
        for t in stage.sends:
            if not t.copies or part == 0:
                outbox.put(t, node.send(routine, t.source))
        gathered = [t for t in stage.gathers if not t.copies or part == 0]
        return Sent(outbox.blocks(), _gathered(node, routine, gathered))
    return Sent(outbox.blocks())


def _gathered(node: Node, routine: str, gathers: Iterable[Transfer]) -> bytes:
    return pack({t.target: [node.send(routine, t.source)] for t in gathers})


class _Outbox:
    """Rows for every worker, by the map that they go to."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.copies: dict[str, list[pa.RecordBatch]] = {}
        self.parts: list[dict[str, list[pa.RecordBatch]]] = [{} for _ in range(workers)]

    def put(self, t: Transfer, rows: pa.RecordBatch) -> None:
        match t.to:
            case Replicated():
                self.copies[t.target] = [rows]
            case Dist():
                for box, mine in zip(self.parts, spread(rows, t.by, self.workers), strict=True):
                    box[t.target] = [mine]
            case _:
                raise AssertionError(f"nothing is moved to {t.to}")

    def blocks(self) -> tuple[bytes, ...]:
        copies = pack(self.copies)
        return tuple(pack(box) + copies for box in self.parts)
