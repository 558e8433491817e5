"""A flow: a distributed program that runs on Spark, batch after batch."""

from __future__ import annotations

import time
import uuid
import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]

from freshet.calculus.functions import BUILTINS, Functions
from freshet.calculus.schema import Relation
from freshet.errors import ProgramProblem, UnknownName
from freshet.spark.prepare import prepare
from freshet.spark.run.answer import answer
from freshet.spark.run.blocks import pack
from freshet.spark.run.checkpoint import (
    CheckpointProblem,
    check_nodes,
    place_of,
    reopen,
)
from freshet.spark.run.epoch import TakenOver
from freshet.spark.run.intake import as_table, checked, pieces, split
from freshet.spark.run.kernels import ship
from freshet.spark.run.node import COUNT, READY, change, reading
from freshet.spark.run.pipeline import NONE, Pipeline, save_pipeline, save_program
from freshet.spark.run.settings import Settings
from freshet.spark.run.stats import BatchStats, StageStats
from freshet.spark.run.versions import Interrupted, Versions
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


class Flow(Versions):
    """A distributed program that runs on Spark.

    Not for several threads at once. A batch that `apply` has taken is never lost and never
    counted twice: it is written down before it is worked on, and `restart` goes on with the first
    one that was not finished.

        flow = Flow.start(distribute(program), session(), workers=4, checkpoint="/data/shop")
        version = flow.apply({"orders": table})
        flow.read("revenue")
    """

    def __init__(self, pipeline: Pipeline, relations: Iterable[Relation], spark: Any) -> None:
        """Use `start` or `restart`."""
        super().__init__(pipeline, spark)
        self.pipeline = pipeline
        self._relations = {r.name: r for r in relations}
        """As users give them; the workers know fewer columns."""
        self._narrow = {r.name: r for r in pipeline.made.program.relations}
        self._readouts = {r.query.name: r for r in pipeline.made.readouts}

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
        flow = cls(pipeline, made.program.relations, spark)
        flow._open_at(READY, [])
        return flow

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
