"""Versions of some work, one after the other: logged, run, committed; or discarded."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Self, TypeVar

from freshview.durable.batch_log import Entry, Note, version_of
from freshview.durable.checkpoint import CheckpointProblem, checkpoint_exists, delete_description
from freshview.durable.commit import read_commit
from freshview.durable.commit_log import CommitLog, Interrupted, LoggedBatch, PackedBatch
from freshview.durable.coordinator import Coordinator
from freshview.durable.epoch import DriverFenced, claim
from freshview.durable.loading import Loading
from freshview.durable.runner import Runner
from freshview.durable.stats import BatchStats, batch_stats
from freshview.durable.step import LostState, StaleStep
from freshview.durable.storage.blocks import Pieces
from freshview.durable.storage.files import TornFile
from freshview.durable.storage.shared_memory import make_private
from freshview.durable.task import StepMetrics
from freshview.durable.work import Work
from freshview.errors import (
    BadRow,
    BadValue,
    BuildProblem,
    FreshviewError,
    FreshviewWarning,
    Overflow,
    ProgramProblem,
    SnapshotProblem,
)

T = TypeVar("T")


class Versions:
    """The versions of some work: each is applied exactly once, even if processes die.

    Not for several threads at once. A logged version is never lost and never counted twice: the
    next driver of the checkpoint continues with the first unfinished version.
    """

    coordinator_type: type[Coordinator] = Coordinator

    def __init__(self, work: Work, runner: Runner) -> None:
        """Take over the checkpoint of the work; jobs go to the runner."""
        self.work = work
        make_private(work.memory(work.driver))
        epoch = claim(work.folder, read_commit(work.folder).epoch)
        self._commit_log = CommitLog(work, epoch, read_commit(work.folder))
        runner.provide(work)
        self._coordinator = self.coordinator_type(work, runner, epoch)
        self._stats: deque[BatchStats] = deque(maxlen=work.settings.history)
        self._bases: dict[int, int] = {}
        self._intake_seconds = 0.0, 0.0
        self._closed = False
        self._workers_ahead = False
        """Whether workers may be ahead of the commit."""

    def _open_at(self, ready: str, blocks: Sequence[Pieces]) -> None:
        """Finish the logged versions; `ready` is the routine of the very first version.

        If the first one is refused, a later start finds no checkpoint, and reads everything again.
        """
        try:
            if self._commit_log.next_pending is None and self.version < 0:
                self._commit_log.append(
                    self._commit_log.append_rows(PackedBatch(ready, blocks, 0), 0), {}
                )
            self._finish()
        except (CheckpointProblem, DriverFenced, Interrupted):
            raise
        except FreshviewError:
            if self.version < 0:
                delete_description(self.work.folder)
                self.close()
            raise

    @staticmethod
    def exists(checkpoint: str | Path) -> bool:
        """Whether there is a checkpoint to restart from."""
        return checkpoint_exists(checkpoint)

    @property
    def version(self) -> int:
        """The number of the last batch that is in all the views; 0 after the static tables."""
        return self._commit_log.commit.version

    @property
    def epoch(self) -> int:
        """The epoch in which this driver writes."""
        return self._commit_log.epoch

    @property
    def note(self) -> Note:
        """The note of the last batch, such as offsets of a source."""
        return self._commit_log.commit.note

    @property
    def stats(self) -> tuple[BatchStats, ...]:
        """Metrics of the last batches, oldest first."""
        return tuple(self._stats)

    def catch_up(self) -> int:
        """Finish the logged versions; the current version."""
        self._finish()
        return self.version

    def checkpoint(self) -> int:
        """Make every worker write a snapshot now, and truncate the logs; the version."""
        self._finish()
        self._bases |= self._safely(lambda: self._coordinator.save(self._commit_log.commit))
        self._commit_log.truncate(self._bases)
        return self.version

    def close(self, *, forget: bool = True) -> None:
        """Stop; with `forget`, release the workers' shared memory. The checkpoint stays."""
        if not self._closed:
            self._closed = True
            self._coordinator.close(forget=forget)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---------------------------------------------------------------- a batch

    def _run_batch(
        self,
        batch: LoggedBatch,
        note: Note,
        intake: float,
        written: float = 0.0,
        loading: Loading | None = None,
    ) -> None:
        """Log a batch as the next version, and run it."""
        began = time.perf_counter()
        self._commit_log.append(batch, note, loading)
        self._intake_seconds = intake, written + time.perf_counter() - began
        self._finish(own=version_of(batch.mark))

    def _run_together(
        self,
        ready: Callable[[int], tuple[LoggedBatch, Note, Loading]],
        numbers: Sequence[int],
    ) -> None:
        """Run batches as the next versions, while the next ones are written to the log.

        All of them are one job: its tasks follow the log. If that fails, the rest run one by one,
        and report the error.
        """
        began, first = time.perf_counter(), self.version + 1
        versions = range(first, first + len(numbers))
        epoch, lost = self._coordinator.epoch, Event()

        def write() -> None:
            try:
                for n in numbers:
                    logged = ready(n)
                    if lost.is_set():
                        return
                    self._commit_log.append(*logged)
            except BaseException:
                self._next_epoch()  # workers stop waiting for it
                raise

        def pending() -> list[Entry]:
            wait([written])
            return self._commit_log.pending

        self._workers_ahead = True
        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(write)
            try:
                followed = self._safely(lambda: self._coordinator.follow(epoch, versions, pending))
            except BaseException:
                lost.set()
                wait([written])
                with suppress(FreshviewError):
                    self._next_epoch()  # remaining tasks stop waiting
                raise
        through = [e for e in self._commit_log.pending if e.version <= followed.version]
        if through:
            outboxes = {e.mark: followed.outboxes[e.version] for e in through}
            self._commit_log.mark_done(through[-1], outboxes)
            rows, elapsed = sum(e.rows for e in through), time.perf_counter() - began
            self._record(through[-1].version, rows, elapsed, 1, followed.steps)
        self._finish(own=first)
        written.result()

    def _next_epoch(self) -> None:
        """Begin another epoch: workers that are ahead of the commit roll back to it."""
        self._coordinator.epoch = self._commit_log.next_epoch()

    def _finish(self, own: int | None = None) -> None:
        """Run the logged versions that are not finished; this call has logged those since `own`."""
        if self._closed:
            raise ProgramProblem("the flow is closed", instead="restart it from its checkpoint")
        if self._workers_ahead and self._commit_log.pending:
            self._next_epoch()
        self._workers_ahead = False
        while (entry := self._commit_log.next_pending) is not None:
            try:
                self._run_version(entry)
            except (CheckpointProblem, DriverFenced, Interrupted):
                raise
            except FreshviewError as e:
                self._give_up(entry, e, own=own is not None and entry.version >= own)

    def _give_up(self, entry: Entry, e: FreshviewError, *, own: bool) -> None:
        """Discard a version that failed, and report that: an error for the call that logged it.

        Of an earlier call nobody waits for its error: only a batch that can never be applied is
        discarded, with a warning. After any other error it stays in the log.
        """
        refused = isinstance(e, (BadRow, BadValue, Overflow))
        if not own and not refused:
            raise self._commit_log.interrupted(e) from e
        self._commit_log.discard(entry)
        if own or self.version < 0:
            raise e
        warnings.warn(
            f"a batch that was logged and not finished is in no view, since it is refused: {e}",
            FreshviewWarning,
            stacklevel=5,
        )

    def _run_version(self, entry: Entry) -> None:
        """Run a version and commit it."""
        began = time.perf_counter()
        metrics = self._safely(lambda: self._coordinator.step(entry))
        self._commit_log.mark_done(entry, {entry.mark: metrics.outbox})
        self._bases[self.work.driver] = metrics.driver_base
        elapsed = time.perf_counter() - began
        self._record(entry.version, entry.rows, elapsed, metrics.jobs, metrics.steps)

    def _record(
        self, version: int, rows: int, seconds: float, jobs: int, steps: Sequence[StepMetrics]
    ) -> None:
        """Record the metrics of a version, and truncate the log."""
        stats = batch_stats(version, rows, seconds, jobs, self._coordinator.driver_bytes, steps)
        intake, written = self._intake_seconds
        self._intake_seconds = 0.0, 0.0
        self._stats.append(replace(stats, intake=intake, written=written))
        self._bases |= {f.part: f.base for f in steps}
        self._commit_log.truncate(self._bases)

    def _safely(self, work: Callable[[], T]) -> T:
        """Run something on the workers; report failures as `CheckpointProblem` or `Interrupted`."""
        try:
            return work()
        except (LostState, StaleStep, TornFile, BuildProblem, SnapshotProblem) as e:
            raise CheckpointProblem(f"the state cannot be rebuilt: {e}") from e
        except FreshviewError:
            raise
        except Exception as e:
            raise self._commit_log.interrupted(e) from e
