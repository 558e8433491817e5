"""Dead letters: malformed rows with the reason, in a file per relation and batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from freshview.errors import FreshviewError
from freshview.files import write_whole
from freshview.runtime.ingest.file_names import file_name
from freshview.spark.io.rows import RejectedRow


class DeadLetters:
    """A folder with a file of JSON lines per relation and batch.

    A batch always writes the same files: a repeated one adds nothing, and deletes those of rows
    that it does not reject any more.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._counts: dict[str, int] = {}

    @property
    def count(self) -> int:
        """The number of dead letters of this run."""
        return sum(self._counts.values())

    def write(self, batch: str, relations: Iterable[str], rejected: Sequence[RejectedRow]) -> None:
        """Write the rejected rows of a batch of these relations."""
        for relation in relations:
            rows = [r for r in rejected if r.relation == relation]
            self._write(self.folder / file_name(relation) / f"{batch}.jsonl", rows)
        if rejected:
            self._counts[batch] = len(rejected)
        else:
            self._counts.pop(batch, None)

    def _write(self, path: Path, rows: Sequence[RejectedRow]) -> None:
        lines = [json.dumps({"reason": r.reason, "row": r.row}, ensure_ascii=False) for r in rows]
        try:
            if not rows:
                path.unlink(missing_ok=True)
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, ("\n".join(lines) + "\n").encode(), one_writer=True)
        except OSError as e:
            raise FreshviewError(
                f"malformed rows cannot be kept in '{path}': {e.strerror}",
                instead="choose another folder for them",
            ) from e
