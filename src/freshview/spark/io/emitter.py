"""Versions on their way to sinks: each is told before the next one is made, whatever dies.

What was told last is in a file for every view. A version that was not told, since a sink failed or
the process died, is told again: before the next batch, or when the pipeline starts again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa  # type: ignore[import-untyped]

from freshview.errors import FreshviewError
from freshview.spark.io.sinks import Sink, difference

VERSION = b"freshview version"
"""What the version of a table is called in the metadata of its schema."""


class SinkProblem(FreshviewError):
    """A sink that does not take a version; the version is in the views all the same."""


class Emitter:
    """Tells sinks the versions of views, and remembers what they were told.

    For views with sinks that want changes, the view itself is kept as it was told: changes are
    what became of it since then.
    """

    def __init__(self, sinks: Sequence[Sink], folder: Path, version: int) -> None:
        """Sinks that were never told anything begin behind `version`."""
        self.folder = folder
        self.sinks: list[Sink] = []
        self._emitted: dict[str, int] = _read_versions(folder / "told.json")
        self._tables: dict[str, pa.Table] = {}
        for sink in sinks:
            self.add(sink, version)

    def add(self, sink: Sink, version: int) -> None:
        """A sink that is told what comes behind a version, or behind what its view was told."""
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
        """Tell a version to all the sinks that do not have it."""
        for view in dict.fromkeys(s.view for s in self.sinks):
            if self._emitted[view] < version:
                self._emit(view, version, read(view))

    def _emit(self, view: str, version: int, table: pa.Table) -> None:
        changes = None
        if view in self._tables:
            before = self._tables[view]
            changes = difference(table, before if before.num_columns else table.slice(0, 0))
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

    # -- what was told -----------------------------------------------------------------------------

    def _read_table(self, view: str) -> pa.Table:
        """A view as it was told, without columns if it never was."""
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
        part = self._path(view).with_suffix(".part")
        with _write_errors(part):
            with pa.OSFile(str(part), "wb") as out, pa.ipc.new_file(out, numbered.schema) as file:
                file.write_table(numbered)
            os.replace(part, self._path(view))

    def _write_versions(self) -> None:
        part = self.folder / "told.part"
        with _write_errors(part):
            part.write_text(json.dumps(self._emitted, sort_keys=True))
            os.replace(part, self.folder / "told.json")

    def _path(self, view: str) -> Path:
        return self.folder / f"{quote(view, safe='')}.arrow"


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
    """What a sink says, in one line."""
    if isinstance(e, FreshviewError):
        return e.what
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    return f"{type(e).__name__}: {lines[0]}" if lines else type(e).__name__
