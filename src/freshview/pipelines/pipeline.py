"""A pipeline: the views of a script on Spark, from its sources to its sinks."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from freshview.calculus.schema import Relation
from freshview.distributed.compile import distribute
from freshview.distributed.options import DistributionOptions
from freshview.errors import FreshviewError, FreshviewWarning
from freshview.files import sync_folder
from freshview.pipelines.contract import contract_of, without_duplicate_keys
from freshview.pipelines.event_time import check_times
from freshview.pipelines.flow import Flow, Interrupted
from freshview.pipelines.identity import claim, identity
from freshview.pipelines.ingest import KEYS, PipelineIngest
from freshview.pipelines.keyed_streams import keyed_streams
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.program import program_of
from freshview.program.terms import Program
from freshview.runtime.database.session import alone
from freshview.runtime.database.table_calls import PlannedCall, may_call, plan_call
from freshview.spark.io.dead_letters import DeadLetters
from freshview.spark.io.emitter import Emitter, UnreadableView
from freshview.spark.io.feed import Feed
from freshview.spark.io.keys import KeyStore
from freshview.spark.io.load import load_tables
from freshview.spark.io.sources import check_paths, inputs
from freshview.spark.nodes.checkpoint import collected_queries
from freshview.spark.probe import check_workers
from freshview.spark.session import active, session
from freshview.sql.parse.statements import parse_with_ends
from freshview.sql.statements import CreateView

if TYPE_CHECKING:
    from freshview.pipelines.signals import SignalView
    from freshview.signal.language.events import EventOperators
    from freshview.spark.types import SparkSession


class Pipeline(PipelineIngest):
    """Streams, tables and views on Spark.

    Views are declared first. `start` compiles them and reads the sources, if there are any; `push`
    applies rows directly. A batch over several streams is one change, and one version.

        with fv.pipeline("shop.sql", checkpoint="/data/shop") as flow:
            flow.await_done()
            flow.view("revenue").to_df().show()
    """

    def __init__(
        self,
        options: PipelineOptions,
        spark: SparkSession | None = None,
        folder: Path | None = None,
        flows: type[Flow] | None = None,
    ) -> None:
        super().__init__()
        self.options = options
        self.folder = folder or Path.cwd()
        self._flows = flows or Flow
        self._user_session = spark
        self._spark: SparkSession | None = spark
        self._home = Path()
        self._signals: list[SignalView] = []
        self._discarded = False
        """Whether it has stopped without a checkpoint."""

    # -- signals -----------------------------------------------------------------------------------

    def signal(
        self,
        plan: EventOperators,
        inputs: str | Mapping[str, str],
        *,
        view: str,
        workers: int | None = None,
    ) -> SignalView:
        """Let a signal query follow views, before the start; its result is the view of a name.

        `inputs` has the view of each source, or that of the only one. Views that are declared later
        read the result, and another query may follow them.
        """
        from freshview.pipelines.signals import SignalView

        self._refuse_late()
        signal = SignalView(self, plan, inputs, view, {"workers": workers})
        self._signals.append(signal)
        return signal

    def declare(self, sql: str, file: str = "<text>") -> None:
        """Declare more streams, tables and views, before the start.

        Each call of a table function over signals is a view of its own, which is called as the call
        is written.
        """
        if not may_call(sql):
            super().declare(sql, file)
            return
        before = self.catalog, dict(self.queries)
        parts: tuple[list[Any], ...] = (self._signals, self._sinks, self._listeners)
        sizes = [len(part) for part in parts]
        try:
            for statement, begin, end in parse_with_ends(sql, file):
                for call in statement.calls if isinstance(statement, CreateView) else ():
                    if not self.catalog.has(call.name):
                        self._call(plan_call(call, self.catalog))
                super().declare(alone(sql, begin, end), file)
        except BaseException:
            self.catalog, self.queries = before
            for part, size in zip(parts, sizes, strict=True):
                del part[size:]
            raise

    def _call(self, planned: PlannedCall) -> None:
        if planned.projected:
            super().declare(planned.projected)
        try:
            self.signal(
                planned.plan, planned.input, view=planned.call.name, workers=self.options.workers
            )
        except FreshviewError as e:
            raise e.located(planned.call.at) from None

    # -- life cycle --------------------------------------------------------------------------------

    def start(self, *, follow: bool = False) -> Pipeline:
        """Compile the views, load the static tables, and read the sources.

        The sources are read to their present end, or, with `follow`, until the pipeline is
        stopped. With a checkpoint, it continues where it stopped; without one, it runs once.
        Threads that start it together share one start.
        """
        with self._lock:
            if self._flow is None:
                self._start(follow)
        return self

    def _start(self, follow: bool) -> None:
        if self._discarded:
            raise FreshviewError(
                "the pipeline was stopped, and its state is discarded",
                instead="create another one; with a checkpoint, it continues after a stop",
            )
        if not self.queries:
            raise FreshviewError(
                "the pipeline has no views", instead="declare one with CREATE VIEW"
            )
        program = program_of(self.queries.values(), self.catalog, self.options)
        declared = [r.name for r in program.relations if self.catalog.has(r.name)]
        check_paths(inputs(self.catalog, declared, self.folder))
        self._owned = self.options.checkpoint is None
        try:
            self._home = self._folder()
            streams = [r for r in program.relations if not r.static]
            self._streams = {r.name: r for r in streams if self.catalog.has(r.name)}
            self._marks = [r for r in streams if not self.catalog.has(r.name)]
            kept = keyed_streams(self.catalog, self._streams, self.options.upserts)
            check_times(self._streams.values(), kept)
            self._contract = contract_of(self.catalog, self._streams, kept, self.options.trusted)
            checked = [r.name for r in self._contract.guarded]
            by_key = [r.name for r in kept]
            mine = identity(program, self.catalog, checked, by_key)
            claim(self._home, mine, sync=self._sync)
            self._begin(program, kept)
            for signal in self._signals:
                signal.begin(self.spark)
            sources = inputs(self.catalog, list(self._streams), self.folder)
            self._feed = Feed(self, sources, self._note, follow)
            self._feed.start()
        except BaseException:
            self._end()
            raise

    def _folder(self) -> Path:
        named = self.options.checkpoint
        if named is None:
            return Path(tempfile.mkdtemp(prefix="freshview-"))
        if "://" in str(named) or ":/" in str(named):
            raise FreshviewError(
                f"the checkpoint '{named}' is not a folder on this machine",
                instead="name a folder, which may be a mounted one",
            )
        return named.absolute()

    def _begin(self, program: Program, kept: Sequence[Relation]) -> None:
        spark = self.spark
        check_workers(spark)
        state = self._home / "state"
        letters = self.options.dead_letters or self._home / "dead_letters"
        self._letters, self._late = DeadLetters(letters), DeadLetters(letters)
        workers = self.options.workers or max(1, spark.sparkContext.defaultParallelism)
        spread = DistributionOptions(workers=workers, deliver=True, grids=True)
        self._kept = frozenset(self._query(name).name for name in self.options.changes)
        begun = self._flows.exists(state)
        wanted = collected_queries(state) if begun else self._followed()
        functions = self.catalog.functions
        distributed = distribute(program, None, spread, functions, collected=wanted)
        distributed = replace(distributed, guarded=self._contract.guarded)
        common: dict[str, Any] = {
            "functions": functions,
            "settings": self.options.settings,
        }
        if begun:
            self._flow = self._flows.restart(
                distributed, spark, checkpoint=state, workers=self.options.workers, **common
            )
        else:
            static = [r.name for r in program.relations if r.static]
            tables = self._tables(spark, static)
            self.totals.read.update({name: t.num_rows for name, t in tables.items()})
            self._flow = self._flows.start(
                distributed, spark, checkpoint=state, workers=workers, tables=tables, **common
            )
        self._note, self._noted = dict(self._flow.note), self._flow.version
        self._keys = KeyStore(self._home / "keys.sqlite", kept, self._flow.epoch)
        if self._sync:
            sync_folder(self._home)  # the names of both
        self._keys.resume(self._note.get(KEYS))
        self._start_sinks(self._flow.version)

    def _followed(self) -> set[str]:
        """The views whose changes are collected from the first version on."""
        return {*self._kept, *(s.view for s in self._sinks if s.changes)}

    def _start_sinks(self, version: int) -> None:
        with self._lock, self._callbacks():
            folder = self._home / "sinks"
            collected = self._running_flow().collected
            self._emitter = Emitter(self._sinks, folder, version, collected, sync=self._sync)
            try:
                self._emitter.emit(version, self._source())
            except UnreadableView as e:  # a start that was refused could not repair it
                warnings.warn(str(e), FreshviewWarning, stacklevel=5)

    def _tables(self, spark: SparkSession, static: Sequence[str]) -> dict[str, pa.Table]:
        """The rows of the static tables; malformed ones go to the dead letters."""
        tables, rejected = load_tables(spark, inputs(self.catalog, static, self.folder))
        for name, table in tables.items():
            if name not in self._contract.trusted:
                tables[name], doubled = without_duplicate_keys(self.catalog.relation(name), table)
                rejected += doubled
        self._letters.write("tables", tables, rejected)
        return tables

    @property
    def spark(self) -> SparkSession:
        """The session: the user's, or a new one."""
        if self._spark is None:
            c = self.options
            self._user_session = active()
            log = c.log or self._home / "spark.log"
            self._spark = self._user_session or session(c.master, packages=c.packages, log=log)
        return self._spark

    @property
    def state_id(self) -> str:
        """The unique name of the state, the same after a restart from its checkpoint."""
        return self._running_flow().work.name

    @property
    def _sync(self) -> bool:
        return self.options.settings is not None and self.options.settings.sync

    @property
    def home(self) -> Path:
        """The folder of the checkpoint, or one that is deleted when the pipeline stops."""
        return self._home

    @property
    def letters(self) -> Path:
        """The folder of the dead letters."""
        return self._letters.folder

    @property
    def running(self) -> bool:
        """Whether sources are being read."""
        return self._flow is not None and self._feed.running

    def await_done(self, timeout: float | None = None) -> bool:
        """Wait until the sources are read; False after the timeout. Raises what went wrong."""
        self._running_flow()
        if self._in_callback:
            raise FreshviewError(
                "a listener or sink cannot wait for the sources, which wait for it",
                instead="wait in the thread that started the pipeline",
            )
        return self._feed.wait(timeout)

    def finish(self) -> None:
        """Finish the current batch, and read no more; views can still be read."""
        self._running_flow()
        self._feed.stop(wait=not self._in_callback)

    def stop(self) -> None:
        """Finish the current batch, write a checkpoint, and release everything."""
        with self._lock:  # a start of another thread is over, or has not begun
            if self._flow is None:
                self._end()
                return
        self._refuse_in_sink("stop the pipeline")
        self._discarded = self._owned
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
                f"no snapshot was written; the next start continues from the log: {e.what}",
                FreshviewWarning,
                stacklevel=3,
            )

    def _end(self) -> None:
        with self._lock:
            for signal in self._signals:
                signal.close()
            if self._flow is not None:
                self._flow.close()
                self._flow = None
            if "_keys" in vars(self):  # else the start did not come so far
                self._keys.close()
            if self._home != Path() and self.options.checkpoint is None:
                shutil.rmtree(self._home, ignore_errors=True)
            if self._user_session is None and self._spark is not None:
                with suppress(Exception):
                    self._spark.stop()
                self._spark = None

    def __enter__(self) -> Pipeline:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
