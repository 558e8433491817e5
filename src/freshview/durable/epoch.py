"""Fencing epochs: every driver of a pipeline gets a number, and only the highest may write."""

from __future__ import annotations

from freshview.durable.storage.files import AlreadyExists, Folder
from freshview.errors import FreshviewError


class DriverFenced(FreshviewError):
    """Another driver runs on the same checkpoint: this one must stop."""


def claim(folder: Folder, last: int = 0) -> int:
    """A number higher than that of every driver before; `last` is one known from the commit."""
    while True:
        epoch = max(current(folder), last) + 1
        try:
            folder.write(_name(epoch), b"", new=True)
        except AlreadyExists:
            continue
        folder.delete(_name(n) for n in _numbers(folder) if n < epoch)
        return epoch


def succeed(folder: Folder, epoch: int) -> int:
    """The next number, for the driver with this one; `DriverFenced` if another one has started."""
    try:
        folder.write(_name(epoch + 1), b"", new=True)
    except AlreadyExists:
        pass
    else:
        folder.delete([_name(epoch)])
        fence(folder, epoch + 1)
        return epoch + 1
    raise _fenced()


def current(folder: Folder) -> int:
    """The highest number so far; 0 before the first."""
    return max(_numbers(folder), default=0)


def _numbers(folder: Folder) -> list[int]:
    return [int(n) for n in folder.names("epoch") if n.isdecimal()]


def fence(folder: Folder, epoch: int) -> None:
    """Refuse a driver whose number is not the highest."""
    if current(folder) > epoch:
        raise _fenced()


def _fenced() -> DriverFenced:
    return DriverFenced(
        "another driver has taken this pipeline over", instead="stop this one, or restart it"
    )


def _name(epoch: int) -> str:
    return f"epoch/{epoch:09}"
