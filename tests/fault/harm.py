"""What is done to the files of a pipeline: deleted, cut, flipped, exchanged; and full disks."""

from __future__ import annotations

import errno
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from freshview.codegen.library.load import Instance
from freshview.durable import state
from freshview.durable.storage import files

HARMS = ("delete", "empty", "cut", "flip", "grow", "zero", "exchange", "older")


class Full:
    """A disk that is full for some writes, from the n-th on; half of the first one is there."""

    def __init__(self, first: int, writes: int) -> None:
        self.first, self.left = first, writes

    def check(self) -> bool:
        """Whether this write goes through; every write asks once."""
        self.first -= 1
        if self.first > 0 or self.left <= 0:
            return True
        self.left -= 1
        return False

    @staticmethod
    def refuse() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write_out(self, path: Path, *parts: bytes, sync: bool = False) -> None:
        """As `files.write_out`."""
        data = b"".join(parts)
        if not self.check():
            path.write_bytes(data[: len(data) // 2])
            self.refuse()
        path.write_bytes(data)

    def wrap(self, function: Any) -> Any:
        """A function that writes."""

        def writing(*args: Any, **kwargs: Any) -> Any:
            if not self.check():
                self.refuse()
            return function(*args, **kwargs)

        return writing


@contextmanager
def full(first: int, writes: int) -> Iterator[Full]:
    """While it lasts, the disk is full for some writes: checkpoint and shared memory alike."""
    disk = Full(first, writes)
    with (
        mock.patch.object(files, "write_out", disk.write_out),
        mock.patch.object(state, "write_out", disk.write_out),
        mock.patch.object(shutil, "copyfile", disk.wrap(shutil.copyfile)),
        mock.patch.object(os, "link", disk.wrap(os.link)),
        mock.patch.object(Instance, "_write", disk.wrap(Instance._write)),
    ):
        yield disk


def there(*roots: Path) -> list[Path]:
    """The files that carry something; those that only keep others out do not."""
    paths = (p for root in roots for p in root.rglob("*") if p.is_file())
    return sorted(p for p in paths if p.name not in ("lock", "behind") and p.parent.name != "epoch")


def harm(path: Path, how: str, rng: random.Random, before: Path | None) -> None:
    """Harm a file; `before` is an older one of its name, if there is any."""
    data = path.read_bytes()
    at = rng.randrange(len(data)) if data else 0
    if rng.random() < 0.5 and len(data) > 4096:
        at = rng.randrange(4096)  # where most that matters is
    match how:
        case "delete":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(data[:at])
        case "flip":
            flipped = bytes([data[at] ^ (1 << rng.randrange(8))]) if data else b"x"
            path.write_bytes(data[:at] + flipped + data[at + 1 :])
        case "grow":
            path.write_bytes(data + bytes(rng.randrange(1, 5000)))
        case "zero":
            path.write_bytes(bytes(len(data)))
        case "exchange":
            others = [p for p in path.parent.iterdir() if p.is_file() and p != path]
            if others:
                path.write_bytes(rng.choice(others).read_bytes())
        case "older":
            if before is not None and before.exists():
                shutil.copyfile(before, path)
        case _:
            raise AssertionError(how)
