"""How far a pipeline has come: one small file, written when a version is done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from freshview.durable.batch_log import NO_VERSION
from freshview.durable.loading import Loading, loading_from
from freshview.durable.storage.files import Folder


@dataclass(frozen=True, slots=True)
class Commit:
    """The last version that is done.

    `after` is the mark of the last one that workers took part in, `driver_after` of the driver's.
    """

    version: int = -1
    after: str = NO_VERSION
    driver_after: str = NO_VERSION
    note: Mapping[str, Any] = field(default_factory=dict)
    loading: Loading | None = None
    """The last load, until its end is told."""
    epoch: int = 0
    """That of the driver who said it."""


def write_commit(folder: Folder, commit: Commit) -> None:
    """Say that a version is done."""
    folder.write("commit", json.dumps(asdict(commit)).encode())


def read_commit(folder: Folder) -> Commit:
    """What was said last."""
    data = folder.read("commit")
    if data is None:
        return Commit()
    record = json.loads(data)
    return Commit(**{**record, "loading": loading_from(record.get("loading"))})
