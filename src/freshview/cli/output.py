"""Views and their changes as CSV: into files, and to whoever connects."""

from __future__ import annotations

import csv
import io
import socket
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Protocol

from freshview.calculus.rows import Row
from freshview.calculus.types import Value
from freshview.errors import FreshviewError
from freshview.runtime.ingest.columns import rows_of
from freshview.runtime.ingest.file_names import file_name
from freshview.runtime.views.view import ViewHandle


def field(value: Value) -> Value:
    """A value as `FROM FILE ... CSV` reads it: NULL is the empty field.

    >>> field(None), field(True), field(1.5)
    ('', 'true', 1.5)
    """
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


class Shown(Protocol):
    """A view of a database or of a pipeline."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""

    def rows(self) -> list[Row]:
        """Its rows."""


def row_writer(out: IO[str]) -> Callable[[Sequence[object]], object]:
    """What writes rows as CSV: one with a carriage return in quotes, since it may end a line."""
    plain = csv.writer(out, lineterminator="\n")
    quoted = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)

    def write_row(row: Sequence[object]) -> None:
        ends = any(isinstance(x, str) and "\r" in x for x in row)
        (quoted if ends else plain).writerow(row)

    return write_row


def write_view(view: Shown, folder: Path) -> Path:
    """Write the rows of a view to NAME.csv, the names of the columns first."""
    path = folder / f"{file_name(view.name)}.csv"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as out:
            write_row = row_writer(out)
            write_row(view.columns)
            for row in view.rows():
                write_row([field(v) for v in row])
    except OSError as e:
        raise FreshviewError(
            f"cannot write '{path}': {e.strerror}", instead="choose another folder"
        ) from e
    return path


def write_parquet(view: ViewHandle, folder: Path) -> Path:
    """Write the rows of a view to NAME.parquet."""
    import pyarrow.parquet as parquet

    path = folder / f"{file_name(view.name)}.parquet"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        parquet.write_table(view.to_arrow(), path)
    except OSError as e:
        raise FreshviewError(
            f"cannot write '{path}': {e.strerror or e}", instead="choose another folder"
        ) from e
    return path


def follow(views: Iterable[ViewHandle], send: Callable[[str], object]) -> None:
    """Send every change of the views as lines: view, version, count, then the columns."""
    for view in views:
        view.subscribe(_sender(view.name, send))


def _sender(name: str, send: Callable[[str], object]) -> Callable[[int, object], None]:
    def sender(version: int, changes: object) -> None:
        send(lines_of(name, version, changes))

    return sender


def lines_of(name: str, version: int, changes: object) -> str:
    """Changes of a view as lines: view, version, count, then the columns."""
    out = io.StringIO()
    write_row = row_writer(out)
    for *values, count in rows_of(changes):
        write_row([name, version, count, *(field(v) for v in values)])
    return out.getvalue()


def open_changes(path: Path) -> IO[str]:
    """The file for the change stream."""
    try:
        return path.open("w", encoding="utf-8", newline="")
    except OSError as e:
        raise FreshviewError(
            f"cannot write '{path}': {e.strerror}", instead="choose another file"
        ) from e


class Reader:
    """Somebody who connects to a port of this machine, and gets what is sent."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        try:
            self._server = socket.create_server((host or "127.0.0.1", int(port)))
        except (OSError, ValueError, OverflowError) as e:
            raise FreshviewError(
                f"cannot listen on '{address}': {e}", instead="use HOST:PORT, or :PORT"
            ) from e
        self._peer: socket.socket | None = None

    @property
    def words(self) -> str:
        """Where it listens."""
        host, port = self._server.getsockname()[:2]
        return f"listening on {host}:{port} for a reader of the changes"

    def wait(self) -> None:
        """Wait until somebody is there."""
        self._peer, _ = self._server.accept()

    def send(self, text: str) -> None:
        """Send lines; a reader who has left gets no more."""
        if self._peer is None:
            return
        try:
            self._peer.sendall(text.encode())
        except OSError:
            self.close()

    def close(self) -> None:
        """No more lines come."""
        with suppress(OSError):
            if self._peer is not None:
                self._peer.close()
        self._peer = None
        self._server.close()


def open_sends(
    changes: Path | None, listen: str, ends: ExitStack, tell: Callable[[str], object]
) -> Callable[[str], None] | None:
    """What sends lines to a file and to a reader at an address; None where neither is asked for.

    It waits for the reader, and `tell` hears where; `ends` closes both.
    """
    sends: list[Callable[[str], object]] = []
    if changes is not None:
        sends.append(ends.enter_context(open_changes(changes)).write)
    if listen:
        reader = Reader(listen)
        ends.callback(reader.close)
        tell(reader.words)
        reader.wait()
        sends.append(reader.send)

    def send(text: str) -> None:
        for one in sends:
            one(text)

    return send if sends else None
