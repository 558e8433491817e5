"""Versions of some work, one after the other: written down, done, committed; or given up."""

from __future__ import annotations

import re
import time
import uuid
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from freshet.errors import FreshetError, ProgramProblem
from freshet.spark.run.checkpoint import CheckpointProblem, is_there
from freshet.spark.run.commit import Commit, read_commit, write_commit
from freshet.spark.run.conduct import Conductor
from freshet.spark.run.epoch import TakenOver, claim, fence
from freshet.spark.run.files import Taken, Torn
from freshet.spark.run.log import Entry, mark
from freshet.spark.run.runner import Runner
from freshet.spark.run.snapshots import snapshot_names
from freshet.spark.run.stats import BatchStats, batch_stats
from freshet.spark.run.work import Work
from freshet.spark.run.worker import Lost, Stale


class Interrupted(FreshetError):
    """A batch that is written down, and not done: whatever is asked next goes on with it."""


class Versions:
    """The versions of some work: each is done once, whatever dies.

    Not for several threads at once. What was written down is never lost and never counted twice:
    whoever opens the checkpoint next goes on with the first version that was not finished.
    """

    conducts: type[Conductor] = Conductor

    def __init__(self, work: Work, spark: Any) -> None:
        """Take over the checkpoint of the work; `spark` is a session, or a `Runner`."""
        self.work = work
        self._epoch = claim(work.folder)
        self._commit = read_commit(work.folder)
        self._undone: Entry | None = None
        self._stats: deque[BatchStats] = deque(maxlen=work.settings.history)
        self._conductor = self.conducts(work, runner_of(spark, work.workers), self._epoch)
        self._bases: dict[int, int] = {}
        self._taken = 0.0, 0.0
        self._closed = False

    def _open_at(self, ready: str, blocks: list[bytes]) -> None:
        """Go on with what was not finished; `ready` is the routine of the first version of all."""
        self._undone = self._written(self.version + 1)
        if self._undone is None and self.version < 0:
            self._write(ready, blocks, 0, {})
        self._finish()

    @staticmethod
    def exists(checkpoint: str | Path) -> bool:
        """Whether there is a checkpoint to restart from."""
        return is_there(checkpoint)

    @property
    def version(self) -> int:
        """The number of the last batch that is in all the views; 0 after the static tables."""
        return self._commit.version

    @property
    def note(self) -> Mapping[str, Any]:
        """What was told beside the last batch, as offsets of a source."""
        return self._commit.note

    @property
    def stats(self) -> tuple[BatchStats, ...]:
        """Figures of the last batches, oldest first."""
        return tuple(self._stats)

    def checkpoint(self) -> int:
        """Make every worker write a snapshot now, and drop the logs before it; the version."""
        self._finish()
        self._bases |= self._safely(lambda: self._conductor.save(self._commit))
        self._truncate()
        return self.version

    def close(self, *, forget: bool = True) -> None:
        """Stop; with `forget`, give the workers' shared memory back. The checkpoint stays."""
        if not self._closed:
            self._closed = True
            self._conductor.close(forget=forget)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, routine: str, blocks: list[bytes], rows: int, note: Mapping[str, Any]) -> None:
        """From here on the batch is part of the pipeline, whatever happens."""
        name = mark(self.version + 1, uuid.uuid4().hex[:12])
        after, driver_after = self._commit.after, self._commit.driver_after
        parts = tuple(i for i, b in enumerate(blocks) if b)
        entry = Entry(name, routine, after, driver_after, rows, parts, note)
        try:
            fence(self.work.folder, self._epoch)
            self.work.log.write(entry, blocks)
        except Taken as e:
            raise TakenOver(
                "another driver has taken this pipeline over", instead="stop this one"
            ) from e
        except OSError as e:
            raise CheckpointProblem(
                f"the batch cannot be written down: {e.strerror or e}",
                instead="nothing is changed; apply it again when that is mended",
            ) from e
        self._undone = entry

    def _written(self, version: int) -> Entry | None:
        """The entry of a version; a torn one was never answered for, and goes."""
        found = self.work.log.entry(version)
        if found is None:
            self.work.log.drop(version)
        return found

    # ---------------------------------------------------------------- a batch, done

    def _finish(self) -> None:
        """Do what was written down and is not done."""
        if self._closed:
            raise ProgramProblem("the flow is closed", instead="restart it from its checkpoint")
        entry = self._undone
        if entry is None:
            return
        began = time.perf_counter()
        try:
            told = self._safely(lambda: self._conductor.step(entry))
        except (CheckpointProblem, TakenOver, Interrupted):
            raise
        except FreshetError:
            self._give_up(entry)
            raise
        self._done(entry)
        seconds = time.perf_counter() - began
        driver = self._conductor.driver_bytes
        found = batch_stats(entry.version, entry.rows, seconds, told.jobs, driver, told.figures)
        intake, written = self._taken
        self._taken = 0.0, 0.0
        self._stats.append(replace(found, intake=intake, written=written))
        self._bases |= {f.part: f.base for f in told.figures}
        self._bases[self.work.driver] = told.driver_base
        self._truncate()

    def _done(self, entry: Entry) -> None:
        work = self.work
        took_part = bool(work.rounds[entry.routine].jobs)
        driver = bool(work.steps(entry.routine, work.driver))
        self._say(
            Commit(
                entry.version,
                entry.mark if took_part else entry.after,
                entry.mark if driver else entry.driver_after,
                entry.note,
            )
        )

    def _give_up(self, entry: Entry) -> None:
        """A batch that cannot be: its version is used up, and all are as before it."""
        for part in range(self.work.workers + 1):
            self.work.folder.delete(snapshot_names(part, entry.mark))
        self._say(replace(self._commit, version=entry.version))

    def _say(self, commit: Commit) -> None:
        try:
            fence(self.work.folder, self._epoch)
            write_commit(self.work.folder, commit)
        except OSError as e:
            raise self._interrupted(e) from e
        self._commit = commit
        self._undone = None

    def _safely(self, work: Any) -> Any:
        """Do something on the workers; what goes wrong is told in our words."""
        try:
            return work()
        except (Lost, Stale, Torn) as e:
            raise CheckpointProblem(f"the state cannot be rebuilt: {e}") from e
        except FreshetError:
            raise
        except Exception as e:
            raise self._interrupted(e) from e

    def _interrupted(self, e: Exception) -> Interrupted:
        if self._undone is None:
            return Interrupted(f"the workers failed: {_cause(e)}", instead="mend that, ask again")
        return Interrupted(
            f"version {self._undone.version} is written down and not done: {_cause(e)}",
            instead="mend that; whatever is asked next goes on with it",
        )

    def _truncate(self) -> None:
        """Drop the log before what every part has in its snapshots."""
        now, needed = self._commit, []
        for part in range(self.work.workers + 1):
            after = now.driver_after if part == self.work.driver else now.after
            base = self._bases.get(part, -1)
            needed.append(now.version if not after or base == int(after[:12]) else base)
        if min(needed) > 0:
            self.work.log.truncate(min(needed))


def runner_of(spark: Any, workers: int) -> Runner:
    """Jobs on a session, or the runner itself."""
    if hasattr(spark, "sparkContext"):
        from freshet.spark.run.cluster import SparkRunner

        return SparkRunner(spark, workers)
    runner: Runner = spark
    return runner


def _cause(e: Exception) -> str:
    """What went wrong, in one line: Spark tells it somewhere in a long text."""
    lines = str(e).splitlines() or [repr(e)]
    named = [line for line in lines if re.match(r"[A-Za-z_][\w.]*(Error|Exception|Lost): ", line)]
    return (named or lines)[-1 if named else 0]
