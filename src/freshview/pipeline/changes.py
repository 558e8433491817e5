"""How a pipeline changes, and who is told: batches in, versions out, one after the other."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import pyarrow as pa  # type: ignore[import-untyped]

from freshview.calculus.schema import Relation
from freshview.errors import BadRow, FreshviewError
from freshview.pipeline.contract import set_aside
from freshview.pipeline.declared import Declared
from freshview.pipeline.flow import LOAD, Flow
from freshview.pipeline.keyed import changes_of
from freshview.pipeline.progress import Progress, Totals, prometheus
from freshview.pipeline.pushed import in_order, pushed, truths
from freshview.spark.io.dead_letters import DeadLetters
from freshview.spark.io.decode import Arrival
from freshview.spark.io.emitter import Emitter
from freshview.spark.io.keys import KeyStore
from freshview.spark.io.rows import Rejected
from freshview.spark.io.sinks import Callback, Sink
from freshview.spark.io.upsert import GONE
from freshview.spark.nodes.refusals import Refused

KEYS = "keys"
"""What a note tells: the token of the last events by key that are in the views."""

PUSHED = "push"
"""What a batch is called that nobody read from a source."""


class Changed(Declared):
    """The part of a pipeline that takes changes, while it runs."""

    _keys: KeyStore
    _emitter: Emitter
    _letters: DeadLetters

    def __init__(self) -> None:
        super().__init__()
        self.totals = Totals()
        self._sinks: list[Sink] = []
        self._listeners: list[Callable[[Progress], object]] = []
        self._note: dict[str, Any] = {}
        """What is told with the next batch: how far sources were read."""
        self._noted = 0
        """The version up to which that was told."""
        self._streams: dict[str, Relation] = {}

    @abstractmethod
    def start(self) -> Self:
        """Begin, if it does not run already."""

    # -- who is told -------------------------------------------------------------------------------

    def add_sink(self, sink: Sink) -> None:
        """Tell a sink every version of its view from now on.

        After a restart it is told the last version, too, if nobody took that before: sinks that
        are added before the start miss none.
        """
        self._refuse_unshown(sink.view, changes=sink.changes)
        with self._lock:
            self._sinks.append(sink)
            if self._flow is not None:
                self._emitter.add(sink, self._flow.version)
                self._emitter.emit(self._flow.version, self._read)

    def on_version(
        self, view: str, function: Callable[[int, pa.Table], object], *, changes: bool = False
    ) -> None:
        """Call a function with every version of a view, or with what has changed in it."""
        self.add_sink(Callback(self._query(view).name, function, changes))

    def on_progress(self, listener: Callable[[Progress], object]) -> None:
        """Call a function after every batch."""
        self._listeners.append(listener)

    # -- changes -----------------------------------------------------------------------------------

    def push(self, batch: Mapping[str, Any]) -> int:
        """Change several streams at once; the version that has the change.

        For every stream: rows in any form that `connect().insert` takes, a Spark DataFrame, an
        Arrow table with a column `__count`, or pairs of rows and counts as for `connect().apply`.
        Rows that do not fit are refused, and so is a batch that deletes rows that are not there or
        gives a primary key a second row (unless the stream is `trusted`): nothing is changed then.
        """
        self.start()
        given = self._given_rows(batch)
        return self.take({name: Arrival(table) for name, table in given.items()}, {}, PUSHED)

    def load(self, batch: Mapping[str, Any], *, rows: int = LOAD, anew: bool = False) -> int:
        """Much data at once, as a first load; the last version of it.

        Given as for `push`, in pieces of `rows` rows, each a version, and several times as fast as
        batches. If it is cut short, the pieces that were done are in the views: the same call goes
        on behind them, after a restart too. Another load is refused until then, unless it is told
        to begin `anew`.
        """
        if rows < 1:
            raise BadRow(f"a load cannot have pieces of {rows} rows", instead="give at least 1")
        self.start()
        tables = self._given_rows(batch)
        for name in tables:
            if name in self._keys.relations:
                raise BadRow(f"'{name}' is kept by key", instead="push or upsert its rows")
        with self._lock:
            began = time.perf_counter()
            self._catch_up(self._need())
            version = self._need().load(tables, self._note, rows=rows, anew=anew)
            self._noted = version
            taken = time.perf_counter() - began
            self._done(version, {n: t.num_rows for n, t in tables.items()}, taken)
            return version

    def upsert(self, stream: str, rows: Any, deleted: Any = None) -> int:
        """Give keys of a stream new rows; `deleted` says by truth values which have none any more.

        The pipeline must have been told that this happens: `fv.pipeline(..., upserts=["orders"])`.
        """
        self.start()
        relation = self._stream(stream)
        if relation.name not in self._keys.relations:
            raise BadRow(
                f"the rows of '{relation.name}' are not kept by key",
                instead=f"make the pipeline with upserts=['{relation.name}']",
            )
        table = in_order(relation, rows)
        gone = truths(relation, deleted, table.num_rows)
        events = table.append_column(GONE, pa.array(gone, pa.bool_()))
        return self.take({relation.name: Arrival(events, keyed=True)}, {}, PUSHED)

    def _given_rows(self, batch: Mapping[str, Any]) -> dict[str, pa.Table]:
        """What a user gives for streams, with counts; one may be named more than once."""
        if not isinstance(batch, Mapping):
            raise BadRow(
                f"a batch cannot be {type(batch).__name__}",
                instead="give a mapping from names of streams to their rows",
            )
        tables: dict[str, pa.Table] = {}
        for name, given in batch.items():
            relation = self._stream(name)
            table = pushed(relation, given)
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

    def take(
        self,
        arrivals: Mapping[str, Arrival],
        note: Mapping[str, Any],
        batch: str,
        seconds: float = 0.0,
    ) -> int:
        """Apply what has come as one change, and remember with it how far the sources were read.

        `batch` names the file for rows that did not fit; `seconds` is what reading took.
        """
        with self._lock:
            flow = self._need()
            began = time.perf_counter()
            self._catch_up(flow)
            noted = {**self._note, **note}
            while True:
                self._reject(arrivals, batch)
                try:
                    version = self._change(flow, arrivals, noted)
                    break
                except Refused as e:
                    if batch == PUSHED:
                        raise
                    arrivals = self._without(arrivals, e)
            self._note = noted
            if version is None:
                return flow.version  # what came changes nothing: it may come again
            self._noted = version
            taken = seconds + time.perf_counter() - began
            self._done(version, {name: a.rows for name, a in arrivals.items()}, taken, seconds)
            return version

    def _change(
        self, flow: Flow, arrivals: Mapping[str, Arrival], note: dict[str, Any]
    ) -> int | None:
        """Make what has come a version; None if it changes nothing.

        The note comes to know the events by key that are in it.
        """
        changes, events = changes_of(arrivals, self._streams, self._keys)
        if not changes:
            return None
        if events:
            note[KEYS] = self._keys.expect(events)
        version = flow.apply(changes, note)
        if events:
            self._keys.commit(note[KEYS], events)
        return version

    def _without(self, arrivals: Mapping[str, Arrival], e: Refused) -> dict[str, Arrival]:
        """What a source gave without the rows that cannot be: they go to the dead letters."""
        found = {n: set_aside(self._streams[n], a, e.wrong) for n, a in arrivals.items()}
        if all(found[n].rows == a.rows for n, a in arrivals.items()):
            raise e
        return found

    def _catch_up(self, flow: Flow) -> int:
        """Finish what was begun: a version that is written down, and who is to hear of it."""
        version = flow.catch_up()
        if version != self._noted:  # it was done meanwhile, by whoever asked for something
            self._note, self._noted = dict(flow.note), version
        self._keys.resume(flow.note.get(KEYS))
        self._emitter.emit(version, self._read)
        return version

    def _done(
        self, version: int, rows: Mapping[str, int], seconds: float, source: float = 0.0
    ) -> None:
        """Give a version to the sinks, and its figures to those who listen."""
        began = time.perf_counter()
        self.totals.read.update(rows)
        self._emitter.emit(version, self._read)
        seconds += time.perf_counter() - began
        self._tell(version, sum(rows.values()), seconds, source)

    def _reject(self, arrivals: Mapping[str, Arrival], batch: str) -> None:
        rejected: list[Rejected] = [r for a in arrivals.values() for r in a.rejected]
        self._letters.write(batch, rejected)

    def _tell(self, version: int, rows: int, seconds: float, source: float) -> None:
        stats = self._need().stats
        found = stats[-1] if stats else None
        progress = Progress(
            version,
            rows,
            seconds,
            source,
            tuple(s.seconds for s in found.stages) if found else (),
            found.state if found else 0,
            self._letters.count,
            found.rebuilt if found else 0,
        )
        self.totals.add(progress)
        for listener in self._listeners:
            try:
                listener(progress)
            except Exception as e:
                raise FreshviewError(
                    f"a listener failed at version {version}: {type(e).__name__}: {e}",
                    instead="mend it; the version is in the views",
                ) from e

    def metrics(self) -> str:
        """The figures of this run as Prometheus reads them."""
        return prometheus(self.totals)
