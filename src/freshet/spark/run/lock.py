"""One attempt at a time: a lock in a folder that may be deleted under it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """While it lasts, no other process or thread of this machine has the folder's lock.

    A process that is killed lets go of it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "lock"
    while True:
        fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX)
        if _is_still(path, fd):
            break
        os.close(fd)  # the folder was deleted while we waited
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        os.close(fd)


def _is_still(path: Path, fd: int) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(fd).st_ino
    except FileNotFoundError:
        return False
