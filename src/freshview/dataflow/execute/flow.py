"""A plan at work: changes of streams in, and a result that is always fresh."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from freshview.calculus.rows import Row
from freshview.calculus.schema import Relation
from freshview.dataflow.execute.feed import rows_of_sources
from freshview.dataflow.execute.groups_node import GroupsNode
from freshview.dataflow.execute.join_node import JoinNode, Make
from freshview.dataflow.execute.layout import Change
from freshview.dataflow.execute.row_operators import Operator, operator
from freshview.dataflow.plan.physical import Component, Topology
from freshview.dataflow.plan.terms import Aggregate, BadPlan, Field, Join, Plan, Scan
from freshview.dataflow.plan.walk import inputs, scans
from freshview.errors import UnknownName
from freshview.runtime.settings import EngineChoice
from freshview.runtime.views.view import ViewHandle
from freshview.temporal import Watermark
from freshview.temporal.terms import Time, Times
from freshview.theta import Metrics, Source, ThetaJoin
from freshview.theta.local.columns import python_rows
from freshview.theta.operator.intake import check_times, read_changes, read_columns
from freshview.theta.terms import Numbers


@dataclass
class Stream:
    """A stream of a flow: how its rows are read, and how far its time has come."""

    relation: Relation
    appends: bool
    watermark: Watermark = field(default_factory=Watermark)
    latest: Time | None = None
    """The latest time that was seen, or that it was said to have passed."""

    def __post_init__(self) -> None:
        time = self.relation.time
        types = {c.name: str(c.type) for c in self.relation.columns}
        self.watermark = Watermark(None if time is None else time.delay)
        self.source = Source(
            self.relation.name,
            types,
            time=None if time is None else time.column,
            delay=None if time is None else time.delay,
            retracts=not self.appends,
            table=self.relation.static,
        )


@dataclass(frozen=True)
class Arrival:
    """The rows of a stream in a batch: those in time with the time behind, and late ones."""

    rows: list[Change]
    late: list[Row]
    times: Times


class Flow:
    """A running plan. Every call is one batch over all its streams.

    `columns` are those of the result, in their order: rules may have put joins into another one.
    """

    def __init__(
        self,
        plan: Plan,
        topology: Topology,
        make: Callable[[str], Make],
        engine: EngineChoice,
        columns: Sequence[Field],
    ) -> None:
        self.plan = plan
        self.topology = topology
        self._streams: dict[str, Stream] = {}
        for s in scans(plan):
            self._add(s)
        self._steps: list[_Step] = []
        for c in topology.components:
            is_last = c is topology.components[-1]
            step = _Step(c, plan)
            if step.component.kind == "join":
                step.join = JoinNode(step.join_plan, c, make(c.name))
            elif step.component.kind == "groups":
                step.groups = GroupsNode(step.head, engine, columns, is_last=is_last)
            self._steps.append(step)
        self._broken = False
        self.batches = 0
        self.late: dict[str, int] = {}
        """How many rows of each stream came too late."""

    # ---------------------------------------------------------------- changes

    def push(self, rows: Mapping[str, object]) -> dict[str, list[Row]]:
        """Insert rows, by stream: lists, Arrow tables, or arrays by column; gives the late ones."""
        return self._run({name: (some, 1) for name, some in rows.items()})

    def apply(self, changes: Mapping[str, Iterable[tuple[Row, int]]]) -> dict[str, list[Row]]:
        """Insert and delete rows: each with how often it comes or, below zero, goes."""
        batch: dict[str, tuple[object, int | Numbers]] = {}
        for name, some in changes.items():
            batch[name] = read_changes(self._stream(name).source, some)
        return self._run(batch)

    def advance(self, times: Mapping[str, Time]) -> None:
        """Promise that streams have passed a time: numbers, as windows have them."""
        for name in times:
            if self._stream(name).relation.time is None:
                raise BadPlan(f"the rows of '{name}' have no time", instead="leave it out")
        for name, at in times.items():
            stream = self._stream(name)
            stream.watermark = stream.watermark.advance(at)
            stream.latest = at if stream.latest is None else max(stream.latest, at)
        self._run({})

    def read(self, folder: str | Path = ".", *, batch: int = 10_000) -> dict[str, int]:
        """Read the files and sockets of its streams to their end; how many rows of each.

        Paths start at the `folder`; tables come first, then streams in turns of `batch` rows.
        """
        counts: dict[str, int] = {}
        for name, count in rows_of_sources(self, scans(self.plan), Path(folder), batch):
            counts[name] = counts.get(name, 0) + count
        return counts

    # ---------------------------------------------------------------- results

    @property
    def view(self) -> ViewHandle:
        """The result as a view of a database of this process."""
        groups = self._steps[-1].groups
        assert groups is not None
        return groups.view

    def rows(self) -> list[Row]:
        """The rows of the result, each as often as it counts."""
        return self.view.rows()

    def to_arrow(self) -> pa.Table:
        """The rows of the result as a table."""
        return self.view.to_arrow()

    @property
    def metrics(self) -> dict[str, Metrics]:
        """Those of the joins, by the names of their components."""
        return {s.component.name: s.join.metrics for s in self._steps if s.join is not None}

    def explain(self) -> str:
        """The schemes of the joins as they are now, and how the result is kept."""
        parts = [
            f"== {s.component.name}\n{s.join.theta.explain()}"
            for s in self._steps
            if s.join is not None
        ]
        return "\n".join([*parts, f"== {self._steps[-1].component.name}", self.view.explain()])

    def close(self) -> None:
        """Release what joins on Spark hold."""
        for s in self._steps:
            close = getattr(s.join.theta, "close", None) if s.join is not None else None
            if close is not None:
                close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return self.view._repr_html_()

    # ---------------------------------------------------------------- a batch

    def _run(self, batch: Mapping[str, tuple[object, int | Numbers]]) -> dict[str, list[Row]]:
        if self._broken:
            raise BadPlan(
                "an earlier batch failed when some of its joins were done",
                instead="start the plan anew, and give it the rows again",
            )
        passed = self._passed()
        arrivals = {name: self._read(name, *some) for name, some in batch.items()}
        now = self._now(arrivals)
        rows: dict[str, list[Change]] = {}
        for step in self._steps:
            if step.is_source:
                scan = step.component.operators[0]
                assert isinstance(scan, Scan)
                arrival = arrivals.get(scan.relation.name)
                rows[step.component.name] = step.after([] if arrival is None else arrival.rows)
        has_changed = False
        for step in self._steps:
            if step.is_source:
                continue
            below = [rows[e.source] for e in step.component.inputs]
            try:
                rows[step.component.name] = step.run(below, passed, now)
            except BaseException:
                self._broken = has_changed or step.may_be_half_done
                raise
            has_changed = True
        for name, arrival in arrivals.items():
            stream = self._streams[name]
            if stream.relation.time is not None and len(arrival.times):
                stream.watermark = stream.watermark.observe(arrival.times)
                latest = arrival.times.max().item()
                stream.latest = latest if stream.latest is None else max(stream.latest, latest)
        self.batches += 1
        for name, arrival in arrivals.items():
            self.late[name] = self.late.get(name, 0) + len(arrival.late)
        return {name: a.late for name, a in arrivals.items() if a.late}

    def _read(self, name: str, rows: object, weights: int | Numbers) -> Arrival:
        """The rows of a batch, checked; those behind the watermark are late."""
        stream = self._stream(name)
        source = stream.source
        columns = read_columns(source, rows)
        count = len(columns[0].values)
        each = np.full(count, weights, np.int64) if isinstance(weights, int) else weights
        if stream.appends and (each < 0).any():
            raise BadPlan(f"rows of '{name}' cannot be deleted", instead="leave out appends=True")
        values = python_rows(columns)
        if stream.relation.time_column is None:
            changes = list(zip(values, each.tolist(), strict=True))
            return Arrival(changes, [], np.zeros(0, np.int64))
        times = columns[stream.relation.time_column].values
        check_times(source, times)
        late = stream.watermark.is_late(times).tolist()
        changes = [
            ((*row, t), n)
            for row, t, n, is_late in zip(values, times.tolist(), each.tolist(), late, strict=True)
            if not is_late
        ]
        behind = [row for row, is_late in zip(values, late, strict=True) if is_late]
        return Arrival(changes, behind, times)

    def _passed(self) -> dict[str, Time]:
        """What streams have promised, by their names in the plan."""
        marks = {s.table: self._streams[s.relation.name].watermark.at for s in scans(self.plan)}
        return {table: at for table, at in marks.items() if at is not None}

    def _now(self, arrivals: Mapping[str, Arrival]) -> dict[str, Time]:
        """The latest time of each stream with the batch, by its name in the plan."""
        now: dict[str, Time] = {}
        for s in scans(self.plan):
            name = s.relation.name
            latest = [self._streams[name].latest]
            if name in arrivals and len(arrivals[name].times):
                latest.append(arrivals[name].times.max().item())
            known = [t for t in latest if t is not None]
            if known and s.relation.time is not None:
                now[s.table] = max(known)
        return now

    def _add(self, s: Scan) -> None:
        known = self._streams.get(s.relation.name)
        if known is None:
            self._streams[s.relation.name] = Stream(s.relation, s.appends)
        elif known.relation != s.relation or known.appends != s.appends:
            raise BadPlan(
                f"the plan has two streams '{s.relation.name}' that are not the same",
                instead="declare it once, and name the others with named()",
            )

    def _stream(self, name: str) -> Stream:
        if name not in self._streams:
            raise UnknownName(
                f"the plan reads no stream '{name}'",
                instead=f"it reads {', '.join(self._streams)}",
            )
        return self._streams[name]


class _Step:
    """A component at work."""

    def __init__(self, c: Component, plan: Plan) -> None:
        self.component = c
        self.is_source = c.kind == "source"
        self.join: JoinNode | None = None
        self.groups: GroupsNode | None = None
        self.head = c.operators[0] if c.operators else plan
        below = inputs(self.head)[0] if isinstance(self.head, Aggregate) else self.head
        self._streams = [s.table for s in scans(below)]
        self._operators: list[Operator] = [operator(p) for p in c.operators[1:]]

    @property
    def join_plan(self) -> Join:
        """The join that it runs."""
        assert isinstance(self.head, Join)
        return self.head

    @property
    def may_be_half_done(self) -> bool:
        """Whether a failure leaves it changed: its window moved, or rows behind it fail."""
        moves = self.groups is not None and not self.groups.is_stateless
        return bool(self._operators) or moves

    def after(self, changes: list[Change]) -> list[Change]:
        """What the operators behind the first one make of rows."""
        for each in self._operators:
            changes = each(changes)
        return changes

    def run(
        self, below: list[list[Change]], passed: dict[str, Time], now: Mapping[str, Time]
    ) -> list[Change]:
        """What comes out of a batch."""
        if self.join is not None:
            changes = self.join.apply(below[0], below[1], passed)
        else:
            assert self.groups is not None
            known = [now[s] for s in self._streams if s in now]
            changes = self.groups.apply(below[0], max(known) if known else None)
        return self.after(changes)


def maker(spark: Any, master: str | None, checkpoint: str | Path | None) -> Callable[[str], Make]:
    """What makes the joins of components: in this process, or on Spark."""
    if spark is None and master is None:
        return lambda name: ThetaJoin
    from freshview.spark.theta.join import SparkThetaJoin

    def of(name: str) -> Make:
        place = None if checkpoint is None else f"{checkpoint}/{name}"
        return partial(SparkThetaJoin, spark=spark, master=master or "local[*]", checkpoint=place)

    return of
