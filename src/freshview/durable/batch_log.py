"""The log of batches: the rows of each version, written before any worker applies them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from freshview.durable.loading import Loading, loading_from
from freshview.durable.storage.blocks import Pieces
from freshview.durable.storage.files import Folder, TornFile

Note: TypeAlias = Mapping[str, Any]
"""What the owner of a version keeps with it, by name: values of JSON."""

NO_VERSION = ""
"""The mark of the state before any version."""


def mark(version: int, token: str) -> str:
    """The unique name of a version: its number, and a token that no other driver uses."""
    return f"{version:012}-{token}"


def version_of(mark: str) -> int:
    """The number of a version; -1 before any.

    >>> version_of(mark(12, "1f3a")), version_of(NO_VERSION)
    (12, -1)
    """
    return int(mark.partition("-")[0]) if mark else -1


@dataclass(frozen=True, slots=True)
class Entry:
    """The log entry of a batch, without its rows; `parts` are the workers that have some.

    `after` is the mark of the version that workers must have before this one, `driver_after`
    that of the driver: versions that failed, or in which they do nothing, are skipped.
    """

    mark: str
    routine: str
    after: str
    driver_after: str
    rows: int = 0
    parts: tuple[int, ...] = ()
    note: Note = field(default_factory=dict)
    loading: Loading | None = None

    @property
    def version(self) -> int:
        """Its number."""
        return version_of(self.mark)


class BatchLog:
    """The batches of a pipeline: for each version an entry, and the rows of every worker.

    Entries and rows are separate files, since chains of entries are read without rows.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def write_rows(self, mark: str, blocks: Sequence[Pieces]) -> tuple[int, ...]:
        """Write the rows of a batch, which count once it has an entry; the parts with rows."""
        parts = tuple(i for i, b in enumerate(blocks) if any(b))
        for part in parts:
            self.folder.write(_rows(mark, part), *blocks[part])
        return parts

    def write(self, entry: Entry) -> None:
        """Write the entry of a batch whose rows are written; `AlreadyExists` if there is one."""
        data = json.dumps(asdict(entry)).encode()
        self.folder.write(_entry(entry.version), data, new=True)

    def entry(self, version: int) -> Entry | None:
        """The entry of a version; None if it is missing, `TornFile` if it is damaged."""
        data = self.folder.read(_entry(version))
        if data is None:
            return None
        record = json.loads(data)
        return Entry(
            **{
                **record,
                "parts": tuple(record["parts"]),
                "loading": loading_from(record.get("loading")),
            }
        )

    def block(self, entry: Entry, part: int) -> bytes | memoryview:
        """The rows of one worker, or of the driver."""
        if part not in entry.parts:
            return b""
        data = self.folder.map(_rows(entry.mark, part))
        if data is None:
            raise TornFile(f"the rows of version {entry.version} for worker {part} are gone")
        return data

    def names(self) -> list[str]:
        """The names of all its files."""
        return self.folder.names("log")

    def drop(self, version: int, names: Sequence[str]) -> None:
        """Delete those of its files that belong to a discarded version, or to one after it.

        The last entry is deleted first, and rows after all the entries: after an interruption the
        rest is still a log.
        """
        left = [n for n in names if version_of(n) >= version]
        left.sort(key=lambda n: (n.endswith("-entry"), n), reverse=True)
        self.folder.delete(f"log/{n}" for n in left)

    def versions(self) -> list[int]:
        """The versions that have an entry, even a damaged one."""
        return [version_of(n) for n in self.names() if n.endswith("-entry")]

    def truncate(self, before: int) -> None:
        """Drop the versions before one."""
        old = [n for n in self.names() if version_of(n) < before]
        self.folder.delete(f"log/{n}" for n in old)


def _entry(version: int) -> str:
    return f"log/{version:012}-entry"


def _rows(name: str, part: int) -> str:
    return f"log/{name}-rows-{part:04}"
