"""The ingest of a pipeline: batches in, versions out to sinks and listeners."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from freshview.calculus.schema import Relation
from freshview.distributed.terms import Distributed
from freshview.durable.batch_log import Note
from freshview.errors import BadRow, FreshviewError
from freshview.pipelines.contract import without_violations
from freshview.pipelines.counted_table import counted_table, deletion_flags, plain_table
from freshview.pipelines.event_time import (
    SHOWN,
    in_time,
    note_of,
    progress,
    watermarks,
)
from freshview.pipelines.flow import LOAD_ROWS, Flow
from freshview.pipelines.keyed_streams import changes_and_events
from freshview.pipelines.progress import Progress, Totals, prometheus
from freshview.pipelines.timed import PUSHED, TimedPipeline
from freshview.spark.io.dead_letters import DeadLetters
from freshview.spark.io.decode import DecodedBatch
from freshview.spark.io.emitter import Emitter, UnreadableView, ViewSource
from freshview.spark.io.keys import KeyStore
from freshview.spark.io.rows import RejectedRow
from freshview.spark.io.sinks import Callback, Sink
from freshview.spark.io.upsert import DELETED
from freshview.spark.nodes.violations import RefusedBatch

KEYS = "keys"
"""The key of a note for the token of the last events by key in the views."""

KEPT_VERSIONS = 100
"""The versions whose changes are kept, if a pipeline is asked to keep some."""


class PipelineIngest(TimedPipeline):
    """The part of a running pipeline that applies changes and notifies sinks."""

    _keys: KeyStore
    _emitter: Emitter
    _letters: DeadLetters
    _late: DeadLetters

    def __init__(self) -> None:
        super().__init__()
        self.totals = Totals()
        self._sinks: list[Sink] = []
        self._listeners: list[Callable[[Progress], object]] = []
        self._note: dict[str, Any] = {}
        """The note of the next batch: offsets of sources, and the token of events by key."""
        self._noted = 0
        """The last version whose note is in `_note`."""
        self._streams: dict[str, Relation] = {}
        self._marks: list[Relation] = []
        """What tells the views of the watermarks of streams."""
        self._kept: frozenset[str] = frozenset()
        """The views whose last changes are kept for whoever asks."""
        self._calling: int | None = None
        """The thread that calls sinks and listeners now."""

    # -- subscriptions -----------------------------------------------------------------------------

    def add_sink(self, sink: Sink) -> None:
        """Send every version of a view to a sink from now on.

        After a restart it also receives the last version, if no sink has received it: sinks that
        are added before the start miss none.
        """
        name = self._query(sink.view).name
        if sink.view != name:  # names are case-insensitive, and files are named after the view
            sink.view = name
        self._check_sink_columns(name, sink)
        with self._lock:
            self._refuse_in_sink("add another sink")
            if self._flow is not None:
                self._emitter.add(sink, self._flow.version)
            self._sinks.append(sink)
            if self._flow is not None:
                self._send_missed(self._flow.version)

    def on_version(
        self, view: str, function: Callable[[int, pa.Table], object], *, changes: bool = False
    ) -> None:
        """Call a function with every version of a view, or with its changes."""
        self.add_sink(Callback(self._query(view).name, function, changes))

    def subscribe(
        self, view: str, function: Callable[[int, pa.Table], object]
    ) -> Callable[[], None]:
        """Call a function with the changes of a view, the first ones being all its rows.

        Versions that do not change it are left out. The result ends the subscription.
        """
        sink = Callback(
            self._query(view).name, lambda v, t: t.num_rows and function(v, t), changes=True
        )
        self.add_sink(sink)

        def end() -> None:
            with self._lock:
                self._refuse_in_sink("end a subscription")
                if sink in self._sinks:
                    self._sinks.remove(sink)
                    if self._flow is not None:
                        self._emitter.remove(sink)

        return end

    def changes(self, view: str, since: int) -> pa.Table:
        """What changed in a view after a version: its columns, and `__count`."""
        name = self._query(view).name
        with self._lock:
            flow = self._running_flow()
            version = self._catch_up(flow)
            if name not in flow.collected or name not in self._kept:
                raise FreshviewError(
                    f"the changes of '{name}' are not kept",
                    instead=f"create the pipeline with changes=['{name}'] and another checkpoint",
                )
            first = max(flow.kept_since, version - KEPT_VERSIONS)
            if not first <= since <= version:
                raise FreshviewError(
                    f"the changes of '{name}' since version {since} are not known; they are kept "
                    f"from version {first} to {version}"
                )
            return flow.changes(name, since)

    def _not_asked(self, distributed: Distributed) -> list[str]:
        asked = {p.query for p in distributed.changes} | distributed.compared.keys()
        late = dict.fromkeys(s.view for s in self._sinks if s.changes and s.view not in asked)
        why = "two reads are compared: nobody asked for its changes when the checkpoint began"
        return [f"{name}: {why}" for name in late]

    def on_progress(self, listener: Callable[[Progress], object]) -> None:
        """Call a function after every batch."""
        self._listeners.append(listener)

    # -- changes -----------------------------------------------------------------------------------

    def push(self, batch: Mapping[str, object]) -> int:
        """Change several streams at once; the version that has the change.

        For every stream: rows in any form that `connect().insert` takes, a Spark DataFrame, an
        Arrow table with a column `__count`, or pairs of rows and counts as for `connect().apply`.
        Rows that do not fit are refused, and so is a batch that deletes missing rows or gives a
        primary key a second row (unless the stream is `trusted`): nothing is changed then.
        """
        self.start()
        tables = self._counted_tables(batch)
        return self.apply({name: DecodedBatch(t) for name, t in tables.items()}, {}, PUSHED)

    def load(
        self, batch: Mapping[str, object], *, rows: int = LOAD_ROWS, anew: bool = False
    ) -> int:
        """Load much data at once; the last version of it.

        The rows have any form that `push` takes. They are split into pieces of `rows` rows, each a
        version, and are several times as fast as batches. If the load is interrupted, the finished
        pieces are in the views: the same call continues behind them, after a restart too. Another
        load is refused until then, unless it begins `anew`.
        """
        if rows < 1:
            raise BadRow(f"a load cannot have pieces of {rows} rows", instead="give at least 1")
        self.start()
        tables = self._counted_tables(batch)
        for name in tables:
            if name in self._keys.relations:
                raise BadRow(f"'{name}' is kept by key", instead="push or upsert its rows")
        with self._lock:
            self._refuse_in_sink("load rows")
            began = time.perf_counter()
            self._catch_up(self._running_flow())
            arrivals = {name: DecodedBatch(t) for name, t in tables.items()}
            punctual = in_time(arrivals, self._streams, self.catalog, self._note)
            tables = {name: a.table for name, a in punctual.arrivals.items()}
            noted = {**self._note, **note_of(punctual.times)}
            version = self._running_flow().load(tables, noted, rows=rows, anew=anew)
            self._late.write(f"late-{version}", tables, punctual.late)
            self._note, self._noted = noted, version
            seconds = time.perf_counter() - began
            self._publish(version, {n: t.num_rows for n, t in tables.items()}, seconds)
            return version

    def upsert(self, stream: str, rows: object, deleted: object = None) -> int:
        """Replace rows of a stream by key; `deleted` is true for the keys that are deleted.

        The pipeline must be created for it: `fv.pipeline(..., upserts=["orders"])`.
        """
        self.start()
        relation = self._stream(stream)
        if relation.name not in self._keys.relations:
            raise BadRow(
                f"the rows of '{relation.name}' are not kept by key",
                instead=f"create the pipeline with upserts=['{relation.name}']",
            )
        table = plain_table(relation, rows)
        flags = deletion_flags(relation, deleted, table.num_rows)
        events = table.append_column(DELETED, pa.array(flags, pa.bool_()))
        return self.apply({relation.name: DecodedBatch(events, keyed=True)}, {}, PUSHED)

    def _counted_tables(self, batch: Mapping[str, object]) -> dict[str, pa.Table]:
        """The pushed rows by stream, with counts; names of one stream are merged."""
        if not isinstance(batch, Mapping):
            raise BadRow(
                f"a batch cannot be {type(batch).__name__}",
                instead="give a mapping from names of streams to their rows",
            )
        tables: dict[str, pa.Table] = {}
        for name, rows in batch.items():
            relation = self._stream(name)
            table = counted_table(relation, rows)
            self._contract.refuse_deletions(relation, table)
            known = tables.get(relation.name)
            tables[relation.name] = table if known is None else pa.concat_tables([known, table])
        return tables

    def _stream(self, name: str) -> Relation:
        if not isinstance(name, str):
            raise BadRow(f"there is no stream {name!r}", instead="name it by its text")
        relation = self.catalog.relation(name)
        if relation.name not in self._streams:
            what = "a static table" if relation.static else "read by no view"
            raise BadRow(f"'{relation.name}' is {what}", instead="push streams that views read")
        return relation

    def apply(
        self,
        arrivals: Mapping[str, DecodedBatch],
        note: Note,
        batch: str,
        seconds: float = 0.0,
    ) -> int:
        """Apply decoded batches as one change, and log the offsets of the sources with it.

        `batch` names the file of dead letters; `seconds` is the time that reading took.
        """
        with self._lock:
            self._refuse_in_sink("change a stream")
            flow = self._running_flow()
            began = time.perf_counter()
            self._catch_up(flow)
            punctual = in_time(arrivals, self._streams, self.catalog, self._note)
            arrivals = punctual.arrivals
            self._late.write(f"late-{flow.version + 1}", arrivals, punctual.late)
            while True:
                self._write_dead_letters(arrivals, batch)
                # Without the token of a refused attempt.
                noted = {**self._note, **note, **note_of(punctual.times)}
                try:
                    version = self._change(flow, arrivals, noted)
                    break
                except RefusedBatch as e:
                    if batch == PUSHED:
                        raise
                    arrivals = self._without_violations(arrivals, e)
            self._note = noted
            if version is None:
                return flow.version  # nothing changes: the same batch may come again
            self._noted = version
            elapsed = seconds + time.perf_counter() - began
            self._publish(version, {name: a.rows for name, a in arrivals.items()}, elapsed, seconds)
            return version

    def _change(
        self, flow: Flow, arrivals: Mapping[str, DecodedBatch], note: dict[str, Any]
    ) -> int | None:
        """Apply decoded batches as a version; None if they change nothing.

        The token of events by key is added to the note.
        """
        changes, events = changes_and_events(arrivals, self._streams, self._keys)
        marks, shown = watermarks(self._marks, self.catalog, self._note)
        changes.update(marks)
        if marks:
            note[SHOWN] = shown
        steps, noted = progress(self._streams, self.catalog, note)
        changes.update(steps)
        note.update(noted)
        if not changes:
            return None
        if events:
            note[KEYS] = self._keys.expect(events)
        version = flow.apply(changes, note)
        if events:
            self._keys.commit(note[KEYS], events)
        return version

    def _without_violations(
        self, arrivals: Mapping[str, DecodedBatch], e: RefusedBatch
    ) -> dict[str, DecodedBatch]:
        """The batches of a source without the refused rows, which go to the dead letters."""
        kept = {
            n: without_violations(self._streams[n], a, e.violations) for n, a in arrivals.items()
        }
        if all(kept[n].rows == a.rows for n, a in arrivals.items()):
            raise e
        return kept

    def _catch_up(self, flow: Flow) -> int:
        """Finish a logged version, and send it to the sinks that have not received it."""
        version = flow.catch_up()
        if version != self._noted:  # a read or another call has finished it meanwhile
            self._note, self._noted = dict(flow.note), version
        self._keys.resume(flow.note.get(KEYS))
        self._send_missed(version)
        return version

    def _send_missed(self, version: int) -> None:
        """Send a version to the sinks that have not received it."""
        with self._callbacks(), suppress(UnreadableView):  # its caller knows, and may repair it
            self._emitter.emit(version, self._source())

    def _source(self) -> ViewSource:
        flow = self._running_flow()

        def acknowledge(first: int, last: int) -> None:
            until = flow.version - KEPT_VERSIONS if self._kept else flow.version
            flow.acknowledge(min(first, until), range(last, until))

        return ViewSource(flow.collected, self._read, flow.changes, acknowledge)

    @contextmanager
    def _callbacks(self) -> Iterator[None]:
        """While sinks and listeners are called: they hold the lock, and cannot wait for others."""
        outer, self._calling = self._calling, threading.get_ident()
        try:
            yield
        finally:
            self._calling = outer

    @property
    def _in_callback(self) -> bool:
        """Whether the caller is a sink or a listener."""
        return self._calling == threading.get_ident()

    def _refuse_in_sink(self, what: str) -> None:
        """Refuse what cannot be done while a sink receives a version: the version is not sent."""
        if "_emitter" in vars(self) and self._emitter.emitting:  # else it did not start yet
            raise FreshviewError(
                f"a sink cannot {what} while it receives a version",
                instead="do it when the version is sent, in the code that applied the batch",
            )

    def _publish(
        self, version: int, rows: Mapping[str, int], seconds: float, source: float = 0.0
    ) -> None:
        """Send a version to the sinks, and its metrics to the listeners."""
        began = time.perf_counter()
        self.totals.read.update(rows)
        with self._callbacks():
            self._emitter.emit(version, self._source())
            seconds += time.perf_counter() - began
            self._report(version, sum(rows.values()), seconds, source)

    def _write_dead_letters(self, arrivals: Mapping[str, DecodedBatch], batch: str) -> None:
        rejected: list[RejectedRow] = [r for a in arrivals.values() for r in a.rejected]
        if batch != PUSHED:  # pushed rows are refused, not set aside
            self._letters.write(batch, arrivals, rejected)

    def _report(self, version: int, rows: int, seconds: float, source: float) -> None:
        stats = self._running_flow().stats
        last = stats[-1] if stats else None
        progress = Progress(
            version,
            rows,
            seconds,
            source,
            tuple(s.seconds for s in last.stages) if last else (),
            last.state if last else 0,
            self._letters.count,
            last.rebuilt if last else 0,
            self._late.count,
        )
        self.totals.add(progress)
        for listener in self._listeners:
            try:
                listener(progress)
            except Exception as e:
                raise FreshviewError(
                    f"a listener failed at version {version}: {type(e).__name__}: {e}",
                    instead="fix the listener; the version is in the views",
                ) from e

    def metrics(self) -> str:
        """The metrics of this run in Prometheus's text format."""
        return prometheus(self.totals)
