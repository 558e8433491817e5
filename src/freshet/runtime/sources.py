"""Where declared relations get their rows: the FROM clauses that can be read here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from freshet.calculus.rows import Row
from freshet.errors import UnsupportedSql
from freshet.runtime import csv
from freshet.runtime.database import Database
from freshet.sql import Catalog, Source

READABLE = "FROM FILE '...' LINE DELIMITED CSV (delimiter := ',')"


def rows(catalog: Catalog, name: str, folder: Path) -> Iterator[Row]:
    """The rows that a relation's FROM clause names; relative paths start at `folder`.

    A relation without a FROM clause has none.
    """
    source = catalog.sources.get(name.lower())
    if source is None:
        return iter(())
    relation = catalog.relation(name)
    path, delimiter = _file(relation.name, source)
    return csv.read(folder / path, relation, delimiter)


def _file(name: str, source: Source) -> tuple[str, str]:
    """The path and the delimiter of a CSV file, or what cannot be read about the source."""
    if source.kind != "file" or source.format != "csv" or source.framing not in ("", "line"):
        words = (source.kind, source.framing, source.format)
        form = " ".join(w.upper() for w in words if w)
        raise UnsupportedSql(
            f"the source of '{name}' cannot be read yet: {form}", instead=f"use {READABLE}"
        )
    if len(source.arguments) != 1:
        raise UnsupportedSql(f"the source of '{name}' needs one path", instead=f"use {READABLE}")
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
    return str(source.arguments[0]), delimiter


def feed(db: Database, folder: Path, batch: int) -> Iterator[tuple[str, int]]:
    """Load the tables, then apply the streams in turns of `batch` rows; tells each step's rows.

    Only what a view reads is read. Taking turns keeps joins busy from the start, as live streams
    would.
    """
    catalog = db.catalog
    used = {r.name: r for view in db.views for r in db.program(view.name).relations}
    for name, relation in used.items():
        if relation.static:
            yield name, db.load(name, rows(catalog, name, folder))
    streams = {name: rows(catalog, name, folder) for name, r in used.items() if not r.static}
    while streams:
        for name in list(streams):
            part = list(islice(streams[name], batch))
            if not part:
                del streams[name]
                continue
            db.insert(name, part)
            yield name, len(part)
