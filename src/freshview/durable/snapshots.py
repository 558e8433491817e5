"""The durable files of one part: its snapshots, and its redo files since the oldest of them."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pyarrow as pa

from freshview.durable.batch_log import NO_VERSION, version_of
from freshview.durable.storage.files import Folder
from freshview.durable.work import DurableNode
from freshview.errors import FreshviewError

SMALL_STATE = 1 << 20
"""Bytes of state up to which every due snapshot is written."""

STATE_PER_LOGGED_BYTE = 2
"""A larger state is written when so many times the logged bytes exceed it: writing it delays
batches, and a short log is replayed quickly."""

MOST_SKIPPED = 10
"""A larger state is written at the latest after so many skipped snapshots."""


class Snapshots:
    """Snapshots and redo files of a part, by the mark of their version."""

    def __init__(self, folder: Folder, part: int) -> None:
        self.folder = folder
        self.name = part_name(part)
        self._oldest: int | None = None
        self._uploading: Thread | None = None

    def put_in_background(self, mark: str, node: DurableNode, memory: Path) -> bool:
        """Take a snapshot of a node, and upload it in the background.

        Only a copy within `memory` is made at once. False if the last upload is still running.
        An upload may fail silently: the log has everything since the last snapshot.
        """
        lock = os.open(memory / "behind", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            local = memory / ".behind"
            local.unlink(missing_ok=True)
            node.save(local)
        except BaseException as e:
            os.close(lock)
            if isinstance(e, BlockingIOError):
                return False
            raise
        self._uploading = Thread(target=self._upload, args=(mark, local, lock), daemon=True)
        self._uploading.start()
        return True

    def _upload(self, mark: str, local: Path, lock: int) -> None:
        try:
            with suppress(OSError, FreshviewError, pa.ArrowException):
                self.folder.put(self._path(mark), local)
                self.refresh()
                self.truncate(keep=2)
        finally:
            local.unlink(missing_ok=True)
            os.close(lock)

    def wait(self) -> None:
        """Wait for the upload of this process, if there is one."""
        if self._uploading is not None:
            self._uploading.join()
            self._uploading = None

    def refresh(self) -> None:
        """Forget what is cached: another process may have written a snapshot."""
        self._oldest = None

    def put(self, mark: str, node: DurableNode, local: Path) -> None:
        """Write a snapshot of a node, by a file on this machine."""
        local.unlink(missing_ok=True)
        try:
            node.save(local)
            self.folder.put(self._path(mark), local)
            self._oldest = None
        finally:
            local.unlink(missing_ok=True)

    def get(self, mark: str, local: Path) -> bool:
        """Download a snapshot; False if it is missing or damaged."""
        there = f"snapshot-{mark}" in self.folder.names(self.name)
        return there and self.folder.get(self._path(mark), local)

    def oldest(self) -> int:
        """The version of the oldest snapshot: no log before it is needed; -1 without any."""
        if self._oldest is None:
            self._oldest = version_of(next(iter(self._marks()), NO_VERSION))
        return self._oldest

    def versions(self) -> list[int]:
        """The versions of the snapshots, damaged ones included."""
        return [version_of(mark) for mark in self._marks()]

    def truncate(self, keep: int) -> None:
        """Keep so many snapshots, and the redo files since the oldest of them."""
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
        return [_mark_in(n) for n in names if n.startswith("snapshot-")]

    def _path(self, mark: str) -> str:
        return f"{self.name}/snapshot-{mark}"


def redo_name(part: int, mark: str, step: int) -> str:
    """The redo file of a step: what the part received in it."""
    return f"{part_name(part)}/redo-{mark}-{step:03}"


def part_name(part: int) -> str:
    """The folder of a part.

    >>> part_name(3)
    'p0003'
    """
    return f"p{part:04}"


def _mark_in(name: str) -> str:
    """The mark in the name of a redo file or a snapshot."""
    _, version, token = name.split("-")[:3]
    return f"{version}-{token}"


def is_due(turn: int, every: int, state: int, logged: int) -> bool:
    """Whether a snapshot is due, and enough was logged to justify its bytes.

    `turn` counts versions, shifted by the part, so that not all parts write at once.

    >>> is_due(6, 3, state=0, logged=0), is_due(7, 3, state=0, logged=0)
    (True, False)
    """
    passed, rest = divmod(turn, every)
    return rest == 0 and (
        logged * STATE_PER_LOGGED_BYTE >= state - SMALL_STATE or passed % MOST_SKIPPED == 0
    )
