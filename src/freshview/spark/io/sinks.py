"""Sinks of views: files, tables, topics and functions, keyed by version.

A sink receives every version at least once, in order: `emitter.py` stores the last emitted version.
A repeated version must be idempotent: what a sink writes is named after the version.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from freshview.errors import FreshviewError
from freshview.runtime.ingest.columns import COUNT
from freshview.runtime.ingest.file_names import file_name
from freshview.spark.io.connectors import needs
from freshview.spark.io.merge import (
    FROM,
    UNTIL,
    VERSION,
    check_key,
    check_rows,
    last_by_key,
    merge_history,
    merge_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LATEST = "_latest"
"""The link to the last version of a Parquet sink: readers of all versions pass over such names."""


class SessionOwner(Protocol):
    """An owner of a session, perhaps only later: a pipeline."""

    @property
    def spark(self) -> SparkSession:
        """The session."""


class StateOwner(SessionOwner, Protocol):
    """An owner of a session and of state: a pipeline."""

    @property
    def state_id(self) -> str:
        """The unique name of the state, the same after a restart from its checkpoint."""


class Sink(Protocol):
    """A subscriber of a view; with `changes` it receives inserted and deleted rows."""

    view: str
    changes: bool

    def emit(self, version: int, table: pa.Table) -> None:
        """Receive the view at a version, or its changes since the version before."""


@dataclass
class Callback:
    """A function of (version, table); with `changes` of inserted and deleted rows."""

    view: str
    function: Callable[[int, pa.Table], object]
    changes: bool = False

    def emit(self, version: int, table: pa.Table) -> None:
        """Call it."""
        self.function(version, table)


@dataclass
class Parquet:
    """A folder VIEW/version=N per version, created atomically; old ones are deleted.

    With `latest`, the link VIEW/_latest leads to the last one: `spark.read.parquet(.../_latest)`
    is the view as it is now, whole, also while the next version is written.

    A folder with later versions is refused: they are of another pipeline, or of an earlier life of
    this one, and would be taken for the newest.
    """

    view: str
    folder: Path
    keep: int = 10
    changes: bool = False
    latest: bool = False

    def emit(self, version: int, table: pa.Table) -> None:
        """Write the version beside the others."""
        home = self.folder / file_name(self.view)
        part, whole = home / f".version={version}", home / f"version={version}"
        try:
            last = max(_versions(home), default=0)
            if last > version:
                raise FreshviewError(
                    f"'{home}' has version {last} of another pipeline",
                    instead="delete that folder, or choose another one",
                )
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            pq.write_table(table, part / "part-0.parquet")
            shutil.rmtree(whole, ignore_errors=True)
            os.replace(part, whole)
            if self.latest:
                _point(home / LATEST, whole)
            for old in _versions(home)[: -self.keep] if self.keep else []:
                shutil.rmtree(home / f"version={old}", ignore_errors=True)
        except OSError as e:
            raise FreshviewError(
                f"'{self.view}' cannot be written to '{home}': {e.strerror}",
                instead="choose another folder",
            ) from e


def _point(link: Path, folder: Path) -> None:
    """Let a link beside a folder lead to it, from one moment to the next."""
    new = link.with_name(f".{link.name}")
    new.unlink(missing_ok=True)
    new.symlink_to(folder.name, target_is_directory=True)
    os.replace(new, link)


def _versions(home: Path) -> list[int]:
    """The versions in a folder, oldest first."""
    numbers = (p.name.removeprefix("version=") for p in home.glob("version=*"))
    return sorted(int(n) for n in numbers if n.isdecimal())


@dataclass
class TempView:
    """A temporary view of Spark's, replaced at every version."""

    view: str
    owner: SessionOwner
    name: str = ""
    changes: bool = False

    def emit(self, version: int, table: pa.Table) -> None:
        """Replace the temporary view."""
        frame(self.owner.spark, table).createOrReplaceTempView(self.name or self.view)


@dataclass
class Delta:
    """A Delta table with the changes of a view and their version; a version is written once.

    With a `key`, columns that tell the rows of the view apart, the table is the view itself: each
    version is merged into it, so that it has one row for each key, and the version that brought it
    (SCD type 1). With `history`, too, rows that went stay, and each has the versions `__from` which
    and `__until` which it was there (SCD type 2).

    The table belongs to one pipeline: another one, or the same without its checkpoint, appends its
    own changes from the first version on.
    """

    view: str
    owner: StateOwner
    path: str
    changes: bool = True
    key: tuple[str, ...] = ()
    history: bool = False

    def check(self, columns: Sequence[str]) -> None:
        """Refuse a key that a view with these columns does not have."""
        check_key(self.view, columns, self.key)
        if self.history and not self.key:
            raise FreshviewError(
                f"the sink of '{self.view}' keeps a history and has no key",
                instead="name the columns that tell its rows apart, or leave `history` out",
            )
        if self.key and not self.changes:
            raise FreshviewError(
                f"the sink of '{self.view}' has a key and takes no changes",
                instead="leave `changes` as it is: only changes can be merged",
            )

    def emit(self, version: int, table: pa.Table) -> None:
        """Append the changes, or merge them; a version that was written is not written again."""
        if not table.num_rows:
            return
        if self.key:
            check_rows(self.view, table, self.key)
            table = table if self.history else last_by_key(table, self.key)
        numbered = table.append_column(
            VERSION, pa.repeat(pa.scalar(version, pa.int64()), table.num_rows)
        )
        if self.key:
            self._merge(numbered)
            return
        writer = frame(self.owner.spark, numbered).write.format("delta").mode("append")
        # Of the state, too: versions of another one are not repetitions of these.
        name = f"freshview {self.owner.state_id} {self.view}"
        with needs("Delta", f"'{self.view}' goes to a Delta table", self.owner.spark):
            writer.option("txnAppId", name).option("txnVersion", str(version)).save(self.path)

    def _merge(self, changes: pa.Table) -> None:
        """Merge the changes of a version into the table, which is made if there is none."""
        spark = self.owner.spark
        columns = [c for c in changes.column_names if c not in (COUNT, VERSION)]
        bounds = [(FROM, pa.int64()), (UNTIL, pa.int64())] if self.history else []
        bounds = bounds or [(VERSION, pa.int64())]
        empty = changes.select(columns).schema.empty_table()
        for name, kind in bounds:
            empty = empty.append_column(name, pa.array([], kind))
        merge = merge_history if self.history else merge_rows
        place = self.path.replace("`", "``")
        statement = merge(f"delta.`{place}`", "freshview_changes", columns, self.key)
        with needs("Delta", f"'{self.view}' goes to a Delta table", spark):
            frame(spark, empty).write.format("delta").mode("ignore").save(self.path)
            frame(spark, changes).createOrReplaceTempView("freshview_changes")
            spark.sql(statement)


@dataclass
class Kafka:
    """A topic with the changes of a view: JSON with the version and the count beside the columns.

    The key of a message is the row without them. A version may be repeated: readers must drop one
    that is not newer than the last.
    """

    view: str
    owner: SessionOwner
    bootstrap: str
    topic: str
    changes: bool = True
    options: dict[str, str] = field(default_factory=dict)

    def emit(self, version: int, table: pa.Table) -> None:
        """Send the changes."""
        if not table.num_rows:
            return
        writer = frame(self.owner.spark, messages(table, version)).write.format("kafka")
        for name, value in self.options.items():
            writer = writer.option(name, value)
        writer = writer.option("kafka.bootstrap.servers", self.bootstrap)
        with needs("Kafka", f"'{self.view}' goes to a Kafka topic", self.owner.spark):
            writer.option("topic", self.topic).save()


def messages(table: pa.Table, version: int) -> pa.Table:
    """Changes as keys and values of messages.

    >>> messages(pa.table({"a": [1], COUNT: [-1]}), 7).to_pylist()
    [{'key': '{"a": 1}', 'value': '{"a": 1, "__count": -1, "__version": 7}'}]
    """
    keys, values = [], []
    for row in table.to_pylist():
        keys.append(json.dumps({k: v for k, v in row.items() if k != COUNT}, default=str))
        values.append(json.dumps({**row, VERSION: version}, default=str))
    return pa.table({"key": pa.array(keys, pa.string()), "value": pa.array(values, pa.string())})


def frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """An Arrow table as a DataFrame.

    Timestamps become Spark's own, which are moments: those at which a clock in Greenwich shows
    them, whatever the time zone of the session.
    """
    schema = pa.schema([_as_moments(f) for f in table.schema])
    if table.num_rows:
        return spark.createDataFrame(table.cast(schema))
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame([], from_arrow_schema(schema))


def _as_moments(f: pa.Field) -> pa.Field:
    return f.with_type(pa.timestamp("us", "UTC")) if pa.types.is_timestamp(f.type) else f
