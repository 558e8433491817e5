"""The emitter sends versions to sinks: each one before the next batch, at least once.

The last emitted version of every view is in a file. A version that was not emitted, since a sink
failed or the process died, is sent again: before the next batch, or at the next start.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from freshview.durable.storage.files import LocalFolder, TornFile
from freshview.errors import BadValue, FreshviewError, Overflow
from freshview.files import make_folder
from freshview.runtime.ingest.counted_rows import difference, summed, with_count
from freshview.runtime.ingest.file_names import file_name
from freshview.spark.io.sinks import Sink

VERSION = b"freshview version"
"""The key of a table's version in the metadata of its schema."""

VERSIONS = "versions"
"""The file with the last emitted version of each view, and that up to which changes were sent."""


class SinkProblem(FreshviewError):
    """A sink failed at a version; the version is in the views all the same."""


class UnreadableView(SinkProblem):
    """A view has no rows at a version, since a value of it does not exist.

    No sink can ever receive that version. A later one may repair the view, so it is not blocked.
    """


@dataclass(frozen=True)
class ViewSource:
    """How an emitter reads views: whole, or what changed in one of them since a version.

    Changes are known of the `collected` views only. `acknowledge` is called with the version up to
    which no changes will be asked for again, and with that from which on all want all of them.
    """

    collected: Collection[str]
    read: Callable[[str], pa.Table]
    changes: Callable[[str, int], pa.Table]
    acknowledge: Callable[[int, int], None]


class Emitter:
    """Sends the versions of views to sinks, and stores the last emitted versions.

    Changes are those that the versions have collected, after a first one of all the rows. Of views
    whose changes are not collected the last emitted rows are stored: changes are the difference to
    them.
    """

    def __init__(
        self,
        sinks: Sequence[Sink],
        folder: Path,
        version: int,
        collected: Collection[str] = (),
        *,
        sync: bool = False,
    ) -> None:
        """New sinks begin behind `version`, that of the views."""
        self.folder = folder
        self.collected = frozenset(collected)
        self.sinks: list[Sink] = []
        self._files = LocalFolder(folder, sync=sync)
        self._emitted: dict[str, int] = {}
        self._stored: dict[str, int] = {}
        """The versions of the stored rows, of views that have some."""
        self._received: dict[str, int] = {}
        """The versions up to which the changes of collected views were sent."""
        self._tables: dict[str, pa.Table] = {}
        self._thread: int | None = None
        self._read_versions(version)
        for sink in sinks:
            self.add(sink, version)

    @property
    def emitting(self) -> bool:
        """Whether the caller is a sink that receives a version now."""
        return self._thread == threading.get_ident()

    def add(self, sink: Sink, version: int) -> None:
        """Add a sink for versions after this one, or after the last emitted one of its view."""
        view = sink.view
        if sink.changes and view in self.collected:
            if view in self._received and not self._follows(view):
                self._emitted[view] = self._received[view]
        elif sink.changes and view not in self._tables:
            self._tables[view] = self._read_table(view, version)
            if view in self._stored:
                self._emitted[view] = self._stored[view]
        if view not in self._emitted:
            self._emitted[view] = version
            self._write_versions()
        self.sinks.append(sink)

    def _follows(self, view: str) -> bool:
        """Whether a sink subscribes to the changes of a view."""
        return any(s.view == view and s.changes for s in self.sinks)

    def remove(self, sink: Sink) -> None:
        """Send a sink no more versions."""
        self.sinks.remove(sink)

    def emit(self, version: int, source: ViewSource) -> None:
        """Send a version to all the sinks that have not received it."""
        unreadable: UnreadableView | None = None
        self._thread = threading.get_ident()
        try:
            for view in dict.fromkeys(s.view for s in self.sinks):
                if self._emitted[view] < version:
                    try:
                        self._emit(view, version, source)
                    except UnreadableView as e:
                        unreadable = unreadable or e
        finally:
            self._thread = None
        # Of a view without sinks now, the last one that there was may come back.
        received = self._received.values()
        source.acknowledge(min(received, default=version), max(received, default=version))
        if unreadable is not None:
            raise unreadable

    def _emit(self, view: str, version: int, source: ViewSource) -> None:
        sinks = [s for s in self.sinks if s.view == view]
        follows, collected = self._follows(view), view in self.collected
        table = changes = None
        with _read_errors(view, version):
            if not all(s.changes for s in sinks) or not (collected and view in self._received):
                table = source.read(view)
            if follows and collected:
                changes = self._collected(view, table, source)
            elif table is not None:
                changes = self._compared(view, table)
        for sink in sinks:
            try:
                sink.emit(version, changes if sink.changes else table)
            except Exception as e:
                remedy = e.instead if isinstance(e, FreshviewError) else ""
                raise SinkProblem(
                    f"a sink of '{view}' failed at version {version}: {_cause(e)}",
                    instead=_sent_again(remedy or "fix the sink", version),
                ) from e
        if follows and collected:
            if view not in self._received:  # a file, so that the other one is missed if it goes
                self._write(f"{file_name(view)}.changes", b"")
            self._received[view] = version
        if view in self._tables:
            # Only rows that are stored count: else the repeated version would have no changes.
            self._write_table(view, table, version)
            self._tables[view], self._stored[view] = table, version
        self._emitted[view] = version
        self._write_versions()

    def _collected(self, view: str, table: pa.Table | None, source: ViewSource) -> pa.Table:
        """The changes since the last version that was sent; all the rows if there was none."""
        if view in self._received:
            return source.changes(view, self._received[view])
        assert table is not None
        return summed(with_count(table, 1))

    def _compared(self, view: str, table: pa.Table) -> pa.Table | None:
        """The rows since the last emitted version; None if no sink subscribes to changes."""
        before = self._tables.get(view)
        if before is None:
            return None
        old = before.cast(table.schema) if before.num_columns else table.slice(0, 0)
        return difference(old, table)

    # -- emitted versions --------------------------------------------------------------------------

    def _read_versions(self, version: int) -> None:
        with self._damage(VERSIONS):
            data = self._files.read(VERSIONS)
            if data is not None:
                record = json.loads(data)
                self._emitted, self._stored = record["emitted"], record["stored"]
                self._received = record.get("received", {})
        if data is None and self._files.names():
            raise self._refusal(VERSIONS, "is missing")
        for number in (*self._emitted.values(), *self._received.values()):
            self._refuse_ahead(VERSIONS, number, version)

    def _write_versions(self) -> None:
        record = {"emitted": self._emitted, "stored": self._stored, "received": self._received}
        self._write(VERSIONS, json.dumps(record, sort_keys=True).encode())

    def _read_table(self, view: str, version: int) -> pa.Table:
        """The last emitted rows of a view; a table without columns if there are none."""
        name = _table_name(view)
        with self._damage(name):
            data = self._files.read(name)
            if data is not None:
                with pa.ipc.open_file(pa.BufferReader(data)) as file:
                    table = file.read_all()
                stored = int(table.schema.metadata[VERSION])
        if data is None:
            if view in self._stored:
                raise self._refusal(name, "is missing")
            return pa.table({})
        if stored < self._stored.get(view, 0):
            raise self._refusal(name, f"is outdated: it has version {stored}")
        self._refuse_ahead(name, stored, version)
        self._stored[view] = stored  # after a crash it may be newer than what the other file says
        return table

    def _write_table(self, view: str, table: pa.Table, version: int) -> None:
        numbered = table.replace_schema_metadata({VERSION: str(version)})
        out = pa.BufferOutputStream()
        with pa.ipc.new_file(out, numbered.schema) as file:
            file.write_table(numbered)
        self._write(_table_name(view), memoryview(out.getvalue()))

    def _write(self, name: str, data: bytes | memoryview) -> None:
        try:
            make_folder(self.folder, sync=self._files.sync)
            self._files.write(name, data)
        except OSError as e:
            raise SinkProblem(
                f"the last emitted version cannot be written to '{self.folder / name}': "
                f"{e.strerror or e}",
                instead="fix the cause: the version is in the views, and may be sent again",
            ) from e

    # -- what is refused ---------------------------------------------------------------------------

    @contextmanager
    def _damage(self, name: str) -> Iterator[None]:
        """While a file is read: refuse a damaged one."""
        try:
            yield
        except TornFile as e:
            raise self._refusal(name, "is damaged") from e
        except OSError as e:
            raise self._refusal(name, f"cannot be read: {e.strerror or e}") from e

    def _refuse_ahead(self, name: str, number: int, version: int) -> None:
        if number > version:
            raise self._refusal(name, f"is at version {number}, and the views at {version}")

    def _refusal(self, name: str, why: str) -> FreshviewError:
        return FreshviewError(
            f"the file '{self.folder / name}' of what sinks have received {why}",
            instead=f"restore it, or delete '{self.folder}': sinks then receive the versions from "
            "now on, and changes begin with all the rows",
        )


@contextmanager
def _read_errors(view: str, version: int) -> Iterator[None]:
    """While a view is read for sinks: report that its version is there, whatever fails."""
    try:
        yield
    except (Overflow, BadValue) as e:
        raise UnreadableView(
            f"version {version} is in the views, but '{view}' cannot be read at it: {e.what}",
            instead="change the rows that cause it: its sinks receive the next version that can "
            "be read",
        ) from e
    except Exception as e:
        raise SinkProblem(
            f"'{view}' cannot be read for its sinks at version {version}: {_cause(e)}",
            instead=_sent_again("fix the cause", version),
        ) from e


def _sent_again(remedy: str, version: int) -> str:
    return (
        f"{remedy}: version {version} is in the views, and is sent again before the next one, "
        "or at the next start"
    )


def _table_name(view: str) -> str:
    return f"{file_name(view)}.arrow"


def _cause(e: Exception) -> str:
    """An error in one line."""
    if isinstance(e, FreshviewError):
        return e.what
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    return f"{type(e).__name__}: {lines[0]}" if lines else type(e).__name__
