"""Files that outlive a process: written whole or not at all, and checked when they are read."""

from __future__ import annotations

import os
import shutil
import struct
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol
from zlib import crc32

from freshet.errors import FreshetError

_HEAD = struct.Struct("<8sQI")
_MAGIC = b"freshet1"


class Torn(FreshetError):
    """A file that was not written to its end, or was damaged since."""


class Taken(FreshetError):
    """A file of this name is there already."""


class Folder(Protocol):
    """Named files in a folder. A name may have a folder in it: `p3/redo-1`."""

    def write(self, name: str, data: bytes, *, new: bool = False) -> None:
        """All of a file or nothing of it; with `new` there must not be one (`Taken`)."""

    def read(self, name: str) -> bytes | None:
        """What `write` wrote, None where there is none; `Torn` if it is damaged."""

    def names(self, folder: str = "") -> list[str]:
        """The files in a folder of it, by name, in order; none if it is not there."""

    def delete(self, names: Iterable[str]) -> None:
        """Take files away; those that are not there do not matter."""

    def put(self, name: str, source: Path) -> None:
        """A copy of a local file."""

    def get(self, name: str, to: Path) -> bool:
        """A local copy of a file that `put` brought; False if it is missing or damaged."""


def folder_at(place: str | Path, *, sync: bool = False) -> Folder:
    """The folder at a path, or at a URL of any file system that Arrow knows (`hdfs://`, `s3://`)."""
    text = str(place)
    if "://" not in text:
        return LocalFolder(Path(text), sync=sync)
    if text.startswith("file://"):
        return LocalFolder(Path(text.removeprefix("file://")), sync=sync)
    from freshet.spark.run.remote import RemoteFolder

    return RemoteFolder.at(text)


def framed(data: bytes) -> bytes:
    """Bytes with what it takes to see that they are whole."""
    return _HEAD.pack(_MAGIC, len(data), crc32(data)) + data


def unframed(whole: bytes, name: str) -> bytes:
    """The inverse of `framed`.

    >>> unframed(framed(b"rows")[:-1], "redo")
    Traceback (most recent call last):
      ...
    freshet.spark.run.files.Torn: 'redo' is damaged
    """
    if len(whole) >= _HEAD.size:
        magic, length, check = _HEAD.unpack_from(whole)
        data = whole[_HEAD.size :]
        if magic == _MAGIC and len(data) == length and crc32(data) == check:
            return data
    raise Torn(f"'{name}' is damaged")


class LocalFolder:
    """A folder of this machine, or one that all the machines have mounted."""

    def __init__(self, root: Path, *, sync: bool = False) -> None:
        self.root = root
        self.sync = sync

    def write(self, name: str, data: bytes, *, new: bool = False) -> None:
        """See `Folder`."""
        self._place(name, lambda path: self._fill(path, framed(data)), new)

    def read(self, name: str) -> bytes | None:
        """See `Folder`."""
        try:
            return unframed((self.root / name).read_bytes(), name)
        except FileNotFoundError:
            return None

    def names(self, folder: str = "") -> list[str]:
        """See `Folder`."""
        try:
            found = os.listdir(self.root / folder)
        except FileNotFoundError:
            return []
        return sorted(n for n in found if not n.startswith("."))

    def delete(self, names: Iterable[str]) -> None:
        """See `Folder`."""
        for name in names:
            (self.root / name).unlink(missing_ok=True)

    def put(self, name: str, source: Path) -> None:
        """See `Folder`."""
        self.write(f"{name}.sum", _check_of(source))  # first: there is no file without its sum
        self._place(name, lambda path: self._copy(source, path), new=False)

    def get(self, name: str, to: Path) -> bool:
        """See `Folder`."""
        try:
            wanted = self.read(f"{name}.sum")
            shutil.copyfile(self.root / name, to)
        except (FileNotFoundError, Torn):
            return False
        return wanted is not None and _check_of(to) == wanted

    def _place(self, name: str, fill: Any, new: bool) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.parent / f".{path.name}-{uuid.uuid4().hex}"
        try:
            fill(draft)
            if not new:
                os.replace(draft, path)
            else:
                os.link(draft, path)  # unlike a rename, it fails if the name is taken
        except FileExistsError as e:
            raise Taken(f"'{path}' is there already") from e
        finally:
            draft.unlink(missing_ok=True)
        if self.sync:
            _sync_folder(path.parent)

    def _fill(self, path: Path, data: bytes) -> None:
        with path.open("wb") as out:
            out.write(data)
            if self.sync:
                out.flush()
                os.fsync(out.fileno())

    def _copy(self, source: Path, path: Path) -> None:
        shutil.copyfile(source, path)
        if self.sync:
            with path.open("rb+") as out:
                os.fsync(out.fileno())


def _sync_folder(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _check_of(path: Path) -> bytes:
    """The length and a checksum of a file."""
    check = size = 0
    with path.open("rb") as source:
        while part := source.read(1 << 20):
            check = crc32(part, check)
            size += len(part)
    return struct.pack("<QI", size, check)
