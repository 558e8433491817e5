"""Streams with an event time beside DuckDB: what came in time is what views are over."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import duckdb

import freshview

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Kind:
    """A type of times: how whole numbers are written in it, as times and as distances."""

    name: str
    at: Callable[[int], Any]
    apart: Callable[[int], str]


KINDS = {
    "int": Kind("INT", lambda i: i, str),
    "double": Kind("DOUBLE", lambda i: i / 8, lambda n: str(n / 8)),
    "date": Kind("DATE", lambda i: date(2024, 1, 1) + timedelta(days=i), str),
    "timestamp": Kind(
        "TIMESTAMP",
        lambda i: datetime(2024, 1, 1) + timedelta(seconds=i),
        lambda n: f"INTERVAL {n} SECONDS",
    ),
}
DUCK = {"INT": "BIGINT"}

VIEWS = {
    "sums": "SELECT a.k, COUNT(*) AS n, SUM(a.v * b.v) AS s FROM a JOIN b ON {near} GROUP BY a.k",
    "pairs": "SELECT a.t, a.k, b.t AS u, b.v FROM a JOIN b ON {near} AND a.k <> b.k",
    "keys": "SELECT a.k, MAX(b.v) AS m FROM a JOIN b ON {near} AND a.k = b.k GROUP BY a.k",
    "chain": "SELECT COUNT(*) AS n FROM a JOIN b ON {near} JOIN a c ON c.t >= b.t - {two} "
    "AND c.t <= b.t",
    "one_side": "SELECT COUNT(*) AS n, SUM(a.v) AS s FROM a JOIN b ON a.t >= b.t",
    "equal": "SELECT COUNT(*) AS n FROM a JOIN b ON a.t = b.t",
    "outer_rows": "SELECT a.k, b.v FROM a LEFT JOIN b ON {near}",
    "nested": "SELECT COUNT(*) AS n FROM a WHERE EXISTS (SELECT 1 FROM b WHERE {near})",
    "history": "SELECT k, SUM(v) AS s FROM a GROUP BY k",
    "no_window": "SELECT COUNT(*) AS n FROM a JOIN b ON a.k = b.k",
}


class World:
    """Random batches of two streams, with rows that come too late and rows that go again."""

    def __init__(self, seed: int, kind: str, **options: Any) -> None:
        self.random = random.Random(seed)
        self.kind = KINDS[kind]
        near = "a.t BETWEEN b.t - {five} AND b.t + {five}"
        distances = {"five": self.kind.apart(5), "two": self.kind.apart(2)}
        distances["near"] = near.format(**distances)
        self.views = {name: text.format(**distances) for name, text in VIEWS.items()}
        self.db = freshview.connect(**options)
        self.duck = duckdb.connect()
        delay = self.kind.apart(3)
        self.delay = 3
        for stream in "ab":
            columns = f"t {self.kind.name} NOT NULL, k INT NOT NULL, v INT NOT NULL"
            watermark = f"WATERMARK FOR t AS t - {delay}"
            self.db.execute(f"CREATE STREAM {stream} ({columns}, {watermark})")
            t = DUCK.get(self.kind.name, self.kind.name)
            self.duck.execute(f"CREATE TABLE {stream} (t {t}, k BIGINT, v BIGINT)")
        for name, text in self.views.items():
            self.db.execute(f"CREATE VIEW {name} AS {text}")
        self.held: dict[str, list[tuple[int, int, int]]] = {"a": [], "b": []}
        self.latest: dict[str, int | None] = {"a": None, "b": None}
        self.late = Counter[str]()
        self.now = 0

    def run(self, batches: int = 30) -> None:
        for _ in range(batches):
            self.now += self.random.randint(0, 6)
            self.db.apply({stream: self.batch(stream) for stream in "ab"})
            self.compare()

    def batch(self, stream: str) -> list[tuple[Row, int]]:
        """Rows that come, some too late, and rows that go; those in time are in DuckDB, too."""
        size = self.random.randint(0, 10)
        rows = [
            (
                self.now - self.random.randint(0, 6),
                self.random.randint(0, 2),
                self.random.randint(-3, 3),
            )
            for _ in range(size)
        ]
        changes = [(row, 1) for row in rows]
        held = self.held[stream]
        changes += [(row, -1) for row in self.random.sample(held, min(len(held), 2))]
        before = self.latest[stream]
        for (t, k, v), count in changes:
            if before is not None and t < before - self.delay:
                self.late[stream] += 1
                continue
            if count > 0:
                held.append((t, k, v))
                self.duck.execute(f"INSERT INTO {stream} VALUES (?, ?, ?)", (self.kind.at(t), k, v))
            else:
                held.remove((t, k, v))
                where = "WHERE t = ? AND k = ? AND v = ? LIMIT 1"
                self.duck.execute(
                    f"DELETE FROM {stream} WHERE rowid = (SELECT rowid FROM {stream} {where})",
                    (self.kind.at(t), k, v),
                )
        seen = [t for (t, _, _), _ in changes]
        self.latest[stream] = max([*seen, *([before] if before is not None else [])], default=None)
        return [((self.kind.at(t), k, v), count) for (t, k, v), count in changes]

    def compare(self) -> None:
        for name, text in self.views.items():
            wanted = Counter(self.duck.execute(text).fetchall())
            assert Counter(self.db.view(name).rows()) == wanted, name
        for stream in "ab":
            time = self.db.event_time(stream)
            assert time.late == self.late[stream]
            latest = self.latest[stream]
            if latest is not None:
                assert time.watermark == self.kind.at(latest - self.delay)

    def kept(self) -> Mapping[str, int]:
        """The entries of every map that forgets."""
        from freshview.program.expiry import forgetful

        out: dict[str, int] = {}
        for group in self.db.state.groups:
            sizes = group.engine.engine.sizes()
            out |= {m: sizes[m] for m in forgetful(group.program) if m in sizes}
        return out
