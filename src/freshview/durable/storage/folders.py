"""The folder at a path or a URL."""

from __future__ import annotations

from pathlib import Path

from freshview.durable.storage.files import Folder, LocalFolder
from freshview.durable.storage.remote_files import RemoteFolder


def folder_at(place: str | Path, *, sync: bool = False) -> Folder:
    """The folder at a path, or at a URL of any file system that Arrow knows (`hdfs://`, `s3://`)."""
    text = str(place)
    if "://" not in text:
        return LocalFolder(Path(text), sync=sync)
    if text.startswith("file://"):
        return LocalFolder(Path(text.removeprefix("file://")), sync=sync)
    return RemoteFolder.at(text)
