"""Durable files: written atomically, and verified when they are read."""

from __future__ import annotations

import mmap as maps
import os
import shutil
import struct
from collections.abc import Callable, Iterable
from mmap import MAP_SHARED, PROT_READ, mmap
from pathlib import Path
from typing import BinaryIO, Protocol
from zlib import crc32

from freshview.errors import FreshviewError
from freshview.files import draft_of, sync_folder, write_out

_HEAD = struct.Struct("<8sQII")  # as long as what Arrow aligns its rows to
_MAGIC = b"freshview3"
_POPULATE = getattr(maps, "MAP_POPULATE", 0)


class TornFile(FreshviewError):
    """A file that was written incompletely, or was damaged since."""


class AlreadyExists(FreshviewError):
    """A file of this name exists already."""


class Folder(Protocol):
    """Named files in a folder. A name may have a folder in it: `p3/redo-1`."""

    def write(self, name: str, *data: bytes | memoryview, new: bool = False) -> None:
        """Write a file atomically; with `new` it must not exist (`AlreadyExists`)."""

    def read(self, name: str) -> bytes | None:
        """The data of a file, None without one; `TornFile` if it is damaged."""

    def map(self, name: str) -> bytes | memoryview | None:
        """The same, maybe memory-mapped, for large data that are read once."""

    def names(self, folder: str = "") -> list[str]:
        """The sorted file names in a subfolder; none if it does not exist."""

    def delete(self, names: Iterable[str]) -> None:
        """Delete files; missing ones are ignored."""

    def put(self, name: str, source: Path) -> None:
        """Copy a local file here."""

    def get(self, name: str, to: Path) -> bool:
        """Copy a file of `put` to a local path; False if it is missing or damaged."""


def head_of(name: str, *data: bytes | memoryview) -> bytes:
    """The header of a file: a magic number, the length, and checksums of the data and the name.

    The name is part of it, so that an exchanged file is noticed, too.
    """
    check = 0
    for piece in data:
        check = crc32(piece, check)
    return _HEAD.pack(_MAGIC, sum(map(len, data)), check, crc32(name.encode()))


def read_whole(source: BinaryIO, name: str) -> bytes:
    """The data of a file; `TornFile` if they do not match the header.

    >>> from io import BytesIO
    >>> read_whole(BytesIO(head_of("redo", b"rows") + b"row"), "redo")
    Traceback (most recent call last):
      ...
    freshview.durable.storage.files.TornFile: 'redo' is damaged
    """
    head, data = source.read(_HEAD.size), source.read()
    if head != head_of(name, data):
        raise TornFile(f"'{name}' is damaged")
    return data


def save_whole(path: Path, *data: bytes | memoryview) -> None:
    """A file of its own that `load_whole` reads."""
    write_out(path, head_of("", *data), *data)


def load_whole(path: Path) -> bytes:
    """What `save_whole` wrote; `TornFile` if it is damaged."""
    with path.open("rb") as source:
        return read_whole(source, "")


class LocalFolder:
    """A folder of this machine, or a mounted one."""

    def __init__(self, root: Path, *, sync: bool = False) -> None:
        self.root = root
        self.sync = sync

    def write(self, name: str, *data: bytes | memoryview, new: bool = False) -> None:
        """See `Folder`."""
        self._place(name, lambda path: self._fill(path, head_of(name, *data), *data), new)

    def read(self, name: str) -> bytes | None:
        """See `Folder`."""
        try:
            with (self.root / name).open("rb") as source:
                return read_whole(source, name)
        except FileNotFoundError:
            return None

    def map(self, name: str) -> memoryview | None:
        """See `Folder`."""
        try:
            with (self.root / name).open("rb") as source:
                size = os.fstat(source.fileno()).st_size
                if size < _HEAD.size:
                    raise TornFile(f"'{name}' is damaged")
                whole = memoryview(mmap(source.fileno(), size, MAP_SHARED | _POPULATE, PROT_READ))
        except FileNotFoundError:
            return None
        if whole[: _HEAD.size] != head_of(name, whole[_HEAD.size :]):
            raise TornFile(f"'{name}' is damaged")
        return whole[_HEAD.size :]

    def names(self, folder: str = "") -> list[str]:
        """See `Folder`."""
        try:
            names = os.listdir(self.root / folder)
        except FileNotFoundError:
            return []
        return sorted(n for n in names if not n.startswith("."))

    def delete(self, names: Iterable[str]) -> None:
        """See `Folder`."""
        for name in names:
            (self.root / name).unlink(missing_ok=True)

    def put(self, name: str, source: Path) -> None:
        """See `Folder`."""
        self._place(name, lambda path: self._copy(name, source, path), new=False)

    def get(self, name: str, to: Path) -> bool:
        """See `Folder`."""
        try:
            shutil.copyfile(self.root / name, to)
        except FileNotFoundError:
            return False
        with to.open("rb+") as copy:
            size = os.fstat(copy.fileno()).st_size - _HEAD.size
            if size < 0 or _foot_of(name, copy, size) != copy.read():
                return False
            copy.truncate(size)
        return True

    def _place(self, name: str, fill: Callable[[Path], None], new: bool) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft_of(path, new=new) as draft:
                fill(draft)
        except FileExistsError as e:
            raise AlreadyExists(f"'{path}' is there already") from e
        if self.sync:
            try:
                sync_folder(path.parent)
            except OSError:
                if new:  # the caller hears that it was not written, so it must not be found later
                    path.unlink()
                raise

    def _fill(self, path: Path, *parts: bytes | memoryview) -> None:
        write_out(path, *parts, sync=self.sync)

    def _copy(self, name: str, source: Path, path: Path) -> None:
        """Copy a file, with its checksum at the end: both take the place of the old file at once.

        It is not in front, as elsewhere, so that the system may copy the bytes by itself.
        """
        shutil.copyfile(source, path)
        with path.open("rb+") as out:
            foot = _foot_of(name, out, os.fstat(out.fileno()).st_size)
            out.write(foot)
            if self.sync:
                out.flush()
                os.fsync(out.fileno())


def _foot_of(name: str, file: BinaryIO, size: int) -> bytes:
    """The last bytes of a file of `put`, like `head_of`, from its first `size` bytes."""
    check, left = 0, size
    while part := file.read(min(left, 1 << 20)):
        check = crc32(part, check)
        left -= len(part)
    return _HEAD.pack(_MAGIC, size, check, crc32(name.encode()))
