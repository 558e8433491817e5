"""A flow: a distributed program that runs on Spark, batch after batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]

from freshet.calculus.functions import BUILTINS, Functions
from freshet.errors import FreshetError
from freshet.spark.run.settings import Settings
from freshet.spark.terms import Distributed

Batch: TypeAlias = pa.Table | pa.RecordBatch | Iterable[pa.RecordBatch]
"""Rows of a relation by its column names; `node.COUNT`, if there, says how often each comes."""


class CheckpointProblem(FreshetError):
    """A checkpoint that is not there, is damaged, or is of another program."""


class TakenOver(FreshetError):
    """Another driver has gone on from the same checkpoint: this one must stop."""


@dataclass(frozen=True, slots=True)
class StageStats:
    """One stage of a batch: the seconds of its slowest worker, and the bytes that it sent."""

    seconds: float
    sent: int


@dataclass(frozen=True, slots=True)
class BatchStats:
    """What one batch took."""

    version: int
    rows: int
    seconds: float
    jobs: int
    stages: tuple[StageStats, ...]
    state: int
    """Bytes of all the maps, on the workers and on the driver."""
    rebuilt: int = 0
    """How many workers had to rebuild their maps from snapshots and logs."""

    @property
    def shuffled(self) -> int:
        """Bytes that went from workers to workers."""
        return sum(s.sent for s in self.stages)


@dataclass
class Flow:
    """A distributed program that runs on Spark.

    Not for several threads at once. A batch that `apply` has taken is never lost and never
    counted twice: it is written down before it is worked on, and `restart` goes on with the first
    one that was not finished.

        flow = Flow.start(distribute(program), session(), workers=4, checkpoint="/data/shop")
        version = flow.apply({"orders": table})
        flow.read("revenue")
    """

    made: Distributed
    version: int = 0
    """The number of the last batch that is in all the views; 0 after the static tables."""
    note: Mapping[str, Any] = field(default_factory=dict)
    """What was told beside the batch of this version, as offsets of a source."""

    @classmethod
    def start(
        cls,
        made: Distributed,
        spark: Any,
        *,
        workers: int,
        checkpoint: str | Path,
        tables: Mapping[str, Batch] | None = None,
        functions: Functions = BUILTINS,
        settings: Settings | None = None,
    ) -> Flow:
        """Begin in an empty folder `checkpoint` (a path, or a URL of a Hadoop file system).

        `tables` are the rows of the static tables. `spark` is a classic SparkSession.
        """
        raise NotImplementedError

    @classmethod
    def restart(
        cls,
        made: Distributed,
        spark: Any,
        *,
        checkpoint: str | Path,
        workers: int | None = None,
        functions: Functions = BUILTINS,
        settings: Settings | None = None,
    ) -> Flow:
        """Go on from a checkpoint of the same program, whatever became of the driver before.

        The number of workers is that of the checkpoint; to give another one is an error.
        """
        raise NotImplementedError

    @staticmethod
    def exists(checkpoint: str | Path) -> bool:
        """Whether there is a checkpoint to restart from."""
        raise NotImplementedError

    def apply(self, changes: Mapping[str, Batch], note: Mapping[str, Any] | None = None) -> int:
        """A batch of changes of several relations, as one change; its version.

        When it returns, every view has the batch. If the rows do not fit (`BadRow`, `Overflow`),
        nothing is changed and the version is used up. `note` (JSON) is kept with the batch: after
        a restart `flow.note` is the one of the last batch that was taken.
        """
        raise NotImplementedError

    def read(self, query: str) -> pa.Table:
        """The rows of a query at the current version, in its order; equal rows stand repeated."""
        raise NotImplementedError

    @property
    def stats(self) -> tuple[BatchStats, ...]:
        """Figures of the last batches, oldest first."""
        raise NotImplementedError

    def checkpoint(self) -> int:
        """Make every worker write a snapshot now, and drop the logs before it; the version."""
        raise NotImplementedError

    def close(self, *, forget: bool = True) -> None:
        """Stop; with `forget`, give the workers' shared memory back. The checkpoint stays."""
        raise NotImplementedError

    def __enter__(self) -> Flow:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
