"""The theta join on Spark: one job a batch, joiners in its partitions, state that survives."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
import pyarrow as pa

from freshview.calculus.rows import Row
from freshview.durable.checkpoint import CheckpointProblem
from freshview.durable.settings import FlowSettings
from freshview.durable.storage.blocks import frame, pack, unframe, unpack
from freshview.durable.task import MOST_WORKERS
from freshview.errors import FreshviewError
from freshview.spark.checkpointed import Checkpointed
from freshview.spark.matrix import arrays
from freshview.spark.nodes.attach_kernels import baseline_of
from freshview.spark.nodes.shipped_kernels import library_hash
from freshview.spark.session import session
from freshview.spark.theta.blocks import unpack_report, unpack_table
from freshview.spark.theta.flow import ThetaFlow, read_description
from freshview.spark.theta.remote import RemoteEpochs
from freshview.spark.theta.work import JoinPlan, NativeJoins
from freshview.temporal import Horizon, Watermark
from freshview.theta.local.columns import column
from freshview.theta.local.predicate import Condition
from freshview.theta.local.store import Shape
from freshview.theta.operator.arrow import to_arrow
from freshview.theta.operator.block import column_of
from freshview.theta.operator.exchange import Epochs
from freshview.theta.operator.join import Batch, ThetaJoin
from freshview.theta.operator.joiner import SIDES
from freshview.theta.operator.output import Output, collect
from freshview.theta.operator.scheme_state import dump_scheme, load_scheme
from freshview.theta.operator.source import Source
from freshview.theta.placement import hosts_of
from freshview.theta.terms import Numbers, Side

Late = dict[str, list[Row]]

_STATE = "#state"


class SparkThetaJoin(Checkpointed, ThetaJoin):
    """A `ThetaJoin` whose joiners are the partitions of a Spark job.

    The same sources, predicates, windows and schemes; every batch is one job of two stages, also
    while state moves. A batch is logged before it is joined, and joined exactly once, even if
    processes die: `restart` continues from the `checkpoint`, and `output` gives the pairs of the
    last version again.

    - `spark` is the session to use; by default the active one, or a new one on `master`.
    - `checkpoint` is a folder, the same on all machines; without one, the state is discarded when
      the join is closed.
    - `workers` is the number of partitions; by default one a joiner, 32 at most. Joiners share
      partitions where they are more.
    """

    _flow: ThetaFlow

    def __init__(
        self,
        left: Source,
        right: Source,
        on: Condition | Sequence[Condition] = (),
        *,
        spark: Any = None,
        master: str = "local[*]",
        checkpoint: str | Path | None = None,
        workers: int | None = None,
        settings: FlowSettings | None = None,
        **options: Any,
    ) -> None:
        restarted = options.pop("_restart", False)
        super().__init__(left, right, on, **options)
        self._unfinished: tuple[bytes, Late] | None = None
        """The state before a batch that is logged and not finished, and its late rows."""
        self._scratch = tempfile.mkdtemp(prefix="freshview-") if checkpoint is None else ""
        place = checkpoint or Path(self._scratch) / "checkpoint"
        plan, digest = self._plan(), self._digest()
        settings = settings or FlowSettings()
        spark = spark or session(master)
        if restarted:
            self._check_checkpoint(place, digest, workers)
            plan = self._with_library(plan, read_description(place).get("native"))
            self._flow = ThetaFlow.restart(plan, spark, checkpoint=place, settings=settings)
            if self._flow.version:
                self._load(unframe(self._flow.driver_block())[0])
            self._remote.report([unpack_report(r)[0] for r in self._flow.status()])
        else:
            count = min(len(hosts_of(plan.first)), MOST_WORKERS) if workers is None else workers
            if count < 1:
                raise FreshviewError(f"a join cannot have {count} workers", instead="use 1 or more")
            self._dump()  # a scheme that cannot be written down is refused here
            library = self._engine.library(baseline_of(spark))
            plan = self._with_library(plan, None if library is None else library_hash(library))
            common: dict[str, Any] = {"workers": count, "checkpoint": place, "settings": settings}
            self._flow = ThetaFlow.start(plan, spark, digest=digest, library=library, **common)

    @classmethod
    def restart(
        cls,
        left: Source,
        right: Source,
        on: Condition | Sequence[Condition] = (),
        *,
        checkpoint: str | Path,
        **options: Any,
    ) -> Self:
        """Continue from a checkpoint of the same join, however the driver before ended.

        A batch that was logged is finished first: look at `version`, and at `output`.
        """
        return cls(left, right, on, checkpoint=checkpoint, _restart=True, **options)

    @property
    def workers(self) -> int:
        """The number of partitions."""
        return self._flow.work.workers

    def output(self) -> Output:
        """The output of the last version again, for a caller that did not live to get it."""
        self._finish_earlier()
        self._flow.reports()
        if not self.version:
            return self._output([], {})
        _, late = unframe(self._flow.driver_block())
        return self._output([self._flow.repeat()], self._unpack_late(late))

    # ---------------------------------------------------------------- a batch

    def _start(self, shape: Shape, pace: int | None) -> Epochs:
        self._shape = shape
        self._remote = RemoteEpochs(self.scheme.first(), pace, self._metrics)
        return self._remote

    def _run(self, rows_by_side: Mapping[Side, tuple[object, Numbers | int]]) -> Output:
        began = perf_counter()
        earlier = self._finish_earlier()
        batches = self._read(rows_by_side)
        late = {self.sources[side].name: b.late for side, b in batches.items() if b.late}
        before, version = self._dump(), self._flow.version + 1
        try:
            horizon = self._decide(batches)
            tuples = {side: batch.tuples for side, batch in batches.items()}
            order = self._remote.order(horizon, tuples)
            self._flow.run(order, tuples, frame([self._dump(), self._pack_late(batches)]))
        except BaseException:
            if self._flow.logged == version:
                self._unfinished = before, late
            else:
                self._load(before)
            raise
        reports = self._flow.reports()
        self._remote.report([unpack_report(r)[0] for r in reports[-1]])
        for name, rows in earlier.items():
            late[name] = [*rows, *late.get(name, [])]
        output = self._output(reports, late)
        self._measure(batches, output, perf_counter() - began)
        for sink in self._sinks:
            sink(output)
        return output

    def _decide(self, batches: Mapping[Side, Batch]) -> Horizon:
        """Count the batch, and begin a migration if one is due; the horizon before the batch."""
        for side, size in self._remote.purged().items():
            if size:
                self.scheme.purge(side, size)
        self._count({side: batch.tuples for side, batch in batches.items()})
        if not self.is_migrating:
            self._remote.begin(self.scheme.decide(self.placement))
        horizon = self._horizon()
        for side, batch in batches.items():
            self._counts[side] += batch.rows
            if self.sources[side].is_timed:
                self._watermarks[side] = self._watermarks[side].observe(batch.times)
        return horizon

    def _finish_earlier(self) -> Late:
        """Finish the batch of a call that was interrupted, if there is one; its late rows.

        Its pairs come out with those of the next batch.
        """
        if self._unfinished is None:
            return {}
        before, late = self._unfinished
        version = self._flow.logged
        if self._flow.catch_up() < version:
            self._load(before)  # it was refused
            late = {}
        else:
            self._remote.report([unpack_report(r)[0] for r in self._flow.status()])
        self._unfinished = None
        return late

    def _output(self, reports: Sequence[Sequence[bytes]], late: Late) -> Output:
        """The pairs of some versions."""
        streams = [unpack_report(r)[1] for gathered in reports for r in gathered]
        tables = [unpack_table(stream) for stream in streams if stream]
        plan = self._flow.plan
        if not tables:
            return collect(plan.columns, [], plan.empty, plan.timed, plan.output_time, late)
        table = pa.concat_tables(tables).combine_chunks()
        whole = [c.chunk(0) for c in table.columns]
        declared = plan.columns
        columns = tuple(column_of(a, d) for a, d in zip(whole, declared, strict=False))
        return Output(declared, columns, np.asarray(whole[-2]), np.asarray(whole[-1]), late)

    # ---------------------------------------------------------------- the driver's own state

    def _plan(self) -> JoinPlan:
        schemas = {side: source.relation.columns for side, source in self.sources.items()}
        timed = self.sources["R"].is_timed, self.sources["S"].is_timed
        first = self.placement
        return JoinPlan(
            self._shape,
            schemas,
            first,
            self._columns,
            self._empty,
            timed,
            self._output_time,
            self._spill,
        )

    def _with_library(self, plan: JoinPlan, library: str | None) -> JoinPlan:
        """The plan with its local joins in C++, if that is how they began."""
        self._engine.begin(is_native=library is not None)
        if library is None:
            return plan
        return replace(plan, native=NativeJoins(library, self._engine.inputs, self._seed))

    def _dump(self) -> bytes:
        """All that the driver knows and the joiners do not."""
        scheme, counted = dump_scheme(self.scheme)
        state = {
            "scheme": scheme,
            "epochs": self._remote.dump(),
            "counts": self._counts,
            "watermarks": {side: w.at for side, w in self._watermarks.items()},
        }
        text = np.frombuffer(json.dumps(state).encode(), np.uint8)
        return arrays.pack({_STATE: text, **counted})

    def _load(self, data: bytes) -> None:
        """Become what `_dump` wrote."""
        counted = arrays.unpack(data)
        state = json.loads(counted.pop(_STATE).tobytes())
        load_scheme(self.scheme, state["scheme"], counted)
        self._remote.load(state["epochs"])
        self._counts = state["counts"]
        self._watermarks = {
            side: Watermark(self.sources[side].delay, at)
            for side, at in state["watermarks"].items()
        }

    def _pack_late(self, batches: Mapping[Side, Batch]) -> bytes:
        blocks: dict[str, list[pa.RecordBatch]] = {}
        for side, batch in batches.items():
            if batch.late:
                declared = self.sources[side].relation.columns
                cells = zip(*batch.late, strict=True)
                both = zip(cells, declared, strict=True)
                values = [to_arrow(column(d.type.kind, c), d.type) for c, d in both]
                names = [str(k) for k in range(len(declared))]
                blocks[side] = [pa.record_batch(values, names=names)]
        return pack(blocks)

    def _unpack_late(self, data: bytes) -> Late:
        blocks = unpack(data)
        return {
            self.sources[side].name: list(
                zip(*(c.to_pylist() for c in blocks[side][0].columns), strict=True)
            )
            for side in SIDES
            if side in blocks
        }

    def _digest(self) -> str:
        """A hash of what the state depends on; functions are known by their number alone."""
        conditions = [repr(bound.condition) for bound in self.theta.comparisons]
        conditions += ["function"] * len(self.theta.functions)
        sources = [
            (s.name, s.relation.columns, s.time, s.delay, s.retracts, s.table)
            for s in self.sources.values()
        ]
        what = (sources, conditions, self.window, self._output_time, self._seed)
        scheme = (self.scheme.name, self.scheme.first())
        return hashlib.sha256(repr((what, scheme)).encode()).hexdigest()

    @staticmethod
    def _check_checkpoint(place: str | Path, digest: str, workers: int | None) -> None:
        description = read_description(place)
        if description["theta"] != digest:
            raise CheckpointProblem(
                f"the checkpoint in {place} belongs to another join",
                instead="restart with the same sources, predicate, window and scheme, or start in "
                "another folder",
            )
        if workers not in (None, description["workers"]):
            raise CheckpointProblem(
                f"the checkpoint has {description['workers']} workers, not {workers}",
                instead=f"restart with {description['workers']}, or start over in another folder",
            )
