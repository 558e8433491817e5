"""The log of batches: what each version is made of, fixed before anybody works on it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from freshview.durable.loading import Loading, loading_from
from freshview.durable.storage.blocks import Pieces
from freshview.durable.storage.files import Folder, TornFile

NO_VERSION = ""
"""The mark of the time before any version."""


def mark(version: int, token: str) -> str:
    """The name of a version for good: its number, and a token that no other driver gives it."""
    return f"{version:012}-{token}"


def version_of(mark: str) -> int:
    """The number of a version; -1 before any.

    >>> version_of(mark(12, "1f3a")), version_of(NO_VERSION)
    (12, -1)
    """
    return int(mark.partition("-")[0]) if mark else -1


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a batch without its rows; `parts` are the workers that have some.

    `after` is the mark of the version that workers must have before this one, `driver_after`
    that of the driver: versions that failed, or in which they do nothing, are left out.
    """

    mark: str
    routine: str
    after: str
    driver_after: str
    rows: int = 0
    parts: tuple[int, ...] = ()
    note: Mapping[str, Any] = field(default_factory=dict)
    loading: Loading | None = None

    @property
    def version(self) -> int:
        """Its number."""
        return version_of(self.mark)


class BatchLog:
    """The batches of a pipeline: for each version an entry, and the rows of every worker.

    They are files of their own, since chains of entries are read without rows.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def write_rows(self, mark: str, blocks: Sequence[Pieces]) -> tuple[int, ...]:
        """The rows of a batch, which mean nothing until there is an entry; the parts with some."""
        parts = tuple(i for i, b in enumerate(blocks) if any(b))
        for part in parts:
            self.folder.write(_rows(mark, part), *blocks[part])
        return parts

    def write(self, entry: Entry) -> None:
        """Fix a batch whose rows are written; `Taken` if its version is fixed already."""
        data = json.dumps(asdict(entry)).encode()
        self.folder.write(_entry(entry.version), data, new=True)

    def entry(self, version: int) -> Entry | None:
        """The entry of a version; None if it was never finished."""
        try:
            data = self.folder.read(_entry(version))
        except TornFile:
            return None
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

    def drop(self, version: int) -> None:
        """Take away what is left of a version that is not to be, and of those after it.

        The last entry goes first, and rows after all the entries: whenever this is cut short, what
        is left is a log.
        """
        left = [n for n in self.folder.names("log") if version_of(n) >= version]
        left.sort(key=lambda n: (n.endswith("-entry"), n), reverse=True)
        self.folder.delete(f"log/{n}" for n in left)

    def versions(self) -> list[int]:
        """The versions that have an entry, be it damaged."""
        return [version_of(n) for n in self.folder.names("log") if n.endswith("-entry")]

    def truncate(self, before: int) -> None:
        """Drop the versions before one."""
        old = [n for n in self.folder.names("log") if version_of(n) < before]
        self.folder.delete(f"log/{n}" for n in old)


def _entry(version: int) -> str:
    return f"log/{version:012}-entry"


def _rows(name: str, part: int) -> str:
    return f"log/{name}-rows-{part:04}"
