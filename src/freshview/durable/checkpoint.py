"""Checkpoints from outside: whether there is one, and what it says of itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from freshview.durable.storage.files import Folder, TornFile
from freshview.durable.storage.folders import folder_at
from freshview.errors import FreshviewError

FORMAT = 4
"""The format of checkpoints; those of another one are refused."""


class CheckpointProblem(FreshviewError):
    """A checkpoint that is not there, is damaged, or is of another program."""


def place_of(checkpoint: str | Path) -> str:
    """A checkpoint as every process may name it."""
    text = str(checkpoint)
    return text if "://" in text else str(Path(text).absolute())


@contextmanager
def checkpoint_errors(place: str) -> Iterator[None]:
    """While a checkpoint is begun or taken over: what its disk refuses is told in our words."""
    try:
        yield
    except TornFile as e:
        raise CheckpointProblem(
            f"the checkpoint in {place} cannot be read: {e}",
            instead="bring that file back, or begin anew in another folder",
        ) from e
    except OSError as e:
        raise CheckpointProblem(
            f"the checkpoint in {place} cannot be opened: {e.strerror or e}",
            instead="mend that, and start again; what is there stays as it is",
        ) from e


def checkpoint_exists(checkpoint: str | Path) -> bool:
    """Whether there is a checkpoint, be it damaged."""
    try:
        return describe(folder_at(place_of(checkpoint))) is not None
    except TornFile:
        return True


def describe(folder: Folder) -> dict[str, Any] | None:
    """What a checkpoint says of itself; None where there is none."""
    data = folder.read("pipeline")
    return None if data is None else dict(json.loads(data))
