"""The signal query on Spark: one job a batch, groups in its partitions, state that survives."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path
from typing import Any, Self

from freshview.durable.checkpoint import (
    CheckpointProblem,
    check_new,
    checkpoint_errors,
    described,
    new_checkpoint,
    place_of,
)
from freshview.durable.commit_log import PackedBatch
from freshview.durable.settings import FlowSettings
from freshview.durable.storage.folders import folder_at
from freshview.durable.task import MOST_WORKERS
from freshview.errors import FreshviewError
from freshview.signal.execute.events import Events
from freshview.signal.execute.query import Admitted
from freshview.signal.execute.snapshot import pack_progress, plan_hash, restore_progress
from freshview.signal.language.events import EventOperators
from freshview.spark.checkpointed import Checkpointed
from freshview.spark.one_job import BATCH
from freshview.spark.reporting import ReportingFlow
from freshview.spark.runner import runner_of
from freshview.spark.session import session
from freshview.spark.signal.groups import keys_of, pack_share, shares, together
from freshview.spark.signal.work import SignalWork


class SignalFlow(ReportingFlow):
    """The partitions of a query, version after version."""

    def run(self, tables: list[bytes], rows: int, driver: bytes) -> None:
        """Take in a batch as the next version; `driver` is logged with it."""
        packed = PackedBatch(BATCH, [[block] for block in (*tables, driver)], rows)
        self._run_batch(self._commit_log.append_rows(packed, self.version + 1), {}, 0.0)


class SparkSignalQuery(Checkpointed):
    """A signal query whose groups are hashed over the partitions of a Spark job.

    The same plans as in one process, and the same answers, to the last bit. A batch is one job. It
    is logged before it is run, and taken in exactly once, even if processes die: `restart` goes on
    from the `checkpoint`, and `output` gives the changes of the last version again.

    - `spark` is the session to use; by default the active one, or a new one on `master`.
    - `checkpoint` is a folder, the same on all machines; without one, the state is discarded when
      the query is closed.
    - `workers` is the number of partitions.
    """

    _flow: SignalFlow

    def __init__(
        self,
        plan: EventOperators,
        *,
        spark: Any = None,
        master: str = "local[*]",
        checkpoint: str | Path | None = None,
        workers: int | None = None,
        settings: FlowSettings | None = None,
        _restarted: bool = False,
    ) -> None:
        self._here = plan.query(keep_result=False)  # what the driver knows: how far sources are
        self._keys = keys_of(plan.term)
        self._unfinished: bytes | None = None
        """How far the sources were before a batch that is logged and not finished."""
        self._scratch = tempfile.mkdtemp(prefix="freshview-") if checkpoint is None else ""
        place = place_of(checkpoint or Path(self._scratch) / "checkpoint")
        settings, digest = settings or FlowSettings(), plan_hash(self._here)
        spark = spark or session(master)
        with checkpoint_errors(place):
            if _restarted:
                description = _description(place, digest, workers)
                name, count = description["name"], description["workers"]
                work = SignalWork.of(name, place, count, plan, settings)
                self._flow = SignalFlow(work, runner_of(spark, count))
                if self._flow.version:
                    restore_progress(self._here, self._flow.driver_block())
                return
            count = 4 if workers is None else workers
            if not 1 <= count <= MOST_WORKERS:
                raise FreshviewError(
                    f"a query cannot have {count} workers", instead=f"use 1 to {MOST_WORKERS}"
                )
            check_new(folder_at(place), place)
            work = SignalWork.of(uuid.uuid4().hex, place, count, plan, settings)
            description = {"name": work.name, "workers": count, "signal": digest}
            with new_checkpoint(work.folder, description):
                self._flow = SignalFlow(work, runner_of(spark, count))

    @classmethod
    def restart(cls, plan: EventOperators, *, checkpoint: str | Path, **options: Any) -> Self:
        """Continue from a checkpoint of the same plan, however the driver before ended.

        A batch that was logged is finished first: look at `version`, and at `output`.
        """
        return cls(plan, checkpoint=checkpoint, _restarted=True, **options)

    def push(self, data: object) -> Events:
        """Take in a batch, and say how the result changed; see `Query.push`."""
        self._finish_earlier()
        return self._run(self._here.admit(data))

    def advance(self, **times: int) -> Events:
        """Sources promise that no event starts before a time any more."""
        self._finish_earlier()
        before = pack_progress(self._here)
        self._here.advance(**times)
        batch = Admitted({}, dict(self._here.progress))
        restore_progress(self._here, before)
        return self._run(batch)

    def result(self) -> Events:
        """All that the query says now, by group and time."""
        self._finish_earlier()
        return together(self._here, self._flow.status(), False)

    def output(self) -> Events:
        """The changes of the last version again, for a caller that did not live to get them."""
        self._finish_earlier()
        return together(self._here, self._flow.repeat() if self.version else [], True)

    def late(self, source: str = "") -> Events:
        """The last events of a source that came too late."""
        return self._here.late(source)

    def late_count(self, source: str = "") -> int:
        """How many events of a source came too late."""
        return self._here.late_count(source)

    def watermark(self, source: str = "") -> int | None:
        """The time before which no event of a source is taken any more."""
        return self._here.watermark(source)

    def _run(self, batch: Admitted) -> Events:
        before, version = pack_progress(self._here), self._flow.version + 1
        self._here.progress = batch.progress
        marks = {s.name: p.watermark.at for s, p in batch.progress.items()}
        times = {name: int(at) for name, at in marks.items() if at is not None}
        tables = shares(batch.rows, self._keys, self._flow.work.workers)
        rows = sum(len(r) for r in batch.rows.values())
        try:
            blocks = [pack_share(share, times) for share in tables]
            self._flow.run(blocks, rows, pack_progress(self._here))
        except BaseException:
            if self._flow.logged == version:
                self._unfinished = before
            else:
                restore_progress(self._here, before)
            raise
        reports = [report for version in self._flow.reports() for report in version]
        return together(self._here, reports, True)

    def _finish_earlier(self) -> None:
        """Finish the batch of a call that was interrupted; its changes come with the next ones."""
        if self._unfinished is None:
            return
        version = self._flow.logged
        if self._flow.catch_up() < version:
            restore_progress(self._here, self._unfinished)  # it was refused
        self._unfinished = None


def _description(place: str, digest: str, workers: int | None) -> dict[str, Any]:
    description: dict[str, Any] = described(place, "signal", "signal query")
    if description["signal"] != digest:
        raise CheckpointProblem(
            f"the checkpoint in {place} belongs to another query",
            instead="restart with the same plan, or start in another folder",
        )
    if workers not in (None, description["workers"]):
        raise CheckpointProblem(
            f"the checkpoint has {description['workers']} workers, not {workers}",
            instead=f"restart with {description['workers']}, or start over in another folder",
        )
    return description
