"""A file lock in a folder that may be deleted meanwhile."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from freshview.codegen.library.private_files import NotPrivate
from freshview.durable.storage.shared_memory import make_private


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock: no other process or thread of this machine has it.

    The lock of a killed process is released.
    """
    path = folder / "lock"
    while True:
        _make(folder)
        try:
            fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError:
            continue  # the folder was deleted meanwhile
        fcntl.flock(fd, fcntl.LOCK_EX)
        if _is_still(path, fd):
            break
        os.close(fd)  # the folder was deleted while we waited
    try:
        yield
    finally:
        os.close(fd)


def _make(folder: Path) -> None:
    try:
        make_private(folder)
    except NotPrivate as e:
        # A fault of the machine must not discard a batch.
        raise PermissionError(errno.EPERM, str(e)) from e


def _is_still(path: Path, fd: int) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(fd).st_ino
    except FileNotFoundError:
        return False
