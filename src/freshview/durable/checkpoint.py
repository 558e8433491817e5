"""Checkpoints from outside: whether there is one, and its description."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from freshview.durable.batch_log import BatchLog
from freshview.durable.commit import read_commit
from freshview.durable.epoch import DriverFenced
from freshview.durable.storage.files import AlreadyExists, Folder, TornFile
from freshview.durable.storage.folders import folder_at
from freshview.errors import FreshviewError

FORMAT = 5
"""The format of checkpoints; those of another one are refused."""

Description: TypeAlias = dict[str, Any]
"""What a checkpoint says of its work, by name: values of JSON."""

DESCRIPTION = "pipeline"
"""The file that makes a folder a checkpoint."""


class CheckpointProblem(FreshviewError):
    """A checkpoint that is missing, damaged, or belongs to another program."""


def place_of(checkpoint: str | Path) -> str:
    """The absolute path or URL of a checkpoint, the same for every process."""
    text = str(checkpoint)
    return text if "://" in text else str(Path(text).absolute())


@contextmanager
def checkpoint_errors(place: str) -> Iterator[None]:
    """While a checkpoint is opened: report errors of its storage as `CheckpointProblem`."""
    try:
        yield
    except TornFile as e:
        raise CheckpointProblem(
            f"the checkpoint in {place} cannot be read: {e}",
            instead="restore that file, or start over in another folder",
        ) from e
    except AlreadyExists as e:
        raise CheckpointProblem(
            f"another pipeline has started in {place} meanwhile",
            instead="restart from its checkpoint, or start in another folder",
        ) from e
    except OSError as e:
        raise CheckpointProblem(
            f"the checkpoint in {place} cannot be opened: {e.strerror or e}",
            instead="fix the cause and start again; the checkpoint is unchanged",
        ) from e


def checkpoint_exists(checkpoint: str | Path) -> bool:
    """Whether there is a checkpoint, even a damaged one."""
    try:
        return describe(folder_at(place_of(checkpoint))) is not None
    except TornFile:
        return True


def check_new(folder: Folder, place: str) -> None:
    """Refuse to start where a checkpoint is, whole or not; delete what a failed start has left."""
    if describe(folder) is not None:
        raise CheckpointProblem(
            f"there is a checkpoint in {place} already",
            instead="restart from it, or start in another folder",
        )
    log = BatchLog(folder)
    if read_commit(folder).version >= 0 or max(log.versions(), default=0) > 0:
        raise CheckpointProblem(
            f"the checkpoint in {place} has lost its file '{DESCRIPTION}'",
            instead="restore that file, or start over in another folder",
        )
    log.drop(0, log.names())


@contextmanager
def new_checkpoint(folder: Folder, description: Mapping[str, object]) -> Iterator[None]:
    """Write the description of a new checkpoint, and delete it if what follows fails."""
    folder.write(DESCRIPTION, json.dumps({"format": FORMAT, **description}).encode(), new=True)
    try:
        yield
    except DriverFenced:
        raise
    except (OSError, FreshviewError):
        delete_description(folder)
        raise


def described(place: str, key: str, what: str) -> Description:
    """The description in a checkpoint of some kind of work, which is known by a key in it."""
    description = describe(folder_at(place))
    if description is None:
        raise CheckpointProblem(f"there is no checkpoint in {place}", instead="start a new one")
    if description["format"] != FORMAT or key not in description:
        raise CheckpointProblem(
            f"{place} is not a checkpoint of a {what} of this version of Freshview",
            instead="start over in another folder",
        )
    return description


def delete_description(folder: Folder) -> None:
    """After a start that failed: nothing is in the views, so that there is no checkpoint."""
    with suppress(OSError):
        folder.delete([DESCRIPTION])


def describe(folder: Folder) -> Description | None:
    """The description in a checkpoint; None where there is none."""
    data = folder.read(DESCRIPTION)
    return None if data is None else dict(json.loads(data))
