"""Where declared relations get their rows: the FROM clauses that can be read here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Protocol

from freshview.calculus.rows import Row
from freshview.calculus.schema import Relation
from freshview.errors import UnsupportedSql
from freshview.runtime.ingest import csv
from freshview.runtime.ingest.sockets import END, Item, Listener
from freshview.sql import Catalog, Source
from freshview.sql.ddl.sources import RULES

READABLE = "FROM FILE '...' LINE DELIMITED CSV (delimiter := ',')"


class Reading(Protocol):
    """A view, as far as sources need to know it."""

    @property
    def relations(self) -> Sequence[Relation]:
        """The streams and tables that it reads."""


class Target(Protocol):
    """What sources need of the database that they feed."""

    @property
    def catalog(self) -> Catalog:
        """What is declared."""

    @property
    def views(self) -> Sequence[Reading]:
        """All the views."""

    def load(self, relation: str, rows: Iterable[Row]) -> int:
        """Add rows to a static table; tells how many."""

    def insert(self, relation: str, rows: Iterable[Row]) -> None:
        """Insert rows into a stream."""


def rows(catalog: Catalog, name: str, folder: Path) -> Iterator[Row]:
    """The rows of the file that a relation's FROM clause names; paths start at `folder`.

    A relation without a FROM clause has none.
    """
    source = csv_file(catalog, name)
    if source is None:
        return iter(())
    path, delimiter = source
    return csv.read(folder / path, catalog.relation(name), delimiter)


def csv_file(catalog: Catalog, name: str) -> tuple[str, str] | None:
    """The path and the delimiter of a relation's FROM clause; None where it has no such clause."""
    source = catalog.sources.get(name.lower())
    if source is None:
        return None
    relation = catalog.relation(name)
    delimiter = _delimiter(relation.name, source, "file")
    if len(source.arguments) != 1:
        raise UnsupportedSql(
            f"the source of '{relation.name}' needs one path", instead=f"use {READABLE}"
        )
    return str(source.arguments[0]), delimiter


def _is_socket(catalog: Catalog, name: str) -> bool:
    source = catalog.sources.get(name.lower())
    return source is not None and source.kind == "socket"


def _listener(catalog: Catalog, name: str, items: SimpleQueue[Item]) -> Listener:
    """What listens for the rows of a relation, on this machine only unless told otherwise."""
    source = catalog.sources[name.lower()]
    relation = catalog.relation(name)
    delimiter = _delimiter(relation.name, source, "socket")
    match source.arguments:
        case (str(host), int(port)):
            return Listener(relation, host or "127.0.0.1", port, delimiter, items)
        case (int(port),):
            return Listener(relation, "127.0.0.1", port, delimiter, items)
    raise UnsupportedSql(
        f"the source of '{relation.name}' needs a host and a port",
        instead="use FROM SOCKET '127.0.0.1' PORT 9999 LINE DELIMITED CSV",
    )


def _delimiter(name: str, source: Source, kind: str) -> str:
    """The delimiter of CSV lines, or what cannot be read about the source."""
    if source.kind in RULES:
        raise UnsupportedSql(
            f"the source of '{name}', {source.kind.upper()}, is read by the pipeline on Spark",
            instead=f"use freshview run without --engine, or fv.pipeline; or use {READABLE}",
        )
    if source.kind != kind or source.format != "csv" or source.framing not in ("", "line"):
        words = (source.kind, source.framing, source.format)
        form = " ".join(w.upper() for w in words if w)
        raise UnsupportedSql(
            f"the source of '{name}' cannot be read yet: {form}", instead=f"use {READABLE}"
        )
    options = dict(source.options)
    delimiter = str(options.pop("delimiter", ","))
    if options:
        raise UnsupportedSql(
            f"the source of '{name}' has the unknown option '{min(options)}'",
            instead="the option of CSV is delimiter",
        )
    if len(delimiter) != 1:
        raise UnsupportedSql(
            f"the delimiter of '{name}' is {delimiter!r}", instead="use a single character"
        )
    return delimiter


def feed(
    db: Target, folder: Path, batch: int, tell: Callable[[str], object] = print
) -> Iterator[tuple[str, int]]:
    """Load the tables, then apply the streams in turns of `batch` rows; tells each step's rows.

    Only what a view reads is read. Taking turns keeps joins busy from the start, as live streams
    would. Sockets follow the files: what has arrived, at most `batch` rows of it, is one change.
    `tell` hears where somebody listens.
    """
    catalog = db.catalog
    used = {r.name: r for view in db.views for r in view.relations}
    waiting: SimpleQueue[Item] = SimpleQueue()
    listeners = [
        _listener(catalog, name, waiting)
        for name, r in used.items()
        if not r.static and _is_socket(catalog, name)
    ]
    try:
        for name, relation in used.items():
            if relation.static:
                yield name, db.load(name, _table(catalog, name, folder, tell))
        for listener in listeners:
            tell(listener.words)
            listener.start()
        yield from _files(db, folder, batch, [n for n, r in used.items() if not r.static])
        yield from _sockets(db, waiting, batch, len(listeners))
    finally:
        for listener in listeners:
            listener.close()


def _table(
    catalog: Catalog, name: str, folder: Path, tell: Callable[[str], object]
) -> Iterator[Row]:
    if not _is_socket(catalog, name):
        yield from rows(catalog, name, folder)
        return
    items: SimpleQueue[Item] = SimpleQueue()
    listener = _listener(catalog, name, items)
    tell(listener.words)
    listener.start()
    try:
        while (item := items.get()).row is not END:
            if item.error is not None:
                raise item.error
            yield item.row
    finally:
        listener.close()


def _files(db: Target, folder: Path, batch: int, names: list[str]) -> Iterator[tuple[str, int]]:
    catalog = db.catalog
    streams = {n: rows(catalog, n, folder) for n in names if not _is_socket(catalog, n)}
    while streams:
        for name in list(streams):
            part = list(islice(streams[name], batch))
            if not part:
                del streams[name]
                continue
            db.insert(name, part)
            yield name, len(part)


def _sockets(
    db: Target, waiting: SimpleQueue[Item], batch: int, still_open: int
) -> Iterator[tuple[str, int]]:
    """What comes through the sockets, until all the peers have closed."""
    while still_open:
        item: Item | None = waiting.get()
        rows_by_relation: dict[str, list[Row]] = {}
        size = 0
        while item is not None:
            if item.error is not None:
                raise item.error
            if item.row is END:
                still_open -= 1
            else:
                rows_by_relation.setdefault(item.relation, []).append(item.row)
                size += 1
            try:
                item = waiting.get_nowait() if size < batch else None
            except Empty:
                item = None
        for name, part in rows_by_relation.items():
            db.insert(name, part)
            yield name, len(part)
