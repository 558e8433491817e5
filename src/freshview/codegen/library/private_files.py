"""Folders and files that belong to this user alone: what is loaded from them runs as this user."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from freshview.errors import FreshviewError

_OTHERS = 0o077


class NotPrivate(FreshviewError):
    """A folder that others own: they could change what is in it."""


def private_folder(path: Path) -> Path:
    """A folder that nobody else can enter, made if need be; one of another user is refused.

    What is checked is the folder that was opened, and, where the path is a link, its owner, too.
    A folder of this user that others may enter is closed to them.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    _refuse_others(path, os.lstat(path).st_uid)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        status = os.fstat(fd)
        _refuse_others(path, status.st_uid)
        if status.st_mode & _OTHERS:
            os.fchmod(fd, 0o700)
    finally:
        os.close(fd)
    return path


def _refuse_others(path: Path, owner: int) -> None:
    if owner != os.geteuid():
        raise NotPrivate(
            f"the folder '{path}' belongs to another user (number {owner})",
            instead="have it removed, or choose another place",
        )


def read_own(path: Path) -> bytes | None:
    """What a file of this user holds; None where there is none, or one of somebody else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # nor wait for a pipe
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        if status.st_uid != os.geteuid() or not stat.S_ISREG(status.st_mode):
            return None
        with open(fd, "rb", closefd=False) as source:
            return source.read()
    finally:
        os.close(fd)
