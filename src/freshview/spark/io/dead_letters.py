"""Dead letters: malformed rows with the reason, in a file per relation and batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from freshview.errors import FreshviewError
from freshview.files import write_whole
from freshview.runtime.ingest.file_names import file_name
from freshview.spark.io.rows import RejectedRow


class DeadLetters:
    """A folder with a file of JSON lines per relation and batch.

    A batch always writes the same file: a repeated one adds nothing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._counts: dict[str, int] = {}

    @property
    def count(self) -> int:
        """The number of dead letters of this run."""
        return sum(self._counts.values())

    def write(self, batch: str, rejected: Sequence[RejectedRow]) -> None:
        """Write the rejected rows of a batch."""
        for relation, rows in groupby(
            sorted(rejected, key=attrgetter("relation")), attrgetter("relation")
        ):
            self._write(self.folder / file_name(relation) / f"{batch}.jsonl", rows)
        if rejected:
            self._counts[batch] = len(rejected)

    def _write(self, path: Path, rows: Iterable[RejectedRow]) -> None:
        lines = [json.dumps({"reason": r.reason, "row": r.row}, ensure_ascii=False) for r in rows]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, ("\n".join(lines) + "\n").encode(), one_writer=True)
        except OSError as e:
            raise FreshviewError(
                f"malformed rows cannot be kept in '{path}': {e.strerror}",
                instead="choose another folder for them",
            ) from e
