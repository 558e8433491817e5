"""The commit of a pipeline: one small file, written when a version is finished."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from freshview.durable.batch_log import NO_VERSION, Note
from freshview.durable.loading import Loading, loading_from
from freshview.durable.storage.files import Folder


@dataclass(frozen=True, slots=True)
class Commit:
    """The last finished version.

    `after` is the mark of the last version of the workers, `driver_after` of the driver's.
    """

    version: int = -1
    after: str = NO_VERSION
    driver_after: str = NO_VERSION
    note: Note = field(default_factory=dict)
    loading: Loading | None = None
    """The last load, until its caller knows of its end."""
    epoch: int = 0
    """The epoch of the driver that wrote it."""


def write_commit(folder: Folder, commit: Commit) -> None:
    """Write that a version is finished."""
    folder.write("commit", json.dumps(asdict(commit)).encode())


def read_commit(folder: Folder) -> Commit:
    """The last commit."""
    data = folder.read("commit")
    if data is None:
        return Commit()
    record = json.loads(data)
    return Commit(**{**record, "loading": loading_from(record.get("loading"))})
