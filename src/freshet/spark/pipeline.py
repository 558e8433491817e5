"""A pipeline: the views of a script on Spark, from its sources to its sinks."""

from __future__ import annotations

import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]

from freshet.calculus.schema import Relation
from freshet.errors import BadRow, FreshetError, FreshetWarning
from freshet.program.terms import Program
from freshet.spark.choices import Choices
from freshet.spark.compile import distribute
from freshet.spark.contract import contract_of, set_aside, unique
from freshet.spark.declared import Declared
from freshet.spark.feed import Feed
from freshet.spark.identity import claim, identity
from freshet.spark.io.arrive import Arrival
from freshet.spark.io.dead_letters import DeadLetters
from freshet.spark.io.emitter import Emitter
from freshet.spark.io.keys import KeyStore
from freshet.spark.io.load import load_tables
from freshet.spark.io.progress import Progress, Totals, prometheus
from freshet.spark.io.rows import Rejected
from freshet.spark.io.sinks import Callback, Sink
from freshet.spark.io.sources import check_paths, inputs
from freshet.spark.io.upsert import GONE
from freshet.spark.keyed import changes_of, kept_by_key
from freshet.spark.options import Options
from freshet.spark.program import program_of
from freshet.spark.pushed import pushed
from freshet.spark.run.flow import LOAD, Flow, Interrupted
from freshet.spark.run.node import COUNT
from freshet.spark.run.probe import check_workers
from freshet.spark.run.refuse import Refused
from freshet.spark.session import active, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


PUSHED = "push"
"""What a batch is called that nobody read from a source."""


class Pipeline(Declared):
    """Streams, tables and views on Spark.

    Views are declared first. `start` compiles them and begins to read the sources, if there are
    any; `push` gives rows by hand. A batch over several streams is one change, and one version.

        with ft.pipeline("shop.sql", checkpoint="/data/shop") as flow:
            flow.await_done()
            flow.view("revenue").to_df().show()
    """

    def __init__(
        self,
        choices: Choices,
        spark: SparkSession | None = None,
        folder: Path | None = None,
        flows: type[Flow] | None = None,
    ) -> None:
        super().__init__()
        self.choices = choices
        self.folder = folder or Path.cwd()
        self.totals = Totals()
        self._flows = flows or Flow
        self._given = spark
        self._spark: SparkSession | None = spark
        self._sinks: list[Sink] = []
        self._listeners: list[Callable[[Progress], object]] = []
        self._note: dict[str, Any] = {}
        self._home = Path()
        self._gone = False
        """Whether it has run and stopped without a checkpoint."""
        self._streams: dict[str, Relation] = {}

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

    # -- from the start to the end -----------------------------------------------------------------

    def start(self, *, follow: bool = False) -> Pipeline:
        """Compile the views, load the static tables, and read the sources.

        The sources are read to their present end, or, with `follow`, until the pipeline is
        stopped. With a checkpoint, it goes on where it was; without one, it runs once.
        """
        if self._flow is not None:
            return self
        if self._gone:
            raise FreshetError(
                "the pipeline was stopped, and what it knew is gone",
                instead="make another one; one with a checkpoint goes on after a stop",
            )
        if not self.queries:
            raise FreshetError("the pipeline has no views", instead="declare one with CREATE VIEW")
        program = program_of(self.queries.values(), self.catalog, self.choices)
        check_paths(inputs(self.catalog, [r.name for r in program.relations], self.folder))
        self._owned = self.choices.checkpoint is None
        try:
            self._home = self._folder()
            self._streams = {r.name: r for r in program.relations if not r.static}
            kept = kept_by_key(self.catalog, self._streams, self.choices.upserts)
            self._contract = contract_of(self.catalog, self._streams, kept, self.choices.trusted)
            checked = [r.name for r in self._contract.guarded]
            claim(self._home, identity(program, self.catalog, checked))
            self._begin(program, kept)
            used = [r.name for r in program.relations if not r.static]
            sources = inputs(self.catalog, used, self.folder)
            self._feed = Feed(self, sources, self._note, follow)
            self._feed.start()
        except BaseException:
            self._end()
            raise
        return self

    def _folder(self) -> Path:
        named = self.choices.checkpoint
        if named is None:
            return Path(tempfile.mkdtemp(prefix="freshet-"))
        if "://" in str(named) or ":/" in str(named):
            raise FreshetError(
                f"the checkpoint '{named}' is no folder of this machine",
                instead="name a folder, which may be a mounted one",
            )
        return named.absolute()

    def _begin(self, program: Program, kept: Sequence[Relation]) -> None:
        spark = self.spark
        check_workers(spark)
        state = self._home / "state"
        letters = self.choices.dead_letters or self._home / "dead_letters"
        self._letters = DeadLetters(letters)
        workers = self.choices.workers or max(1, spark.sparkContext.defaultParallelism)
        spread = Options(workers=workers, deliver=True)
        made = distribute(program, options=spread, functions=self.catalog.functions)
        made = replace(made, guarded=self._contract.guarded)
        common: dict[str, Any] = {
            "functions": self.catalog.functions,
            "settings": self.choices.settings,
        }
        if self._flows.exists(state):
            self._flow = self._flows.restart(
                made, spark, checkpoint=state, workers=self.choices.workers, **common
            )
        else:
            static = [r.name for r in program.relations if r.static]
            tables = self._tables(spark, static)
            self.totals.read.update({name: t.num_rows for name, t in tables.items()})
            self._flow = self._flows.start(
                made, spark, checkpoint=state, workers=workers, tables=tables, **common
            )
        self._note = dict(self._flow.note)
        self._keys = KeyStore(self._home / "keys.sqlite", kept)
        self._keys.resume(self._flow.version)
        self._emitter = Emitter(self._sinks, self._home / "sinks", self._flow.version)
        self._emitter.emit(self._flow.version, self._read)

    def _tables(self, spark: SparkSession, static: Sequence[str]) -> dict[str, pa.Table]:
        """The rows of the static tables; those that do not fit go to the dead letters."""
        tables, rejected = load_tables(spark, inputs(self.catalog, static, self.folder))
        for name, table in tables.items():
            if name not in self._contract.trusted:
                tables[name], doubled = unique(self.catalog.relation(name), table)
                rejected += doubled
        self._letters.write("tables", rejected)
        return tables

    @property
    def spark(self) -> SparkSession:
        """The session: the given one, or a new one."""
        if self._spark is None:
            c = self.choices
            self._given = active()
            log = c.log or self._home / "spark.log"
            self._spark = self._given or session(c.master, packages=c.packages, log=log)
        return self._spark

    @property
    def home(self) -> Path:
        """The folder of the checkpoint, or one that goes when the pipeline stops."""
        return self._home

    @property
    def letters(self) -> Path:
        """The folder of the rows that do not fit."""
        return self._letters.folder

    @property
    def running(self) -> bool:
        """Whether sources are being read."""
        return self._flow is not None and self._feed.running

    def await_done(self, timeout: float | None = None) -> bool:
        """Wait until the sources are read; whether that was so in time. Tells what went wrong."""
        self._need()
        return self._feed.wait(timeout)

    def finish(self) -> None:
        """Finish the batch that is under way, and read no more; views can still be read."""
        self._need()
        self._feed.stop()

    def stop(self) -> None:
        """Finish the batch that is under way, write a checkpoint, and let go of everything."""
        if self._flow is None:
            self._end()
            return
        self._gone = self._owned
        try:
            self.finish()
            with self._lock:
                if not self._owned:
                    self._save(self._flow)
        finally:
            self._end()

    def _save(self, flow: Flow) -> None:
        try:
            flow.checkpoint()
        except Interrupted as e:
            warnings.warn(
                f"no snapshot is written, and the next start goes on from the log: {e.what}",
                FreshetWarning,
                stacklevel=3,
            )

    def _end(self) -> None:
        with self._lock:
            if self._flow is not None:
                self._flow.close()
                self._keys.close()
                self._flow = None
            if self._home != Path() and self.choices.checkpoint is None:
                shutil.rmtree(self._home, ignore_errors=True)
            if self._given is None and self._spark is not None:
                with suppress(Exception):
                    self._spark.stop()
                self._spark = None

    def __enter__(self) -> Pipeline:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- changes -----------------------------------------------------------------------------------

    def push(self, batch: Mapping[str, Any]) -> int:
        """Change several streams at once; the version that has the change.

        For every stream: rows in any form that `connect().insert` takes, a Spark DataFrame, an
        Arrow table with a column `__count`, or pairs of rows and counts as for `connect().apply`.
        Rows that do not fit are refused, and so is a batch that deletes rows that are not there or
        gives a primary key a second row (unless the stream is `trusted`): nothing is changed then.
        """
        self.start()
        arrivals: dict[str, Arrival] = {}
        for name, given in batch.items():
            relation = self._stream(name)
            table = pushed(relation, given)
            self._contract.refuse_deletions(relation, table)
            arrivals[relation.name] = Arrival(table)
        return self.take(arrivals, {}, PUSHED)

    def load(self, batch: Mapping[str, Any], *, rows: int = LOAD, anew: bool = False) -> int:
        """Much data at once, as a first load; the last version of it.

        Given as for `push`, in pieces of `rows` rows, each a version, and several times as fast as
        batches. If it is cut short, the pieces that were done are in the views: the same call goes
        on behind them, after a restart too. Another load is refused until then, unless it is told
        to begin `anew`.
        """
        self.start()
        tables = {}
        for name, given in batch.items():
            relation = self._stream(name)
            if relation.name in self._keys.relations:
                raise BadRow(f"'{relation.name}' is kept by key", instead="push or upsert its rows")
            tables[relation.name] = pushed(relation, given)
            self._contract.refuse_deletions(relation, tables[relation.name])
        with self._lock:
            began = time.perf_counter()
            self._catch_up(self._need())
            version = self._need().load(tables, self._note, rows=rows, anew=anew)
            taken = time.perf_counter() - began
            self._done(version, {n: t.num_rows for n, t in tables.items()}, taken)
            return version

    def upsert(self, stream: str, rows: Any, deleted: Any = None) -> int:
        """Give keys of a stream new rows; `deleted` says by truth values which have none any more.

        The pipeline must have been told that this happens: `ft.pipeline(..., upserts=["orders"])`.
        """
        self.start()
        relation = self._stream(stream)
        if relation.name not in self._keys.relations:
            raise BadRow(
                f"the rows of '{relation.name}' are not kept by key",
                instead=f"make the pipeline with upserts=['{relation.name}']",
            )
        table = pushed(relation, rows).drop_columns([COUNT])
        gone = [False] * table.num_rows if deleted is None else [bool(d) for d in deleted]
        events = table.append_column(GONE, pa.array(gone, pa.bool_()))
        return self.take({relation.name: Arrival(events, keyed=True)}, {}, PUSHED)

    def _stream(self, name: str) -> Relation:
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
            taken = seconds + time.perf_counter() - began
            self._done(version, {name: a.rows for name, a in arrivals.items()}, taken, seconds)
            return version

    def _change(
        self, flow: Flow, arrivals: Mapping[str, Arrival], note: Mapping[str, Any]
    ) -> int | None:
        """Make what has come a version; None if it changes nothing."""
        changes, events = changes_of(arrivals, self._streams, self._keys)
        if not changes:
            return None
        if events:
            self._keys.expect(flow.version + 1, events)
        version = flow.apply(changes, note)
        if events:
            self._keys.commit(version, events)
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
        self._keys.resume(version)
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
                raise FreshetError(
                    f"a listener failed at version {version}: {type(e).__name__}: {e}",
                    instead="mend it; the version is in the views",
                ) from e

    def metrics(self) -> str:
        """The figures of this run as Prometheus reads them."""
        return prometheus(self.totals)
