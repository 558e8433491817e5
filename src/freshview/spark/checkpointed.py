"""What a user of Spark holds of versions with a checkpoint, be it a join, signals or matrices."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Self

from freshview.durable.checkpoint import checkpoint_exists
from freshview.durable.stats import BatchStats
from freshview.durable.versions import Versions


class Checkpointed:
    """State that goes on from version to version, until it is closed."""

    _flow: Versions
    _scratch: str
    """The folder of a state that is discarded in the end; "" where there is a checkpoint."""

    @staticmethod
    def exists(checkpoint: str | Path) -> bool:
        """Whether there is a checkpoint to restart from."""
        return checkpoint_exists(checkpoint)

    @property
    def version(self) -> int:
        """The number of changes that were applied, failed ones included."""
        return self._flow.version

    @property
    def stats(self) -> tuple[BatchStats, ...]:
        """Metrics of the last batches, oldest first: jobs, stages, seconds, bytes."""
        return self._flow.stats

    def checkpoint(self) -> int:
        """Make every partition write a snapshot now, and truncate the logs; the version.

        What repeats the last output afterwards needs the memory of the workers: ask it before.
        """
        self._finish_earlier()
        return self._flow.checkpoint()

    def close(self, *, forget: bool = True) -> None:
        """Stop; with `forget`, release what the workers hold. The checkpoint stays."""
        self._flow.close(forget=forget)
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _finish_earlier(self) -> object:
        """Finish the batch of a call that was interrupted."""
