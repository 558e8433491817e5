"""A node, and how far it has come."""

from __future__ import annotations

import os
import shutil
import struct
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

from freshview.durable.batch_log import NO_VERSION
from freshview.durable.storage.files import write_out
from freshview.durable.storage.seal import seal
from freshview.durable.work import DurableNode, Work

_HEAD = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Position:
    """How far a node has come: the last step that it did of a version, and if that was the last.

    While it is `dirty`, a step is half done. `readings` counts steps that left the maps as they
    were, but not all that lies around them. `logged` are the bytes that came since a snapshot.
    `seal` tells the files of a node that lives in some, as the step left them.
    """

    mark: str = NO_VERSION
    step: int = -1
    complete: bool = True
    dirty: bool = False
    epoch: int = 0
    readings: int = 0
    logged: int = 0
    seal: str = ""

    def dump(self, generation: str) -> bytes:
        """As bytes, beside the folder of the node that it is about."""
        flags = f"{self.complete:d} {self.dirty:d} {self.epoch} {self.readings} {self.logged}"
        data = f"{generation} {self.mark or '-'} {self.seal or '-'} {self.step} {flags}".encode()
        return _HEAD.pack(crc32(data)) + data


def read_position(data: bytes) -> tuple[str, Position] | None:
    """The inverse of `Position.dump`; None if a write was cut short.

    >>> read_position(Position("000000000001-a", 2).dump("g1"))[1].step
    2
    """
    if len(data) <= _HEAD.size or _HEAD.unpack_from(data)[0] != crc32(data[_HEAD.size :]):
        return None
    generation, mark, sealed, *numbers = data[_HEAD.size :].decode().split(" ")
    step, complete, dirty, epoch, readings, logged = map(int, numbers)
    name, sealed = (word if word != "-" else "" for word in (mark, sealed))
    flags = bool(complete), bool(dirty)
    return generation, Position(name, step, *flags, epoch, readings, logged, sealed)


class State:
    """The node of a part, with its position.

    A node in shared memory is found again by other processes: its position lies in a file beside
    it, and every rebuilding gives it a new folder. Its files are trusted if they bear the seal of
    that position. The position of another node is lost with it.
    Batches are never shared: a process that goes on with a version must give its batch again.
    """

    def __init__(self, pipeline: Work, part: int, folder: Path) -> None:
        self.pipeline = pipeline
        self.part = part
        self.folder = folder
        self.node: DurableNode | None = None
        self.batch = NO_VERSION
        """The version whose batch this process has given to the node."""
        self.reading = ("", -1)
        """The reading that this process was the last to be at, and the last step that it did."""
        # Another kernel cannot make anything of the maps of this one, nor can another part.
        self._kind = f"node-{pipeline.kind(pipeline.role(part))}-{part:04}-"
        self._generation = ""
        self.position: Position | None = None
        """Where the node stands; None where there is none, or none that can be trusted."""

    def refresh(self) -> Position | None:
        """Find out where the node stands: once for all that is done under a lock.

        Another process may have been at work on the maps, and files may have been lost or changed.
        A node whose files are not those of its position is let go of before its memory is touched.
        """
        if self.node is not None and not self.node.shared:
            return self.position
        stored = self._stored_position()
        if stored is None or not self._is_whole(*stored):
            self._drop()
            return None
        generation, position = stored
        if self.node is None or generation != self._generation:
            self._drop()
            self.node, self._generation = self._make(generation), generation
            if not self.node.shared:
                self._drop()
                return None
            self._attach(position)
        elif position != self.position:
            # Another process has been at work on these maps; their memory is the same.
            self._attach(position)
        return position

    def set_position(self, position: Position) -> None:
        """Note where the node stands now."""
        assert self.node is not None
        if self.node.shared:
            if not position.dirty:
                self.node.stamp()
                position = replace(position, seal=seal(self.folder / self._generation))
            data = position.dump(self._generation)
            path = self.folder / "position"
            draft = self.folder / ".position"
            write_out(draft, data)
            os.replace(draft, path)
        self.position = position

    def dirty(self) -> None:
        """Note that a step begins."""
        assert self.position is not None
        self.set_position(replace(self.position, dirty=True))

    def renew(self) -> DurableNode:
        """An empty node with the static tables, in a new folder."""
        self._drop()
        self._generation = f"{self._kind}{uuid.uuid4().hex}"
        node = self._make(self._generation)
        if node.shared:
            for old in self.folder.glob("node-*"):
                if old.name != self._generation:
                    shutil.rmtree(old, ignore_errors=True)
        self.pipeline.fill(node)
        self.node = node
        self._attach(Position())
        self.set_position(Position())
        return node

    def close(self) -> None:
        """Give the node's memory back."""
        self._drop()

    def _attach(self, position: Position) -> None:
        """Take over the maps from another process: what this one knows beside them is old."""
        if self.node is not None:
            self.node.take_over()
        self.position, self.batch, self.reading = position, NO_VERSION, ("", -1)

    def _stored_position(self) -> tuple[str, Position] | None:
        try:
            return read_position((self.folder / "position").read_bytes())
        except OSError:  # it may be anything by now
            return None

    def _is_whole(self, generation: str, position: Position) -> bool:
        """Whether a node is one of ours, at the end of a step, with the files that it had then."""
        if position.dirty or not generation.startswith(self._kind):
            return False
        try:
            return seal(self.folder / generation) == position.seal
        except OSError:
            return False

    def _make(self, generation: str) -> DurableNode:
        p = self.pipeline
        folder = self.folder / generation
        folder.mkdir(parents=True, exist_ok=True)
        node: DurableNode = p.node(p.role(self.part), folder)
        return node

    def _drop(self) -> None:
        if self.node is not None:
            self.node.close()
        self.node, self.position = None, None
