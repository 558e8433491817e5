"""EMIT FINAL beside DuckDB: rows of windows that the watermark has passed, and no others."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

import duckdb

Row = tuple[Any, ...]
START = datetime(2024, 1, 1)
DELAY = timedelta(seconds=30)
STREAM = (
    "CREATE STREAM s (ts TIMESTAMP NOT NULL, k INT NOT NULL, x INT,"
    " WATERMARK FOR ts AS ts - INTERVAL '30' SECOND);"
)
MINUTES = (
    "SELECT window.start, window.end, k, COUNT(*) AS c, SUM(x) AS s, MAX(x) AS m FROM s "
    "GROUP BY window(ts, '1 minute'), k EMIT FINAL"
)
FINAL_SCRIPT = f"{STREAM} CREATE VIEW minutes AS {MINUTES};"
BUCKET = "time_bucket(INTERVAL 60 SECOND, ts, TIMESTAMP '1970-01-01')"
WANTED = (
    f"SELECT {BUCKET} AS b, b + INTERVAL 60 SECOND AS e, k, COUNT(*), SUM(x), MAX(x) FROM s "
    "GROUP BY b, k HAVING e <= ?"
)


class FinalWorld:
    """Rows that come out of order, late ones among them, and go again while they may."""

    def __init__(
        self,
        seed: int,
        change: Callable[[list[tuple[Row, int]]], object],
        read: Callable[[], Iterable[Row]],
    ) -> None:
        self.random = random.Random(seed)
        self.change, self.read = change, read
        self.duck = duckdb.connect()
        self.duck.execute("CREATE TABLE s (ts TIMESTAMP, k BIGINT, x BIGINT)")
        self.held: list[Row] = []
        self.second = 0
        self.mark: datetime | None = None
        self.shown: Counter[Row] = Counter()

    def run(self, batches: int) -> None:
        for _ in range(batches):
            self.second += self.random.randint(0, 50)
            self.change(self.batch())
            rows = Counter(self.read())
            mark = self.mark or datetime.min
            assert rows == Counter(self.duck.execute(WANTED, [mark]).fetchall()), mark
            assert not self.shown - rows, "a row that was final has changed"
            self.shown = rows

    def batch(self) -> list[tuple[Row, int]]:
        rnd = self.random
        changes = []
        for _ in range(rnd.randint(1, 9)):
            at = START + timedelta(seconds=self.second - rnd.randint(0, 60))
            changes.append(((at, rnd.randint(0, 2), rnd.choice((None, 1, 2, 3))), 1))
        changes += [(row, -1) for row in rnd.sample(self.held, min(2, len(self.held)))]
        for row, count in changes:
            if self.mark is not None and row[0] < self.mark:
                continue
            if count > 0:
                self.held.append(row)
                self.duck.execute("INSERT INTO s VALUES (?, ?, ?)", row)
            else:
                self.held.remove(row)
                self.duck.execute(
                    "DELETE FROM s WHERE rowid = (SELECT MIN(rowid) FROM s WHERE ts = ? AND k = ? "
                    "AND x IS NOT DISTINCT FROM ?)",
                    row,
                )
        latest = max(row[0] for row, _ in changes) - DELAY
        self.mark = latest if self.mark is None else max(self.mark, latest)
        return changes
