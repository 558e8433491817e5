"""Durable files on another file system, by Arrow: HDFS, S3, Google Cloud, Azure."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pyarrow.fs as pa_fs

from freshview.durable.storage.files import AlreadyExists, TornFile, head_of, read_whole

_REPLACED = ".replaced-"


class RemoteFolder:
    """A folder of a file system that Arrow knows; a `Folder`.

    Object stores write files atomically. Elsewhere a file is written to a draft and renamed, and
    what it replaces has another name meanwhile: a rename on HDFS does not overwrite, and a process
    may die at any moment.
    """

    def __init__(self, system: pa_fs.FileSystem, root: str) -> None:
        self.system = system
        self.root = root.rstrip("/")

    @classmethod
    def at(cls, url: str) -> RemoteFolder:
        """The folder at a URL."""
        return cls(*pa_fs.FileSystem.from_uri(url))

    def write(self, name: str, *data: bytes | memoryview, new: bool = False) -> None:
        """See `Folder`; whether the name exists is checked before, which is not atomic."""
        path = f"{self.root}/{name}"
        if new and (self._is_there(path) or self._is_there(_replaced(path))):
            raise AlreadyExists(f"'{path}' is there already")
        self._place(path, b"".join([head_of(name, *data), *data]))

    def read(self, name: str) -> bytes | None:
        """See `Folder`."""
        path = f"{self.root}/{name}"
        for there in (path, _replaced(path), path):  # it may be replaced while we look
            try:
                with self.system.open_input_file(there) as source:
                    return read_whole(source, name)
            except FileNotFoundError:
                continue
        return None

    def map(self, name: str) -> bytes | None:
        """See `Folder`."""
        return self.read(name)

    def names(self, folder: str = "") -> list[str]:
        """See `Folder`."""
        where = f"{self.root}/{folder}".rstrip("/")
        infos = self.system.get_file_info(pa_fs.FileSelector(where, allow_not_found=True))
        names = {f.base_name.removeprefix(_REPLACED) for f in infos}
        return sorted(n for n in names if not n.startswith("."))

    def delete(self, names: Iterable[str]) -> None:
        """See `Folder`."""
        for name in names:
            path = f"{self.root}/{name}"
            for there in (_replaced(path), path):  # the old content must not come back
                if self._is_there(there):
                    self.system.delete_file(there)

    def put(self, name: str, source: Path) -> None:
        """See `Folder`."""
        self.write(name, source.read_bytes())

    def get(self, name: str, to: Path) -> bool:
        """See `Folder`."""
        try:
            data = self.read(name)
        except TornFile:
            return False
        if data is not None:
            to.write_bytes(data)
        return data is not None

    def _is_there(self, path: str) -> bool:
        return bool(self.system.get_file_info(path).type != pa_fs.FileType.NotFound)

    def _place(self, path: str, data: bytes) -> None:
        parent, _, base = path.rpartition("/")
        self.system.create_dir(parent, recursive=True)
        if self.system.type_name in ("s3", "gcs", "abfs"):
            with self.system.open_output_stream(path) as out:
                out.write(data)
            return
        draft = f"{parent}/.{base}-{uuid.uuid4().hex}"
        try:
            with self.system.open_output_stream(draft) as out:
                out.write(data)
            self._replace(path, draft)
        except Exception:
            with suppress(OSError):  # what failed first is what counts
                self.system.delete_file(draft)
            raise

    def _replace(self, path: str, draft: str) -> None:
        """Let a draft take the place of a file, whose content is readable at every moment."""
        old = _replaced(path)
        if self._is_there(path):
            if self._is_there(old):
                self.system.delete_file(old)  # of a process that died when the new one was there
            self.system.move(path, old)
        self.system.move(draft, path)
        if self._is_there(old):
            self.system.delete_file(old)


def _replaced(path: str) -> str:
    """The path of the old content while a file is replaced."""
    parent, _, base = path.rpartition("/")
    return f"{parent}/{_REPLACED}{base}"
