"""The commit of a pipeline: one small file, written when a version is finished.

Each epoch has a file of its own, and that of the highest one counts. So a commit that a fenced
driver writes late changes nothing.
"""

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
    outboxes: tuple[str, ...] = ()
    """The marks of the versions whose outboxes somebody may still ask for (`outbox.py`)."""
    received: int = -1
    """The version up to which nobody will: all of it was received."""


def write_commit(folder: Folder, commit: Commit) -> None:
    """Write that a version is finished."""
    folder.write(_name(commit.epoch), json.dumps(asdict(commit)).encode())


def read_commit(folder: Folder) -> Commit:
    """The last commit."""
    while epochs := _epochs(folder):
        data = folder.read(_name(max(epochs)))
        if data is not None:  # else a newer driver has deleted it meanwhile
            record = json.loads(data)
            loading, marks = loading_from(record.get("loading")), record.get("outboxes", ())
            return Commit(**{**record, "loading": loading, "outboxes": tuple(marks)})
    return Commit()


def drop_commits(folder: Folder, before: int) -> None:
    """Delete the commits of the epochs before one."""
    folder.delete(_name(n) for n in _epochs(folder) if n < before)


def _epochs(folder: Folder) -> list[int]:
    return [int(n) for n in folder.names("commit") if n.isdecimal()]


def _name(epoch: int) -> str:
    return f"commit/{epoch:09}"
