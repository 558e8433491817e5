"""The feed reads the sources of a pipeline: files in turn, all others by Structured Streaming.

Both log their offsets with every batch, so a restart continues exactly there: a repeated
micro-batch is recognized by its number.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from freshview.durable.batch_log import Note
from freshview.errors import FreshviewError
from freshview.spark.io.decode import DecodedBatch, decode
from freshview.spark.io.files import CsvFile
from freshview.spark.io.load import file_of
from freshview.spark.io.sources import ENDLESS, FROM, Input, stream

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

BATCH, FILES = "batch", "files"
"""The keys of a note: the last micro-batch, and the number of records read of each file."""


class FeedOptions(Protocol):
    """The options of a pipeline that concern its feed."""

    @property
    def batch(self) -> int:
        """How many records of a file are one change."""

    @property
    def trigger(self) -> str:
        """How often Spark starts a micro-batch; empty for as soon as it can."""


class Owner(Protocol):
    """The interface of a pipeline to its feed."""

    @property
    def spark(self) -> SparkSession:
        """The session."""

    @property
    def options(self) -> FeedOptions:
        """The options of the pipeline."""

    @property
    def home(self) -> Path:
        """The folder of the checkpoint."""

    def apply(
        self,
        arrivals: Mapping[str, DecodedBatch],
        note: Note,
        batch: str,
        seconds: float = 0.0,
    ) -> int:
        """Apply decoded batches as one change."""


class Stopped(Exception):
    """Raised in a micro-batch after a stop: Spark repeats it at the next start."""


class Feed:
    """The sources of a pipeline while it runs."""

    def __init__(self, owner: Owner, sources: Sequence[Input], note: Note, follow: bool) -> None:
        self._owner = owner
        self._files = [i for i in sources if i.source.kind == "file"]
        self._streams = [i for i in sources if i.source.kind != "file"]
        self._done = int(note.get(BATCH, -1))
        self._read: dict[str, int] = dict(note.get(FILES, {}))
        self._follow = follow
        self._stopping = False
        self._busy = threading.Lock()
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._query: StreamingQuery | None = None
        if not follow:
            for i in self._streams:
                if i.source.kind in ENDLESS:
                    raise FreshviewError(
                        f"the source of '{i.relation.name}', {i.source.kind.upper()}, has no end",
                        instead="follow it: --follow, or start(follow=True)",
                    )

    @property
    def running(self) -> bool:
        """Whether a source is still being read."""
        reading = self._thread is not None and self._thread.is_alive()
        return reading or (self._query is not None and self._query.isActive)

    def start(self) -> None:
        """Start reading."""
        if self._streams:
            self._start_query()
        if self._files:
            # Files are opened here, so that the caller gets the error of a missing one.
            readers = {
                i.relation.name: (i, file_of(i, self._read.get(i.relation.name, 0)))
                for i in self._files
            }
            self._thread = threading.Thread(
                target=self._run_files, args=(readers,), name="freshview files", daemon=True
            )
            self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end of all the sources; raise their error. False after the timeout."""
        end = None if timeout is None else time.monotonic() + timeout
        while self.running:
            if end is not None and time.monotonic() >= end:
                return False
            time.sleep(0.02)
        self._raise_failure()
        return True

    def stop(self, *, wait: bool = True) -> None:
        """Finish the current batch, and begin no other; `wait` unless that batch waits for you."""
        self._stopping = True
        if wait:
            self._end()
        elif self._query is not None:  # files end by themselves
            threading.Thread(target=self._end_later, name="freshview stop", daemon=True).start()

    def _end(self) -> None:
        with self._busy:
            pass  # wait for the current batch; the next one does not begin
        if self._query is not None and self._query.isActive:
            self._query.stop()
        if self._thread is not None:
            self._thread.join()

    def _end_later(self) -> None:
        with suppress(Exception):  # the session may be gone meanwhile, and the query with it
            self._end()

    def _raise_failure(self) -> None:
        if self._error is not None:
            raise failure(self._error, self._streams) from self._error
        if self._query is not None and not self._stopping:
            error = self._query.exception()
            if error is not None:
                raise failure(error, self._streams) from error

    # -- micro-batches -----------------------------------------------------------------------------

    def _start_query(self) -> None:
        folder = self._owner.home / "offsets"
        if self._done > _last(folder):
            # Spark would number batches from 0 again, and they would be skipped as finished.
            raise FreshviewError(
                f"the checkpoint has lost '{folder}', its offsets, or they are outdated",
                instead="restore it, or remove the checkpoint to start over",
            )
        trigger = self._owner.options.trigger
        try:
            frame = stream(self._owner.spark, self._streams)
            writer = frame.writeStream.foreachBatch(self._on_batch).option(
                "checkpointLocation", str(folder)
            )
            if not self._follow:
                writer = writer.trigger(availableNow=True)
            elif trigger:
                writer = writer.trigger(processingTime=trigger)
            self._query = writer.start()
        except FreshviewError:
            raise
        except Exception as e:
            raise failure(e, self._streams) from e

    def _on_batch(self, frame: DataFrame, number: int) -> None:
        with self._busy:
            if self._stopping:
                raise Stopped
            if number <= self._done:
                return  # it is in the views; Spark stopped before it could record that
            try:
                self._apply(frame, number)
            except Exception as e:
                self._error = e
                raise

    def _apply(self, frame: DataFrame, number: int) -> None:
        began = time.perf_counter()
        table = frame.toArrow()
        arrivals: dict[str, DecodedBatch] = {}
        for k, i in enumerate(self._streams):
            mine = table.filter(pc.equal(table.column(FROM), k))
            if mine.num_rows:
                arrivals[i.relation.name] = decode(i, _flat(mine.column(f"r{k}")))
        seconds = time.perf_counter() - began
        if arrivals:
            self._deliver(arrivals, {BATCH: number}, f"batch-{number:09d}", seconds)
        self._done = number

    # -- files -------------------------------------------------------------------------------------

    def _run_files(self, readers: dict[str, tuple[Input, CsvFile]]) -> None:
        try:
            while readers and not self._stopping:
                with self._busy:
                    if not self._stopping:
                        self._turn(readers)
        except Exception as e:
            self._error = e

    def _turn(self, readers: dict[str, tuple[Input, CsvFile]]) -> None:
        """Apply the next records of every file as one change."""
        began = time.perf_counter()
        arrivals: dict[str, DecodedBatch] = {}
        for name, (i, reader) in list(readers.items()):
            part = reader.read_rows(self._owner.options.batch)
            if part is None:
                del readers[name]
                continue
            arrivals[name] = decode(i, part)
            self._read[name] = reader.position
        if not arrivals:
            return
        seconds = time.perf_counter() - began
        label = f"rows-{sum(self._read.values()):012d}"
        self._deliver(arrivals, {FILES: dict(self._read)}, label, seconds)

    def _deliver(
        self,
        arrivals: Mapping[str, DecodedBatch],
        note: Note,
        label: str,
        seconds: float,
    ) -> None:
        """Apply decoded batches; errors from here on are not those of the sources."""
        try:
            self._owner.apply(arrivals, note, label, seconds)
        except FreshviewError:
            raise
        except Exception as e:
            raise FreshviewError(
                f"{label} cannot be applied: {type(e).__name__}: {_first(e)}"
            ) from e


def _last(folder: Path) -> int:
    """The last micro-batch that Spark has written down in its own folder; -1 if there is none."""
    numbers = (p.name for p in (folder / "offsets").glob("*"))
    return max((int(n) for n in numbers if n.isdecimal()), default=-1)


def _flat(column: pa.ChunkedArray) -> pa.Table:
    return pa.Table.from_batches(
        [pa.RecordBatch.from_struct_array(c) for c in column.chunks],
        schema=pa.schema(list(column.type)),
    )


_KNOWN = (
    (
        r"UnknownTopicOrPartition|UNKNOWN_TOPIC|does not exist.*[Tt]opic|subscribe.*not exist",
        "a Kafka topic that a source names is not there",
        "create it, or correct the FROM clause",
    ),
    (
        r"TimeoutException.*(node assignment|metadata|listTopics|describeTopics|Call)",
        "Kafka does not answer",
        "check the option 'bootstrap', and that it runs",
    ),
    (
        r"FAILED_READ_FILE.*PARQUET_COLUMN_DATA_TYPE_MISMATCH|SchemaColumnConvertNotSupported"
        r"|DELTA_SCHEMA_CHANGED|DELTA_.*SCHEMA|CANNOT_MERGE_SCHEMAS",
        "the data of a source has other columns or types than before",
        "declare the new ones and start with a new checkpoint, or put the old data back",
    ),
    (
        r"DELTA_MISSING_CHANGE_DATA|CHANGE_TABLE_FEED_DISABLED|[Cc]hange data feed.*not enabled",
        "a Delta table that a source names does not keep its changes",
        "set delta.enableChangeDataFeed = true on it",
    ),
    (
        r"Connection refused",
        "no server answers at the address of a socket",
        "start the server, or correct the FROM clause",
    ),
)


def failure(error: BaseException, sources: Sequence[Input] = ()) -> FreshviewError:
    """The error of a source in one sentence."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, FreshviewError):
            return cause
        cause = cause.__cause__
    text = str(error)
    names = ", ".join(f"'{i.relation.name}'" for i in sources)
    where = f" ({names})" if names else ""
    for pattern, what, instead in _KNOWN:
        if re.search(pattern, text, re.DOTALL):
            return FreshviewError(what + where, instead=instead)
    return FreshviewError(f"the sources{where} cannot be read: {_first(error)}")


def _first(error: BaseException) -> str:
    """The first line of an error."""
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if line), type(error).__name__)
