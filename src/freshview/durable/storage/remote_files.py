"""Durable files on another file system, by Arrow: HDFS, S3, Google Cloud, Azure."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.fs as pa_fs

from freshview.durable.storage.files import AlreadyExists, TornFile, head_of, read_whole


class RemoteFolder:
    """A folder of a file system that Arrow knows; a `Folder`.

    Object stores write files atomically; elsewhere a file is written to a draft and renamed.
    """

    def __init__(self, system: Any, root: str) -> None:
        self.system = system
        self.root = root.rstrip("/")

    @classmethod
    def at(cls, url: str) -> RemoteFolder:
        """The folder at a URL."""
        return cls(*pa_fs.FileSystem.from_uri(url))

    def write(self, name: str, *data: bytes | memoryview, new: bool = False) -> None:
        """See `Folder`; whether the name exists is checked before, which is not atomic."""
        path = f"{self.root}/{name}"
        if new and self._is_there(path):
            raise AlreadyExists(f"'{path}' is there already")
        self._place(path, b"".join([head_of(name, *data), *data]))

    def read(self, name: str) -> bytes | None:
        """See `Folder`."""
        try:
            with self.system.open_input_file(f"{self.root}/{name}") as source:
                return read_whole(source, name)
        except FileNotFoundError:
            return None

    def map(self, name: str) -> bytes | None:
        """See `Folder`."""
        return self.read(name)

    def names(self, folder: str = "") -> list[str]:
        """See `Folder`."""
        where = f"{self.root}/{folder}".rstrip("/")
        infos = self.system.get_file_info(pa_fs.FileSelector(where, allow_not_found=True))
        return sorted(f.base_name for f in infos if not f.base_name.startswith("."))

    def delete(self, names: Iterable[str]) -> None:
        """See `Folder`."""
        for name in names:
            if self._is_there(f"{self.root}/{name}"):
                self.system.delete_file(f"{self.root}/{name}")

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
        with self.system.open_output_stream(draft) as out:
            out.write(data)
        if self._is_there(path):
            self.system.delete_file(path)  # a rename on HDFS does not overwrite
        self.system.move(draft, path)
