"""The join operator: batches in, every new pair out once, state moving between batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from time import perf_counter
from typing import Literal, TypeVar, get_args

import numpy as np

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column
from freshview.errors import BadRow, UnknownName
from freshview.temporal import (
    Between,
    FullHistory,
    Hopping,
    Horizon,
    Landmark,
    Sliding,
    Tumbling,
    TupleCount,
    Watermark,
    Window,
)
from freshview.temporal.terms import TIMED, BadWindow, OutputTime, Time, Times
from freshview.theta.controller import Policy
from freshview.theta.local.columns import Tuples, python_rows
from freshview.theta.local.indexes import joinable
from freshview.theta.local.native.kernel import JoinKernel
from freshview.theta.local.predicate import Condition, bind
from freshview.theta.local.reserve import Spill
from freshview.theta.local.store import Shape
from freshview.theta.metrics import Metrics
from freshview.theta.operator.engine import EngineName, LocalEngine, inputs_of
from freshview.theta.operator.exchange import Epochs, Exchange
from freshview.theta.operator.intake import check_times, read_changes, read_columns, stamped
from freshview.theta.operator.joiner import SIDES
from freshview.theta.operator.options import (
    BadJoin,
    SchemeName,
    check_window,
    choose_scheme,
)
from freshview.theta.operator.output import Output, Pairs, collect
from freshview.theta.operator.ranges import check_ranges, in_ranges
from freshview.theta.operator.single import RowWriter, is_joined_alone, is_used_up, start
from freshview.theta.operator.single import collect as collect_singles
from freshview.theta.operator.source import Source
from freshview.theta.schemes import Ranged, Scheme, show_mappings
from freshview.theta.terms import Numbers, Placement, RangePlacement, Side

Rows = TypeVar("Rows")
Sink = Callable[[Output], object]


@dataclass(frozen=True, slots=True)
class Batch:
    """The tuples of a batch that can join, its late rows, how many rows it had, and their times."""

    tuples: Tuples
    late: list[Row]
    rows: int
    times: Times


class ThetaJoin:
    """Joins two sources by any predicate, on joiners that re-partition themselves.

    Give it the changes of both sources batch by batch: every pair that the predicate and the window
    admit comes out once, when the later of its rows comes; a deletion takes its pairs back. While
    state moves, each joiner settles `pace` bytes of it a batch at least; with None, all at once.
    A batch that raises is not joined at all. Sinks come after it: one that raises undoes nothing.
    A joiner that has more than `spill_after` bytes of rows keeps them in files of `spill_folder`.
    """

    def __init__(
        self,
        left: Source,
        right: Source,
        on: Condition | Sequence[Condition] = (),
        *,
        name: str = "join",
        joiners: int = 4,
        scheme: SchemeName | Scheme = "auto",
        policy: Policy | None = None,
        window: Window | None = None,
        output_time: OutputTime = "max",
        pace: int | None = 1 << 16,
        engine: EngineName = "auto",
        spill_after: int | None = None,
        spill_folder: str | Path | None = None,
        seed: int = 0,
    ) -> None:
        if left.name == right.name:
            raise BadJoin(f"both sources are called '{left.name}'", instead="rename one of them")
        self.name = name
        self.sources: dict[Side, Source] = {"R": left, "S": right}
        self.window = FullHistory() if window is None else window
        check_window(self.window, self.sources.values())
        if output_time not in get_args(OutputTime):
            raise BadJoin(f"the time of a pair cannot be {output_time!r}", instead="use min or max")
        conditions = tuple(on) if isinstance(on, Sequence) else (on,)
        self.theta = bind(conditions, left.relation, right.relation)
        has_table = left.table or right.table
        shape = Shape(self.theta, self.window, has_table, left.retracts, right.retracts)
        self._limit = shape.limit
        self.scheme = choose_scheme(
            scheme, joiners, policy, self.theta, self.window, self.sources.values()
        )
        if isinstance(self.scheme, Ranged):
            check_ranges(self.scheme.bounds, self.theta)
        self._metrics = Metrics()
        self._spill = Spill.of(spill_after, spill_folder)
        self._engine = LocalEngine(engine, shape, inputs_of(self.sources), seed)
        self._kernel: JoinKernel | None = None
        self._writers: dict[Side, RowWriter] = {}
        self._has_singles = False
        """Whether C++ may have joined rows that nobody has counted."""
        self._epochs = self._start(shape, pace)
        self._output_time: OutputTime = output_time
        self._seed = seed
        self._sinks: list[Sink] = []
        self._counts: dict[Side, int] = {"R": 0, "S": 0}
        self._watermarks = {side: Watermark(self.sources[side].delay) for side in SIDES}
        self._columns = tuple(
            Column(f"{s.name}.{c.name}", c.type)
            for s in self.sources.values()
            for c in s.relation.columns
        )
        self._empty = Pairs(*(self._batch(side, [], 1, 0).tuples for side in SIDES))

    def to(self, sink: Sink) -> ThetaJoin:
        """Send every output to a function as well."""
        self._count_singles()
        self._sinks.append(sink)
        return self

    def push(self, rows: Mapping[str, object]) -> Output:
        """Insert rows, by source: lists of rows, Arrow tables, or columns as arrays."""
        return self._run({side: (rows, 1) for side, rows in self._by_side(rows).items()})

    def apply(self, changes: Mapping[str, Iterable[tuple[Row, int]]]) -> Output:
        """Insert and delete rows: pairs of a row and how often it comes (or, below zero, goes)."""
        batches: dict[Side, tuple[object, Numbers | int]] = {}
        for side, changed_rows in self._by_side(changes).items():
            rows, weights = read_changes(self.sources[side], changed_rows)
            if isinstance(self.window, TupleCount) and (weights > 0).all():
                copies = np.repeat(np.arange(len(rows)), weights)  # each is one of the last rows
                rows, weights = [rows[k] for k in copies.tolist()], np.ones(len(copies), np.int64)
            batches[side] = rows, weights
        return self._run(batches)

    def advance(self, watermarks: Mapping[str, Time] | None = None) -> Output:
        """A batch without rows: sources promise to have passed a time, and state goes on moving."""
        self.promise(watermarks or {})
        return self._run({})

    def promise(self, watermarks: Mapping[str, Time]) -> None:
        """As `advance`, without a batch: the next one purges what sources have passed."""
        times = self._by_side(watermarks)
        for side, at in times.items():
            self._check_watermark(self.sources[side], at)
        for side, at in times.items():
            self._watermarks[side] = self._watermarks[side].advance(at)

    def writer(self, source: str) -> RowWriter:
        """Inserts single rows of a source, by a fast function that takes their values.

        It is fast where local joins run in C++, nothing is retracted, and there is neither a window
        over time nor a clock nor a sink.
        """
        [(side, _)] = self._by_side({source: None}).items()
        self._adopt(0)
        if side not in self._writers:
            self._writers[side] = RowWriter(self, side)
            if self._kernel is not None:
                self._writers[side].wire(self._kernel)
        return self._writers[side]

    def insert_one(self, side: Side, row: Row) -> Sequence[Row]:
        """Join a batch of one row; what writers call for whatever C++ does not do alone.

        After a while that is any row: then C++ goes on, if nothing else has changed.
        """
        if self._has_singles and self._kernel is not None and is_used_up(self._kernel):
            self._count_singles()
            self._exchange.begin(self.scheme.decide(self.placement))
            if self._start_singles():
                return self._writers[side].insert(*row)
        output = self._run({side: ([row], 1)})
        self._start_singles()
        # While state moves, a row that went is still there beside its deletion.
        return list(output.net().elements())

    @property
    def metrics(self) -> Metrics:
        """Counters and gauges of now."""
        if self._has_singles:
            self._count_singles()
            self._epochs.measure()
        return self._metrics

    @property
    def placement(self) -> Placement:
        """Where tuples go now."""
        return self._epochs.placement

    @property
    def is_migrating(self) -> bool:
        """Whether state is on its way."""
        return self._epochs.is_migrating

    def migrate(self, placement: Placement) -> None:
        """Begin a migration now, whatever the scheme says."""
        if self.is_migrating:
            raise BadJoin("state is still on its way", instead="call advance() until it has ended")
        self._count_singles()
        self._epochs.begin(placement)

    def explain(self) -> str:
        """Which scheme, which mapping, which index, in words."""
        if self.theta.equalities:
            index = "a hash index on the columns of the equality"
        elif self.theta.first_range is not None:
            index = "an ordered index on the columns of the first range"
        elif isinstance(self._limit, Sliding | Between | Tumbling | Hopping):
            index = "an ordered index on the times"
        else:
            index = "all the rows they have"
        mapping = show_mappings(self.placement)
        lines = [
            self.scheme.explain(),
            f"joiners look up {index}",
            self._engine.explain(),
            f"mapping now: {mapping}",
        ]
        if self._spill is not None:
            lines.append(str(self._spill))
        if isinstance(self._limit, TIMED) and not isinstance(self._limit, Landmark):
            marks = self._watermarks
            silent = [
                source.name
                for side, source in self.sources.items()
                if source.delay is None and marks[side].at is None
            ]
            lines += [f"no row is purged before advance() tells the time of '{n}'" for n in silent]
        return "\n".join(lines)

    def _start(self, shape: Shape, pace: int | None) -> Epochs:
        """The joiners before any row."""
        first = self.scheme.first()
        self._exchange = Exchange(shape, first, pace, self._metrics, spill=self._spill)
        return self._exchange

    def _adopt(self, rows: int) -> None:
        """Have local joins in C++ before a batch of so many rows, if they are ready."""
        if self._kernel is not None or self.is_migrating:
            return
        self._kernel = self._engine.kernel(rows)
        if self._kernel is not None:
            self._exchange.use(self._kernel)
            for writer in self._writers.values():
                writer.wire(self._kernel)

    def _start_singles(self) -> bool:
        """Have C++ join single rows alone, if it can now."""
        kernel = self._kernel
        if kernel is None or self._sinks or not is_joined_alone(kernel):
            return False
        self._has_singles = self._exchange.is_direct()
        if self._has_singles:
            start(kernel, self._counts)
        return self._has_singles

    def _count_singles(self) -> None:
        """Count the rows that C++ has joined alone; from now on they come here again."""
        if not self._has_singles:
            return
        assert self._kernel is not None
        self._has_singles = False
        news = collect_singles(self._kernel)
        for side, rows in news.rows.items():
            if len(rows):
                self.scheme.change(side, rows.keys, rows.hashes, rows.sizes)
                self._counts[side] += len(rows)
                self._exchange.stored[side] += float(rows.sizes.sum())
                name = self.sources[side].name
                self._metrics.tuples[name] = self._metrics.tuples.get(name, 0) + len(rows)
                self._metrics.batches += len(rows)
        self._metrics.pairs += news.pairs
        self._metrics.received_bytes += news.received

    def _run(self, rows_by_side: Mapping[Side, tuple[object, Numbers | int]]) -> Output:
        began = perf_counter()
        self._count_singles()
        batches = self._read(rows_by_side)
        self._adopt(sum(batch.rows for batch in batches.values()))
        for side, size in self._exchange.purge(self._horizon()).items():
            if size:
                self.scheme.purge(side, size)
        tuples = {side: batch.tuples for side, batch in batches.items()}
        self._count(tuples)
        try:
            if not self.is_migrating:
                self._exchange.begin(self.scheme.decide(self.placement))
            pairs = self._exchange.run(tuples)
        except BaseException:
            self._count(tuples, -1)
            raise
        late = {self.sources[side].name: b.late for side, b in batches.items() if b.late}
        timed = self.sources["R"].is_timed, self.sources["S"].is_timed
        output = collect(self._columns, pairs, self._empty, timed, self._output_time, late)
        for side, batch in batches.items():
            self._counts[side] += batch.rows
            if self.sources[side].is_timed:
                self._watermarks[side] = self._watermarks[side].observe(batch.times)
        self._measure(batches, output, perf_counter() - began)
        for sink in self._sinks:
            sink(output)
        return output

    def _read(self, rows_by_side: Mapping[Side, tuple[object, Numbers | int]]) -> dict[Side, Batch]:
        """The batches of both sides, those of R first: the rows of S see them."""
        batches: dict[Side, Batch] = {}
        for side in SIDES:
            if side in rows_by_side:
                across: Side = "S" if side == "R" else "R"
                seen = self._counts[across] + (batches[across].rows if across in batches else 0)
                batches[side] = self._batch(side, *rows_by_side[side], seen)
        return batches

    def _batch(self, side: Side, rows: object, weights: Numbers | int, seen: int) -> Batch:
        """The tuples of a source that can join, and its late rows."""
        source = self.sources[side]
        columns = read_columns(source, rows)
        count = len(columns[0].values)
        each = np.full(count, weights, np.int64) if isinstance(weights, int) else weights
        if not source.retracts and (each < 0).any():
            raise BadRow(
                f"rows of '{source.name}' cannot be deleted",
                instead="declare the source with retracts=True",
            )
        before = self._counts[side]
        tuples = stamped(source, side, self.theta, columns, each, self._seed, before, seen)
        if isinstance(self.placement, RangePlacement):
            tuples = in_ranges(tuples, side, self.theta, self.placement)
        usable = joinable(self.theta.comparisons, side, tuples)
        late: list[Row] = []
        timed = columns[source.time].valid if source.time is not None else np.ones(count, np.bool_)
        if source.is_timed and isinstance(self._limit, TIMED):
            check_times(source, tuples.stamps.time)
            behind = self._watermarks[side].is_late(tuples.stamps.time) & timed
            late = python_rows([c.take(behind) for c in columns])
            usable &= timed & ~behind
        admitted = tuples if usable.all() else tuples.take(usable)
        return Batch(admitted, late, count, tuples.stamps.time[timed])

    def _count(self, tuples: Mapping[Side, Tuples], sign: Literal[1, -1] = 1) -> None:
        for side, batch in tuples.items():
            sizes = batch.size * batch.weight
            self.scheme.change(side, batch.key, batch.hash, sizes, sign)

    def _horizon(self) -> Horizon:
        marks = self._watermarks
        return Horizon(marks["R"].at, marks["S"].at, self._counts["R"], self._counts["S"])

    def _measure(self, batches: Mapping[Side, Batch], output: Output, seconds: float) -> None:
        metrics = self._metrics
        for side, batch in batches.items():
            name = self.sources[side].name
            metrics.tuples[name] = metrics.tuples.get(name, 0) + batch.rows
            metrics.late[name] = metrics.late.get(name, 0) + len(batch.late)
        metrics.batches += 1
        metrics.pairs += len(output)
        metrics.latency, metrics.seconds = seconds, metrics.seconds + seconds
        self._epochs.measure()

    def _by_side(self, rows_by_source: Mapping[str, Rows]) -> dict[Side, Rows]:
        names: dict[str, Side] = {source.name: side for side, source in self.sources.items()}
        for name in rows_by_source:
            if name not in names:
                raise UnknownName(
                    f"no source is called '{name}'", instead=f"use {' or '.join(names)}"
                )
        return {names[name]: rows for name, rows in rows_by_source.items()}

    def _check_watermark(self, source: Source, at: Time) -> None:
        if not source.is_timed:
            raise BadWindow(
                f"the rows of '{source.name}' have no time", instead="name its time column"
            )
        if not isinstance(at, int | float) or isnan(at):
            raise BadWindow(
                f"'{source.name}' cannot have passed {at!r}",
                instead="give a number: microseconds since 1970 for timestamps, days for dates",
            )
