"""The emitter sends versions to sinks: each one before the next batch, at least once.

The last emitted version of every view is in a file. A version that was not emitted, since a sink
failed or the process died, is sent again: before the next batch, or at the next start.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from freshview.errors import FreshviewError
from freshview.files import draft_of, write_whole
from freshview.runtime.ingest.counted_rows import difference
from freshview.runtime.ingest.file_names import file_name
from freshview.spark.io.sinks import Sink

VERSION = b"freshview version"
"""The key of a table's version in the metadata of its schema."""


class SinkProblem(FreshviewError):
    """A sink failed at a version; the version is in the views all the same."""


class Emitter:
    """Sends the versions of views to sinks, and stores the last emitted versions.

    For sinks that subscribe to changes, the last emitted rows of the view are stored: changes are
    the difference to them.
    """

    def __init__(self, sinks: Sequence[Sink], folder: Path, version: int) -> None:
        """New sinks begin behind `version`."""
        self.folder = folder
        self.sinks: list[Sink] = []
        self._emitted: dict[str, int] = _read_versions(folder / "told.json")
        self._tables: dict[str, pa.Table] = {}
        for sink in sinks:
            self.add(sink, version)

    def add(self, sink: Sink, version: int) -> None:
        """Add a sink for versions after this one, or after the last emitted one of its view."""
        self.sinks.append(sink)
        view = sink.view
        if sink.changes and view not in self._tables:
            self._tables[view] = self._read_table(view)
            metadata = self._tables[view].schema.metadata or {}
            if VERSION in metadata:
                self._emitted[view] = int(metadata[VERSION])
        if view not in self._emitted:
            self._emitted[view] = version
            self._write_versions()

    def emit(self, version: int, read: Callable[[str], pa.Table]) -> None:
        """Send a version to all the sinks that have not received it."""
        for view in dict.fromkeys(s.view for s in self.sinks):
            if self._emitted[view] < version:
                self._emit(view, version, read(view))

    def _emit(self, view: str, version: int, table: pa.Table) -> None:
        changes = None
        if view in self._tables:
            before = self._tables[view]
            old = before.cast(table.schema) if before.num_columns else table.slice(0, 0)
            changes = difference(old, table)
        for sink in [s for s in self.sinks if s.view == view]:
            try:
                sink.emit(version, changes if sink.changes else table)
            except Exception as e:
                raise SinkProblem(
                    f"a sink of '{view}' failed at version {version}: {_cause(e)}",
                    instead=f"fix the sink: version {version} is in the views, and is sent again "
                    "before the next one, or at the next start",
                ) from e
        if view in self._tables:
            self._tables[view] = table
            self._write_table(view, table, version)
        self._emitted[view] = version
        self._write_versions()

    # -- emitted versions --------------------------------------------------------------------------

    def _read_table(self, view: str) -> pa.Table:
        """The last emitted rows of a view; a table without columns if there are none."""
        path = self._path(view)
        if not path.exists():
            return pa.table({})
        try:
            with pa.ipc.open_file(path) as file:
                return file.read_all()
        except (pa.ArrowException, OSError) as e:
            raise FreshviewError(
                f"the last emitted rows of '{view}' cannot be read from '{path}'",
                instead="delete that file, and all rows of the view are sent again",
            ) from e

    def _write_table(self, view: str, table: pa.Table, version: int) -> None:
        numbered = table.replace_schema_metadata({VERSION: str(version)})
        path = self._path(view)
        with (
            _write_errors(path),
            draft_of(path, one_writer=True) as draft,
            pa.OSFile(str(draft), "wb") as out,
            pa.ipc.new_file(out, numbered.schema) as file,
        ):
            file.write_table(numbered)

    def _write_versions(self) -> None:
        path = self.folder / "told.json"
        with _write_errors(path):
            write_whole(path, json.dumps(self._emitted, sort_keys=True).encode(), one_writer=True)

    def _path(self, view: str) -> Path:
        return self.folder / f"{file_name(view)}.arrow"


def _read_versions(path: Path) -> dict[str, int]:
    try:
        return {str(view): int(version) for view, version in json.loads(path.read_text()).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as e:
        raise FreshviewError(
            f"the versions that sinks have received cannot be read from '{path}'",
            instead="delete that file, and sinks receive the versions from now on",
        ) from e


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """While a file is written: report errors of its storage as `SinkProblem`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as e:
        raise SinkProblem(
            f"the last emitted version cannot be written to '{path}': {e.strerror or e}",
            instead="fix the cause: the version is in the views, and is sent again",
        ) from e


def _cause(e: Exception) -> str:
    """The error of a sink, in one line."""
    if isinstance(e, FreshviewError):
        return e.what
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    return f"{type(e).__name__}: {lines[0]}" if lines else type(e).__name__
