"""A flow: a distributed program that runs on Spark, batch after batch."""

from __future__ import annotations

import re
import time
import uuid
import warnings
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]

from freshet.calculus.functions import BUILTINS, Functions
from freshet.calculus.schema import Relation
from freshet.errors import FreshetError, ProgramProblem, UnknownName
from freshet.spark.prepare import prepare
from freshet.spark.run.answer import answer
from freshet.spark.run.blocks import pack
from freshet.spark.run.checkpoint import (
    CheckpointProblem,
    check_nodes,
    is_there,
    place_of,
    reopen,
)
from freshet.spark.run.commit import Commit, read_commit, write_commit
from freshet.spark.run.conduct import Conductor
from freshet.spark.run.epoch import TakenOver, claim, fence
from freshet.spark.run.files import Taken, Torn
from freshet.spark.run.intake import as_table, checked, pieces, split
from freshet.spark.run.kernels import ship
from freshet.spark.run.log import Entry, mark
from freshet.spark.run.node import COUNT, READY, change, reading
from freshet.spark.run.pipeline import NONE, Pipeline, save_pipeline, save_program
from freshet.spark.run.runner import Runner
from freshet.spark.run.settings import Settings
from freshet.spark.run.snapshots import snapshot_names
from freshet.spark.run.stats import BatchStats, StageStats, batch_stats
from freshet.spark.run.worker import Lost, Stale
from freshet.spark.terms import Distributed, Random

Batch: TypeAlias = pa.Table | pa.RecordBatch | Iterable[pa.RecordBatch]
"""Rows of a relation by its column names; `node.COUNT`, if there, says how often each comes."""


LOAD = 1_000_000
"""Rows of a piece of a load."""

LOADED = "freshet.loaded"
"""In the note: how many pieces of a load are done."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A batch as it is written down."""

    routine: str
    blocks: list[bytes]
    rows: int


class Interrupted(FreshetError):
    """A batch that is written down, and not done: whatever is asked next goes on with it."""


class Flow:
    """A distributed program that runs on Spark.

    Not for several threads at once. A batch that `apply` has taken is never lost and never
    counted twice: it is written down before it is worked on, and `restart` goes on with the first
    one that was not finished.

        flow = Flow.start(distribute(program), session(), workers=4, checkpoint="/data/shop")
        version = flow.apply({"orders": table})
        flow.read("revenue")
    """

    def __init__(
        self,
        pipeline: Pipeline,
        relations: Iterable[Relation],
        runner: Runner,
        epoch: int,
        commit: Commit,
    ) -> None:
        """Use `start` or `restart`."""
        self.pipeline = pipeline
        self._relations = {r.name: r for r in relations}
        """As users give them; the workers know fewer columns."""
        self._narrow = {r.name: r for r in pipeline.made.program.relations}
        self._readouts = {r.query.name: r for r in pipeline.made.readouts}
        self._epoch = epoch
        self._commit = commit
        self._undone: Entry | None = None
        self._stats: deque[BatchStats] = deque(maxlen=pipeline.settings.history)
        self._conductor = Conductor(pipeline, runner, epoch)
        self._bases: dict[int, int] = {}
        self._taken = 0.0, 0.0
        self._closed = False

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

        `tables` are the rows of the static tables. `spark` is a classic SparkSession, or a
        `Runner`.
        """
        if workers < 1:
            raise ProgramProblem(f"{workers} workers cannot do anything", instead="use 1 or more")
        place = place_of(checkpoint)
        if cls.exists(place):
            raise CheckpointProblem(
                f"there is a checkpoint in {place} already",
                instead="restart from it, or begin in another folder",
            )
        settled, told = prepare(made, functions), settings or Settings()
        name = uuid.uuid4().hex
        pipeline = _with_kernels(Pipeline.of(name, place, workers, settled, functions, told), spark)
        relations = {r.name: r for r in made.program.relations if r.static}
        rows = {}
        for table, given in (tables or {}).items():
            if table not in relations:
                raise UnknownName(f"there is no static table '{table}'", instead="apply its rows")
            rows[table] = [checked(relations[table], given).drop_columns([COUNT])]
        save_pipeline(pipeline, rows)
        return cls._open(pipeline, made, spark)

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
        found = reopen(made, checkpoint, workers, functions, settings or Settings())
        pipeline = _with_kernels(found, spark)
        check_nodes(pipeline)
        save_program(pipeline)
        return cls._open(pipeline, made, spark)

    @classmethod
    def _open(cls, pipeline: Pipeline, made: Distributed, spark: Any) -> Flow:
        epoch = claim(pipeline.folder)
        runner, commit = _runner(spark, pipeline.workers), read_commit(pipeline.folder)
        flow = cls(pipeline, made.program.relations, runner, epoch, commit)
        flow._undone = flow._written(flow.version + 1)
        if flow._undone is None and flow.version < 0:
            flow._write(READY, [], 0, {})
        flow._finish()
        return flow

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

    def apply(self, changes: Mapping[str, Batch], note: Mapping[str, Any] | None = None) -> int:
        """A batch of changes of several relations, as one change; its version.

        When it returns, every view has the batch. If the rows do not fit (`BadRow`, `Overflow`),
        nothing is changed. `note` (JSON) is kept with the batch: after a restart `flow.note` is
        the one of the last batch that was taken. Relations that no view reads are passed over.
        """
        self._finish()
        began = time.perf_counter()
        batch = self._prepared(changes)
        self._take(batch, note or {}, time.perf_counter() - began)
        return self.version

    def load(
        self,
        changes: Mapping[str, Batch],
        note: Mapping[str, Any] | None = None,
        *,
        rows: int = LOAD,
    ) -> int:
        """Much data at once, as a first load: in pieces of `rows` rows, each a version.

        While the workers are at a piece, the driver checks and splits the next one. The views may
        be read when it returns the last version. If it is cut short, the pieces that were done are
        in the views: after a restart the same call goes on behind them. So it does after `BadRow`,
        when the rows of the other pieces are mended.
        """
        self._finish()
        tables = {n: as_table(self._relation(n), given) for n, given in changes.items()}
        cut = pieces(tables, rows)
        done = int(self.note.get(LOADED, 0))
        with ThreadPoolExecutor(1) as pool:
            ahead = pool.submit(self._prepared, cut[done]) if done < len(cut) else None
            for i in range(done, len(cut)):
                assert ahead is not None
                began = time.perf_counter()
                batch = ahead.result()
                ahead = pool.submit(self._prepared, cut[i + 1]) if i + 1 < len(cut) else None
                last = i + 1 == len(cut)
                told = dict(note or {}) if last else {**self.note, LOADED: i + 1}
                self._take(batch, told, time.perf_counter() - began)
        return self.version

    def read(self, query: str) -> pa.Table:
        """The rows of a query at the current version, in its order; equal rows stand repeated."""
        if query not in self._readouts:
            known = ", ".join(self._readouts) or "there is none"
            raise UnknownName(f"there is no query '{query}'", instead=f"the queries are: {known}")
        self._finish()
        readout = self._readouts[query]
        held = next(h for h in readout.held if h.name == readout.result)
        found = self._safely(lambda: self._conductor.read(reading(query), held, self._commit))
        return answer(readout, found)

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

    def __enter__(self) -> Flow:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---------------------------------------------------------------- a batch, written down

    def _relation(self, name: str) -> Relation:
        relation = self._relations.get(name)
        if relation is None:
            raise UnknownName(f"there is no relation '{name}'", instead="declare it first")
        if relation.static:
            raise ProgramProblem(f"'{name}' is a static table", instead="give it to start()")
        return relation

    def _prepared(self, changes: Mapping[str, Batch]) -> _Prepared:
        """A batch as it is written down; nothing of the flow is changed."""
        waiting = {n for r in self.pipeline.made.routines for n in r.relations}
        rows = {}
        for name, given in changes.items():
            relation = self._relation(name)
            if name in waiting:
                rows[name] = checked(relation, given, self._narrow[name])
        return _Prepared(self._routine(rows), self._blocks(rows), _count(rows))

    def _take(self, batch: _Prepared, note: Mapping[str, Any], intake: float) -> None:
        """Write a batch down, and do it."""
        began = time.perf_counter()
        self._write(batch.routine, batch.blocks, batch.rows, note)
        self._taken = intake, time.perf_counter() - began
        self._finish()

    def _routine(self, rows: Mapping[str, Any]) -> str:
        if not rows:
            return NONE
        made = self.pipeline.made
        return change(made.routines.index(made.routine(*rows)))

    def _blocks(self, rows: Mapping[str, pa.RecordBatch]) -> list[bytes]:
        """The rows of every worker and of the driver, as they are written down."""
        workers = self.pipeline.workers
        at = self.pipeline.made.placement.batches
        parts: list[dict[str, list[pa.RecordBatch]]] = [{} for _ in range(workers + 1)]
        for name, batch in rows.items():
            where = at.get(name, Random())
            pieces = split(self._narrow[name], batch, where, workers)
            for part, piece in zip(parts, pieces, strict=True):
                part[name] = [piece]
        return [pack(p) for p in parts]

    def _write(self, routine: str, blocks: list[bytes], rows: int, note: Mapping[str, Any]) -> None:
        """From here on the batch is part of the pipeline, whatever happens."""
        name = mark(self.version + 1, uuid.uuid4().hex[:12])
        after, driver_after = self._commit.after, self._commit.driver_after
        parts = tuple(i for i, b in enumerate(blocks) if b)
        entry = Entry(name, routine, after, driver_after, rows, parts, note)
        try:
            fence(self.pipeline.folder, self._epoch)
            self.pipeline.log.write(entry, blocks)
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
        found = self.pipeline.log.entry(version)
        if found is None:
            self.pipeline.log.drop(version)
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
        self._bases[self.pipeline.driver] = told.driver_base
        self._truncate()

    def _done(self, entry: Entry) -> None:
        pipeline = self.pipeline
        took_part = bool(pipeline.schedules[entry.routine].jobs)
        driver = bool(pipeline.steps(entry.routine, pipeline.driver))
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
        for part in range(self.pipeline.workers + 1):
            self.pipeline.folder.delete(snapshot_names(part, entry.mark))
        self._say(replace(self._commit, version=entry.version))

    def _say(self, commit: Commit) -> None:
        try:
            fence(self.pipeline.folder, self._epoch)
            write_commit(self.pipeline.folder, commit)
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
        for part in range(self.pipeline.workers + 1):
            after = now.driver_after if part == self.pipeline.driver else now.after
            base = self._bases.get(part, -1)
            needed.append(now.version if not after or base == int(after[:12]) else base)
        if min(needed) > 0:
            self.pipeline.log.truncate(min(needed))


def _runner(spark: Any, workers: int) -> Runner:
    if hasattr(spark, "sparkContext"):
        from freshet.spark.run.cluster import SparkRunner

        return SparkRunner(spark, workers)
    runner: Runner = spark
    return runner


def _with_kernels(pipeline: Pipeline, spark: Any) -> Pipeline:
    """The pipeline with kernels; where there can be none, Python keeps the maps, with a warning."""
    if not pipeline.settings.native:
        return pipeline
    here = _is_local(spark)
    kernels, why = ship(
        pipeline.made, pipeline.functions, pipeline.folder, "native" if here else "x86-64-v2"
    )
    if why:
        warnings.warn(f"the maps of this flow are kept by Python, slowly: {why}", stacklevel=3)
    return replace(pipeline, kernels=kernels)


def _is_local(spark: Any) -> bool:
    """Whether all the workers are on this machine."""
    context = getattr(spark, "sparkContext", None)
    return context is None or str(context.master).startswith("local")


def _count(rows: Mapping[str, pa.RecordBatch]) -> int:
    return sum(b.num_rows for b in rows.values())


def _cause(e: Exception) -> str:
    """What went wrong, in one line: Spark tells it somewhere in a long text."""
    lines = str(e).splitlines() or [repr(e)]
    named = [line for line in lines if re.match(r"[A-Za-z_][\w.]*(Error|Exception|Lost): ", line)]
    return (named or lines)[-1 if named else 0]


__all__ = [
    "Batch",
    "BatchStats",
    "CheckpointProblem",
    "Flow",
    "Interrupted",
    "Settings",
    "StageStats",
    "TakenOver",
]
