"""The durable files of one part: its snapshots, and what it received since the oldest of them."""

from __future__ import annotations

from pathlib import Path

from freshet.spark.run.files import Folder
from freshet.spark.run.log import NOTHING, version_of
from freshet.spark.run.node import Node


class Snapshots:
    """Snapshots and redo files of a part, by the mark of their version."""

    def __init__(self, folder: Folder, part: int) -> None:
        self.folder = folder
        self.name = part_name(part)
        self._oldest: int | None = None

    def put(self, mark: str, node: Node, local: Path) -> None:
        """A snapshot of a node, by a file on this machine."""
        local.unlink(missing_ok=True)
        try:
            node.save(local)
            self.folder.put(self._path(mark), local)
            self._oldest = None
        finally:
            local.unlink(missing_ok=True)

    def get(self, mark: str, local: Path) -> bool:
        """Bring a snapshot to this machine; False if there is none, or none that is whole."""
        there = f"snapshot-{mark}" in self.folder.names(self.name)
        return there and self.folder.get(self._path(mark), local)

    def oldest(self) -> int:
        """The version of the oldest one: no log before it is needed; -1 without any."""
        if self._oldest is None:
            self._oldest = version_of(next(iter(self._marks()), NOTHING))
        return self._oldest

    def truncate(self, keep: int) -> None:
        """Keep so many, and the redo files since the oldest of them."""
        marks = self._marks()
        if len(marks) < keep:
            return
        base = marks[-keep]
        names = self.folder.names(self.name)
        old = [n for n in names if version_of(_mark_in(n)) < version_of(base)]
        old += [n for n in names if n.startswith("redo-") and _mark_in(n) == base]
        self.folder.delete(f"{self.name}/{n}" for n in old)
        self._oldest = None

    def _marks(self) -> list[str]:
        names = self.folder.names(self.name)
        return [_mark_in(n) for n in names if n.startswith("snapshot-") and not _is_sum(n)]

    def _path(self, mark: str) -> str:
        return f"{self.name}/snapshot-{mark}"


def snapshot_names(part: int, mark: str) -> list[str]:
    """The files of a snapshot."""
    return [f"{part_name(part)}/snapshot-{mark}{end}" for end in ("", ".sum")]


def redo_name(part: int, mark: str, step: int) -> str:
    """The file of what a part received in a step."""
    return f"{part_name(part)}/redo-{mark}-{step:03}"


def part_name(part: int) -> str:
    """The folder of a part.

    >>> part_name(3)
    'p0003'
    """
    return f"p{part:04}"


def _mark_in(name: str) -> str:
    """The mark in the name of a redo file or a snapshot."""
    _, version, token = name.removesuffix(".sum").split("-")[:3]
    return f"{version}-{token}"


def _is_sum(name: str) -> bool:
    return name.endswith(".sum")
