"""A flow: a distributed program that runs on Spark, batch after batch."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

import pyarrow as pa

from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Relation
from freshview.distributed.batches.prepare import prepare
from freshview.distributed.terms import Distributed
from freshview.durable.batch_log import Note
from freshview.durable.checkpoint import (
    CheckpointProblem,
    check_new,
    checkpoint_errors,
    delete_description,
    place_of,
)
from freshview.durable.commit_log import Interrupted, LoggedBatch
from freshview.durable.epoch import DriverFenced
from freshview.durable.loading import Loading, check_of_pieces, check_of_rows, loading_of
from freshview.durable.settings import FlowSettings
from freshview.durable.stats import BatchStats, StageStats
from freshview.durable.storage.folders import folder_at
from freshview.durable.versions import Versions
from freshview.errors import FreshviewError, ProgramProblem, UnknownName
from freshview.runtime.ingest.columns import COUNT
from freshview.spark.batches.pack_batch import BatchPacker
from freshview.spark.batches.split_batch import split_load
from freshview.spark.batches.validate import Batch, as_table, validated
from freshview.spark.nodes.attach_kernels import attach_kernels
from freshview.spark.nodes.checkpoint import check_nodes, reopen, save_pipeline
from freshview.spark.nodes.node import READY, ProgramNode, read_routine
from freshview.spark.nodes.query_change import net_blocks, query_change
from freshview.spark.nodes.query_result import query_result
from freshview.spark.nodes.reference_node import batch_of
from freshview.spark.nodes.view_work import ViewWork, tables_name
from freshview.spark.runner import runner_of

LOAD_ROWS = 2_000_000
"""Rows of a piece of a load."""


class Flow(Versions):
    """A distributed program that runs on Spark.

    Not for several threads at once. A batch that `apply` accepted is never lost and never counted
    twice: it is written to the log before any worker starts, and `restart` continues with the
    first unfinished one.

        flow = Flow.start(distribute(program), session(), workers=4, checkpoint="/data/shop")
        version = flow.apply({"orders": table})
        flow.read("revenue")
    """

    def __init__(self, work: ViewWork, relations: Iterable[Relation], spark: object) -> None:
        """Use `start` or `restart`."""
        super().__init__(work, runner_of(spark, work.workers))
        self.work: ViewWork = work
        self._packer = BatchPacker(work, relations)
        self._readouts = {r.query.name: r for r in work.distributed.readouts}

    @classmethod
    def start(
        cls,
        distributed: Distributed,
        spark: object,
        *,
        workers: int,
        checkpoint: str | Path,
        tables: Mapping[str, Batch] | None = None,
        functions: Functions = BUILTINS,
        settings: FlowSettings | None = None,
    ) -> Flow:
        """Start in an empty folder `checkpoint` (a path, or a URL of a Hadoop file system).

        `tables` are the rows of the static tables. `spark` is a classic SparkSession, or a
        `Runner`.
        """
        if workers < 1:
            raise ProgramProblem(f"a flow cannot have {workers} workers", instead="use 1 or more")
        place = place_of(checkpoint)
        relations = {r.name: r for r in distributed.program.relations if r.static}
        rows = {}
        for table, batch in (tables or {}).items():
            if table not in relations:
                raise UnknownName(f"there is no static table '{table}'", instead="apply its rows")
            rows[table] = [validated(relations[table], batch).drop_columns([COUNT])]
        with checkpoint_errors(place):
            check_new(folder_at(place), place)
            prepared, options = prepare(distributed, functions), settings or FlowSettings()
            name = uuid.uuid4().hex
            work = ViewWork.of(name, place, workers, prepared, functions, options)
            work = attach_kernels(work, spark)
            save_pipeline(work, rows)
            return cls._begin(work, distributed, spark)

    @classmethod
    def restart(
        cls,
        distributed: Distributed,
        spark: object,
        *,
        checkpoint: str | Path,
        workers: int | None = None,
        functions: Functions = BUILTINS,
        settings: FlowSettings | None = None,
    ) -> Flow:
        """Continue from a checkpoint of the same program, however the driver before ended.

        The number of workers is that of the checkpoint; another one is an error.
        """
        with checkpoint_errors(place_of(checkpoint)):
            work = reopen(distributed, checkpoint, workers, functions, settings or FlowSettings())
            work = attach_kernels(work, spark)
            check_nodes(work)
            return cls._open(work, distributed, spark)

    @classmethod
    def _begin(cls, work: ViewWork, distributed: Distributed, spark: object) -> Flow:
        """Open a new checkpoint; delete it if nothing can be written to it."""
        try:
            return cls._open(work, distributed, spark)
        except DriverFenced:
            raise
        except (OSError, FreshviewError):
            delete_description(work.folder)
            with suppress(OSError):
                work.folder.delete([tables_name(work.name)])
            raise

    @classmethod
    def _open(cls, work: ViewWork, distributed: Distributed, spark: object) -> Flow:
        flow = cls(work, distributed.program.relations, spark)
        flow._open_at(READY, [])
        return flow

    def apply(self, changes: Mapping[str, Batch], note: Note | None = None) -> int:
        """Apply a batch of changes of several relations as one version; its number.

        When it returns, every view has the batch. If the rows do not fit (`BadRow`, `Overflow`),
        nothing is changed. `note` (JSON) is logged with the batch: after a restart `flow.note` is
        that of the last batch. Relations that no view reads are ignored.
        """
        self._finish()
        t0 = time.perf_counter()
        prepared = self._packer.pack(changes)
        t1 = time.perf_counter()
        batch = self._commit_log.append_rows(prepared, self.version + 1)
        self._run_batch(batch, note or {}, t1 - t0, time.perf_counter() - t1)
        return self.version

    def load(
        self,
        changes: Mapping[str, Batch],
        note: Note | None = None,
        *,
        rows: int = LOAD_ROWS,
        anew: bool = False,
    ) -> int:
        """Load much data at once: in pieces of `rows` rows, each a version.

        While the workers apply a piece, the driver writes the next one to the log. The views may
        be read when it returns the last version. If it is interrupted, the finished pieces are in
        the views: the same call continues behind them, after a restart too, and after `BadRow`
        with corrected rows in the other pieces. Another load is refused until then, unless it
        begins `anew`.
        """
        self._finish()
        tables = {n: as_table(self._packer.relation(n), changes[n]) for n in sorted(changes)}
        parts = split_load(tables, rows)
        load = loading_of(tables, rows, len(parts))
        last = None if anew else self._commit_log.commit.loading
        done = load.done_before(last, lambda n: check_of_pieces(parts[:n]))
        check = last.check if last is not None and done else 0
        before, first = self.note, self.version + 1 - done

        def ready(i: int) -> tuple[LoggedBatch, Note, Loading]:
            nonlocal check  # pieces are logged in their order
            check = check_of_rows(parts[i], check)
            logged = self._commit_log.append_rows(self._packer.pack(parts[i]), first + i)
            piece_note = before if i + 1 < len(parts) else dict(note or {})
            return logged, piece_note, replace(load, done=i + 1, check=check)

        todo = range(done, len(parts))
        routines = {self._packer.routine(parts[i]) for i in todo}
        if len(todo) > 1 and all(map(self._coordinator.can_follow, routines)):
            self._run_together(ready, todo)
        else:
            self._run_in_turn(ready, todo)
        self._commit_log.clear_loading()
        return self.version

    def _run_in_turn(
        self,
        ready: Callable[[int], tuple[LoggedBatch, Note, Loading]],
        numbers: Sequence[int],
    ) -> None:
        """Run batches as the next versions, each with jobs of its own; one is logged ahead."""
        with ThreadPoolExecutor(1) as pool:
            began = time.perf_counter()
            ahead = pool.submit(ready, numbers[0]) if numbers else None
            for i in numbers:
                assert ahead is not None
                batch, note, loading = ahead.result()
                if i != numbers[-1]:
                    ahead = pool.submit(ready, i + 1)
                self._run_batch(batch, note, time.perf_counter() - began, loading=loading)
                began = time.perf_counter()

    def read(self, query: str) -> pa.Table:
        """The rows of a query at the current version, in its order; equal rows are repeated."""
        if query not in self._readouts:
            known = ", ".join(self._readouts) or "there is none"
            raise UnknownName(f"there is no query '{query}'", instead=f"the queries are: {known}")
        self._finish()
        readout = self._readouts[query]
        placement = next(h for h in readout.maps if h.name == readout.result)
        now = self._commit_log.commit
        reader = self._safely(lambda: self._coordinator.read(read_routine(query), now))
        node = cast("ProgramNode | None", reader)
        return query_result(
            readout,
            node.send(read_routine(query), placement.name) if node else batch_of(placement, {}),
        )

    @property
    def collected(self) -> tuple[str, ...]:
        """The queries whose changes are collected by every version."""
        return tuple(dict.fromkeys(p.query for p in self.work.distributed.changes))

    @property
    def kept_since(self) -> int:
        """The version since which changes are kept."""
        return max(0, self._commit_log.commit.received)

    def changes(self, query: str, since: int) -> pa.Table:
        """What changed in a collected query after a version: its columns, and `COUNT`."""
        self._finish()
        sent = self._safely(lambda: self._commit_log.outboxes_since(since))
        distributed = self.work.distributed
        parts = [p for p in distributed.changes if p.query == query]
        return query_change(self._readouts[query].query, parts, sent, self.work.functions)

    def acknowledge(self, version: int, merged: range = range(0)) -> None:
        """Nobody will ask for changes up to a version any more, or for parts of a range of them."""
        self._commit_log.acknowledge(version)
        if merged:
            self._commit_log.merge_outboxes(merged.start, merged.stop, net_blocks)


__all__ = [
    "Batch",
    "BatchStats",
    "CheckpointProblem",
    "DriverFenced",
    "Flow",
    "FlowSettings",
    "Interrupted",
    "StageStats",
]
