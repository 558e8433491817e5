"""A node in shared memory, and its position."""

from __future__ import annotations

import shutil
import struct
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

from freshview.durable.batch_log import NO_VERSION
from freshview.durable.storage.seal import seal
from freshview.durable.work import DurableNode, Work
from freshview.files import draft_of, write_out

_HEAD = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Position:
    """The last step that a node has run, of which version, and whether it completed the version.

    While it is `dirty`, a step is running. `readings` counts steps that changed temporary maps
    only. `logged` are the bytes received since the last snapshot. `seal` is the checksum of the
    files of a shared node after the step.
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
        """As bytes, with the folder of the node."""
        flags = f"{self.complete:d} {self.dirty:d} {self.epoch} {self.readings} {self.logged}"
        data = f"{generation} {self.mark or '-'} {self.seal or '-'} {self.step} {flags}".encode()
        return _HEAD.pack(crc32(data)) + data


def read_position(data: bytes) -> tuple[str, Position] | None:
    """The inverse of `Position.dump`; None if the bytes are torn.

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

    Other processes can attach to a node in shared memory: its position is in a file beside it, and
    every rebuild gets a new folder. Its files are trusted if they have the seal of that position.
    The position of any other node is lost with its process.
    Batches are never shared: a process that continues a version must add its batch again.
    """

    def __init__(self, work: Work, part: int, folder: Path) -> None:
        self.work = work
        self.part = part
        self.folder = folder
        self.node: DurableNode | None = None
        self.batch = NO_VERSION
        """The version whose batch this process has added to the node."""
        self.reading = ("", -1)
        """The last read of this process, and the last step of it."""
        # Neither another kernel nor another part can use the maps of this one.
        self._kind = f"node-{work.kind(work.role(part))}-{part:04}-"
        self._generation = ""
        self.position: Position | None = None
        """The position of the node; None without one that can be trusted."""

    def refresh(self) -> Position | None:
        """Read the position of the node, once whenever the lock is taken.

        Another process may have changed the maps, and files may have been lost or changed. A node
        whose files do not match its position is closed before its memory is touched.
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
            # Another process has changed these maps; their memory is the same.
            self._attach(position)
        return position

    @property
    def clean_position(self) -> Position | None:
        """The position of the node, if no step of it is unfinished."""
        return None if self.position is None or self.position.dirty else self.position

    def set_position(self, position: Position) -> None:
        """Store the position of the node."""
        assert self.node is not None
        if self.node.shared:
            if not position.dirty:
                self.node.stamp()
                position = replace(position, seal=seal(self.folder / self._generation))
            data = position.dump(self._generation)
            with draft_of(self.folder / "position", one_writer=True) as draft:
                write_out(draft, data)
        self.position = position

    def dirty(self) -> None:
        """Store that a step begins."""
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
        self.work.fill(node)
        self.node = node
        self._attach(Position())
        self.set_position(Position())
        return node

    def close(self) -> None:
        """Release the node's memory."""
        self._drop()

    def _attach(self, position: Position) -> None:
        """Take over the maps from another process: what this one has cached is outdated."""
        if self.node is not None:
            self.node.take_over()
        self.position, self.batch, self.reading = position, NO_VERSION, ("", -1)

    def _stored_position(self) -> tuple[str, Position] | None:
        try:
            return read_position((self.folder / "position").read_bytes())
        except OSError:  # the file may have become anything
            return None

    def _is_whole(self, generation: str, position: Position) -> bool:
        """Whether a node is of this kind, at the end of a step, and its files match the seal."""
        if position.dirty or not generation.startswith(self._kind):
            return False
        try:
            return seal(self.folder / generation) == position.seal
        except OSError:
            return False

    def _make(self, generation: str) -> DurableNode:
        p = self.work
        folder = self.folder / generation
        folder.mkdir(parents=True, exist_ok=True)
        node: DurableNode = p.node(p.role(self.part), folder)
        return node

    def _drop(self) -> None:
        if self.node is not None:
            self.node.close()
        self.node, self.position = None, None
