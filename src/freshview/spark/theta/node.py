"""A node of a theta join: the joiners of one partition."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from freshview.durable.storage.blocks import frame, pack, unframe, unpack
from freshview.durable.storage.files import load_whole, save_whole
from freshview.spark.plan_work import InMemoryNode
from freshview.spark.theta.blocks import Schemas
from freshview.theta.local.store import Slots
from freshview.theta.operator.block import from_block, to_block
from freshview.theta.operator.joiner import SIDES, Snapshot
from freshview.theta.operator.partition import Partition


class JoinerNode(InMemoryNode):
    """The joiners of one partition."""

    def __init__(self, schemas: Schemas, start: Callable[[int], Partition]) -> None:
        self.schemas = schemas
        self._start = start
        """Makes the joiners of a part, with nothing in them."""
        self._partition: Partition | None = None

    def partition(self, part: int) -> Partition:
        """The joiners; there is nothing in them at first."""
        if self._partition is None:
            self._partition = self._start(part)
        return self._partition

    def close(self) -> None:
        """See `DurableNode`."""
        self._partition = None

    @property
    def bytes(self) -> int:
        """See `DurableNode`."""
        return 0 if self._partition is None else self._partition.bytes

    def save(self, path: Path) -> None:
        """See `DurableNode`."""
        if self._partition is None:
            save_whole(path, frame([b"null", b""]))
            return
        head, snapshots = self._partition.snapshot()
        blocks, marks = {}, {}
        for host, sides in snapshots.items():
            for side, (slots, passed, end) in sides.items():
                name = f"{host} {side}"
                blocks[name] = [to_block(slots.tuples, self.schemas[side])]
                marks[name] = [slots.pinned, slots.shadowed, passed, end, slots.free]
        value = {"part": self._partition.part, "head": head, "marks": marks}
        save_whole(path, frame([json.dumps(value).encode(), pack(blocks)]))

    def restore(self, path: Path) -> None:
        """See `DurableNode`."""
        head, data = unframe(load_whole(path))
        value, blocks = json.loads(head), unpack(data)
        if value is None:
            return
        snapshots: dict[int, Snapshot] = {}
        for host in value["head"]["hosts"]:
            snapshots[host] = {}
            for side in SIDES:
                name = f"{host} {side}"
                if name in blocks:
                    pinned, shadowed, passed, end, free = value["marks"][name]
                    tuples = from_block(blocks[name][0], self.schemas[side])
                    pairs = tuple((old, new) for old, new in shadowed)
                    kept = Slots(tuples, pinned, pairs, None if free is None else tuple(free))
                    snapshots[host][side] = kept, passed, end
        self.partition(value["part"]).restore(value["head"], snapshots)
