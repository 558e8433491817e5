"""Outboxes: what versions have sent, until whoever follows them has taken it.

The outbox of a version is written before its commit, which names it; so a version that is finished
has one, however its driver ended, and one that is discarded has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from freshview.durable.batch_log import version_of
from freshview.durable.checkpoint import CheckpointProblem
from freshview.durable.storage.files import Folder, TornFile

FOLDER = "changes"
MOST = 200
"""Outboxes that are kept apart: where nobody takes them, more are merged."""
MERGED = "-from-"
"""What stands before the first of several versions, in the name of their outbox."""


def first_version(name: str) -> int:
    """The first version whose outbox is in one of that name.

    >>> first_version("000000000007-1f3a-from-4"), first_version("000000000007-1f3a")
    (4, 7)
    """
    _, _, first = name.partition(MERGED)
    return int(first) if first else version_of(name)


class Outboxes:
    """The outboxes in the folder of a checkpoint, by the marks of their versions."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def write(self, outboxes: Mapping[str, bytes]) -> tuple[str, ...]:
        """Write those that have something; their marks."""
        marks = tuple(mark for mark, data in outboxes.items() if data)
        for mark in marks:
            self.folder.write(f"{FOLDER}/{mark}", outboxes[mark])
        return marks

    def read(self, mark: str) -> bytes:
        """The outbox of a version that is finished."""
        name = f"{FOLDER}/{mark}"
        again = "restore it, or start over in another folder"
        try:
            data = self.folder.read(name)
        except TornFile as e:
            raise CheckpointProblem(f"the file of changes {e.what}", instead=again) from e
        if data is None:
            raise CheckpointProblem(
                f"the changes of version {version_of(mark)} are gone: the checkpoint has lost its "
                f"file '{name}'",
                instead=again,
            )
        return bytes(data)

    def merge(self, marks: Sequence[str], merged: Callable[[list[bytes]], bytes]) -> str:
        """Write one outbox for several versions; its name, which is that of the last of them."""
        last, _, _ = marks[-1].partition(MERGED)
        name = f"{last}{MERGED}{first_version(marks[0])}"
        self.folder.write(f"{FOLDER}/{name}", merged([self.read(m) for m in marks]))
        return name

    def drop(self, marks: Iterable[str]) -> None:
        """Delete some of them."""
        self.folder.delete(f"{FOLDER}/{mark}" for mark in marks)

    def drop_others(self, marks: Iterable[str]) -> None:
        """Delete all but these: versions that were never finished have left them."""
        kept = set(marks)
        self.drop(name for name in self.folder.names(FOLDER) if name not in kept)
