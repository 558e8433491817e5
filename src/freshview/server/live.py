"""A database whose views are read again as they change, for all who watch them."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from freshview.calculus.types import Value
from freshview.errors import FreshviewError, UnknownName
from freshview.runtime.database.database import Database
from freshview.runtime.database.declarations import Script
from freshview.runtime.ingest.sources import feed
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.result import Rows
from freshview.runtime.views.view import ViewHandle
from freshview.server.broadcast import Broadcast
from freshview.server.values import Json, rows_to_json

SHOWN = 100
"""Rows of a view that the page shows; the API gives any number of them."""

PAUSE = 0.1
"""Seconds between two looks at the version of the database."""

SHARE = 10
"""A view rests so many times as long as reading it took: reads take a tenth of the time at most."""

HISTORY = 120
"""Seconds of throughput that a new reader gets."""


@dataclass
class Watched:
    """What the page last got of a view, and when it may be read again."""

    version: int = -1
    rows: Sequence[Sequence[object]] = ()
    count: int = -1
    next_read: float = 0.0


@dataclass
class Meter:
    """Versions and rows by second, and how long reads take."""

    rows_in: int = 0
    last: tuple[float, int, int] = (0.0, 0, 0)
    history: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=HISTORY))


class LiveDatabase:
    """A database, its sources, and a thread that reads what has changed.

    Whoever watches reads events; the writer is kept waiting for a tenth of the time at most,
    however large the views are and however many watch them.
    """

    def __init__(self, db: Database, broadcast: Broadcast) -> None:
        self.db = db
        self.broadcast = broadcast
        self._watched: dict[str, Watched] = {}
        self._meter = Meter()
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to read what changes."""
        self._meter.last = (time.monotonic(), self.db.version, 0)
        self._begin(self._watch, "freshview-watch")

    def follow(self, folder: Path, batch: int, tell: Callable[[object], None]) -> None:
        """Read the sources that the script names, beside all else that changes the data."""

        def follow() -> None:
            try:
                for _, count in feed(self.db, folder, batch, tell):
                    self._meter.rows_in += count
                    if self._ended.is_set():
                        return
            except FreshviewError as e:
                tell(e)
                self.broadcast.send("problem", {"type": "problem", **problem(e)})

        self._begin(follow, "freshview-sources")

    def close(self) -> None:
        """End the reading."""
        self._ended.set()
        self.broadcast.close()
        for thread in self._threads:
            if thread.name == "freshview-watch":
                thread.join(10)

    def _begin(self, work: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def insert(self, relation: str, rows: Sequence[Sequence[Value]], sign: int) -> int:
        """Insert or delete rows; gives their number."""
        values = [tuple(row) for row in rows]
        if sign > 0:
            self.db.insert(relation, values)
        else:
            self.db.delete(relation, values)
        self._meter.rows_in += len(values)
        return len(values)

    @property
    def views(self) -> list[ViewHandle]:
        """The views that scripts declare, without those that calls of table functions read."""
        return [v for v in self.db.views if v.name not in self.db.calls.inputs]

    def view(self, name: str) -> ViewHandle:
        """A view by its name."""
        for view in self.views:
            if view.name == name:
                return view
        names = ", ".join(v.name for v in self.views) or "none"
        raise UnknownName(f"there is no view '{name}'", instead=f"the views are {names}")

    def plan(self, sql: str) -> list[str]:
        """How the views of a script would be kept beside those there are; nothing is declared."""
        scratch = Database(DatabaseSettings(engine="reference"))
        for declaration in self.db.state.declarations:
            if isinstance(declaration, Script):
                scratch.execute(declaration.sql, declaration.file)
        return [view.explain(verbose=True) for view in scratch.execute(sql)]

    def describe(self) -> dict[str, object]:
        """The relations and views, with their columns."""
        return {
            "version": self.db.version,
            "relations": [
                {
                    "name": r.name,
                    "kind": "table" if r.static else "stream",
                    "columns": [{"name": c.name, "type": str(c.type)} for c in r.columns],
                }
                for r in self.db.catalog.relations.values()
            ],
            "views": [_described(v) for v in self.views],
        }

    def _watch(self) -> None:
        while not self._ended.wait(PAUSE):
            for name in self._dropped():
                self.broadcast.forget(name)
                self.broadcast.send("dropped", {"type": "dropped", "name": name})
            for view in self.views:
                if self._ended.is_set():
                    return
                try:
                    self._look(view)
                except FreshviewError as e:
                    event = {"type": "problem", "view": view.name, **problem(e)}
                    self.broadcast.send(f"problem {view.name}", event)
            self._measure()

    def _dropped(self) -> list[str]:
        names = {v.name for v in self.views}
        gone = [name for name in self._watched if name not in names]
        for name in gone:
            del self._watched[name]
        return gone

    def _look(self, view: ViewHandle) -> None:
        """Read a view if the database has changed since the last look, and tell what is new."""
        watched = self._watched.setdefault(view.name, Watched())
        version, now = self.db.version, time.monotonic()
        if version == watched.version or now < watched.next_read:
            return
        began = time.thread_time()  # what reading costs, not what it waits for
        rows, count = first_rows(view, SHOWN)
        took = time.thread_time() - began
        is_first = watched.version < 0  # it also imports what reads need
        watched.version, watched.next_read = version, now + (0 if is_first else SHARE * took)
        if rows == watched.rows and count == watched.count:
            return
        watched.rows, watched.count = rows, count
        event = {**_described(view), "type": "view", "version": version, "rows": rows}
        event |= {"count": count, "read_ms": round(took * 1000, 3)}
        self.broadcast.send(view.name, event)

    def _measure(self) -> None:
        meter, now = self._meter, time.monotonic()
        then, version, rows = meter.last
        if now - then < 1:
            return
        changes = (self.db.version - version) / (now - then)
        meter.last = (now, self.db.version, meter.rows_in)
        rate = (meter.rows_in - rows) / (now - then)
        meter.history.append((round(changes, 1), round(rate, 1)))
        event = {"type": "metrics", "version": self.db.version, "memory": resident_bytes()}
        event |= {"readers": self.broadcast.readers, "history": list(meter.history)}
        self.broadcast.send("metrics", event)


def first_rows(view: Rows, most: int) -> tuple[list[list[Json]], int]:
    """The first rows of a view as JSON, and how many it has."""
    from freshview.runtime.ingest.columns import rows_of

    table = view.to_arrow()
    rows: list[list[Json]] = rows_to_json(rows_of(table.slice(0, most)))
    return rows, int(table.num_rows)


def resident_bytes() -> int:
    """The memory of this process, where the system tells; 0 elsewhere."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _described(view: ViewHandle) -> dict[str, object]:
    columns = [
        {"name": c.name, "type": str(c.type), "numeric": c.type.is_numeric} for c in view.schema
    ]
    return {"name": view.name, "columns": columns, "engine": view.engine}


def problem(e: FreshviewError) -> dict[str, object]:
    """An error as the page shows it: what is wrong, where, what to do instead."""
    place = {"line": e.at.line, "column": e.at.column} if e.at and e.at.line else {}
    return {"error": e.what, "instead": e.instead, "message": str(e), **place}
