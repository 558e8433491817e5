"""Queries over time beside DuckDB: windows, sessions, and what the clock lets retire.

A stream `r` of rows with a key, a time that may be NULL, and values; each query is ours, and
DuckDB's over the rows that are there, with `{now}` where the clock stands.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta
from typing import Any, Protocol

import duckdb

Row = tuple[Any, ...]
SCHEMA = (
    "CREATE STREAM r (id INT PRIMARY KEY, k INT, ts TIMESTAMP, n INT NOT NULL, x INT, name STRING);"
)
START = datetime(2024, 1, 1)

HOPS = """(SELECT r.*,
  to_timestamp(floor(epoch(ts) / {slide}) * {slide} - {slide} * i)::TIMESTAMP AS s
  FROM r, range({count}) AS hops(i) WHERE ts IS NOT NULL)"""
SESSIONS = """(SELECT *, min(ts) OVER (PARTITION BY k, g) AS s,
    max(ts) OVER (PARTITION BY k, g) AS e
  FROM (SELECT *, sum(new) OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING) AS g
    FROM (SELECT *, CASE WHEN ts <= lag(ts) OVER (PARTITION BY k ORDER BY ts) + INTERVAL 40 SECOND
      THEN 0 ELSE 1 END AS new FROM (SELECT id, {key} AS k, ts, n, x, name FROM r)
      WHERE ts IS NOT NULL)))"""
BUCKET = "time_bucket(INTERVAL 60 SECOND, ts, TIMESTAMP '1970-01-01')"
MINUTE = "INTERVAL 60 SECOND"


def hops(slide: int, count: int) -> str:
    return HOPS.format(slide=slide, count=count)


PAIRS: dict[str, tuple[str, str]] = {
    "tumbling": (
        "SELECT window.start, window.end, k, COUNT(*) AS c, SUM(x) AS s, MIN(name) AS m FROM r "
        "GROUP BY window(ts, '1 minute'), k",
        f"SELECT {BUCKET} AS b, b + {MINUTE}, k, COUNT(*), SUM(x), MIN(name) FROM r "
        "WHERE ts IS NOT NULL GROUP BY b, k",
    ),
    "hopping": (
        "SELECT window, COUNT(x) AS c, AVG(x) AS a FROM r "
        "GROUP BY window(ts, '50 seconds', '20 seconds')",
        "SELECT s, s + INTERVAL 50 SECOND, COUNT(x), AVG(x) FROM "
        f"{hops(20, 3)} WHERE ts < s + INTERVAL 50 SECOND GROUP BY s",
    ),
    "rows_of_windows": (
        "SELECT id, window(ts, '1 minute').start AS s FROM r WHERE x > 1",
        f"SELECT id, {BUCKET} FROM r WHERE x > 1 AND ts IS NOT NULL",
    ),
    "having": (
        "SELECT window(ts, '1 minute') AS w, COUNT(*) AS c FROM r GROUP BY w HAVING COUNT(*) > 2",
        f"SELECT {BUCKET} AS b, b + {MINUTE}, COUNT(*) FROM r WHERE ts IS NOT NULL "
        "GROUP BY b HAVING COUNT(*) > 2",
    ),
    "windows_of_windows": (
        "SELECT window AS w, MAX(c) AS m FROM (SELECT window, k, COUNT(*) AS c FROM r "
        "GROUP BY window(ts, '1 minute'), k) q GROUP BY window",
        f"SELECT b, b + {MINUTE}, MAX(c) FROM (SELECT {BUCKET} AS b, k, COUNT(*) AS c FROM r "
        "WHERE ts IS NOT NULL GROUP BY b, k) GROUP BY b",
    ),
    "tumble": (
        "SELECT id, k, window_start, window_end FROM TUMBLE(TABLE r, DESCRIPTOR(ts), "
        "INTERVAL '1' MINUTE)",
        f"SELECT id, k, {BUCKET} AS b, b + {MINUTE} FROM r WHERE ts IS NOT NULL",
    ),
    "tumble_numbers": (
        "SELECT window_start, window_end, COUNT(*) AS c "
        "FROM TUMBLE(TABLE r, DESCRIPTOR(n), 7, 2) t "
        "GROUP BY window_start, window_end",
        "SELECT (floor((n - 2) / 7) * 7 + 2)::BIGINT AS b, b + 7, COUNT(*) FROM r GROUP BY b",
    ),
    "hop_joined": (
        "SELECT a.window_start, COUNT(*) AS c FROM "
        "HOP(TABLE r, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE) a "
        "JOIN r b ON a.k = b.k AND b.x = 1 GROUP BY a.window_start",
        f"SELECT a.s, COUNT(*) FROM {hops(30, 2)} a JOIN r b ON a.k = b.k AND b.x = 1 GROUP BY a.s",
    ),
    "sessions": (
        "SELECT session_window, k, COUNT(*) AS c, SUM(x) AS s FROM r "
        "GROUP BY session_window(ts, '40 seconds'), k",
        "SELECT s, e + INTERVAL 40 SECOND, k, COUNT(*), SUM(x) FROM "
        f"{SESSIONS.format(key='k')} GROUP BY s, e, k",
    ),
    "sessions_of_all": (
        "SELECT session_window(ts, '40 seconds').start AS s, COUNT(*) AS c FROM r WHERE x > 0 "
        "GROUP BY session_window(ts, '40 seconds')",
        "SELECT s, COUNT(*) FROM "
        + SESSIONS.format(key="1").replace("FROM r)", "FROM r WHERE x > 0)")
        + " GROUP BY s",
    ),
    "session_rows": (
        "SELECT id, window_start, window_end FROM "
        "SESSION(TABLE r PARTITION BY k, DESCRIPTOR(ts), INTERVAL '40' SECOND)",
        f"SELECT id, s, e + INTERVAL 40 SECOND FROM {SESSIONS.format(key='k')}",
    ),
    "recent": (
        "SELECT id, k, x FROM r WHERE ts > now() - INTERVAL 90 SECONDS",
        "SELECT id, k, x FROM r WHERE ts > {now} - INTERVAL 90 SECONDS",
    ),
    "recent_groups": (
        "SELECT k, COUNT(*) AS c, SUM(x) AS s, MAX(name) AS m FROM r "
        "WHERE ts BETWEEN current_timestamp() - INTERVAL 90 SECONDS AND now() GROUP BY k",
        "SELECT k, COUNT(*), SUM(x), MAX(name) FROM r "
        "WHERE ts BETWEEN {now} - INTERVAL 90 SECONDS AND {now} GROUP BY k",
    ),
    "silent_keys": (
        "SELECT k FROM r GROUP BY k HAVING MAX(ts) < now() - INTERVAL 30 SECONDS",
        "SELECT k FROM r GROUP BY k HAVING MAX(ts) < {now} - INTERVAL 30 SECONDS",
    ),
    "not_yet": (
        "SELECT COUNT(*) AS c FROM r WHERE NOT (ts <= now())",
        "SELECT COUNT(*) FROM r WHERE NOT (ts <= {now})",
    ),
    "same_minute": (
        "SELECT id FROM r WHERE DATE_TRUNC('MINUTE', ts) = DATE_TRUNC('MINUTE', now())",
        "SELECT id FROM r WHERE DATE_TRUNC('MINUTE', ts) = DATE_TRUNC('MINUTE', {now})",
    ),
    "today": (
        "SELECT k, COUNT(*) AS c FROM r WHERE DATE(ts) = current_date GROUP BY k",
        "SELECT k, COUNT(*) FROM r WHERE ts::DATE = ({now})::DATE GROUP BY k",
    ),
    "recent_join": (
        "SELECT a.id, b.id AS other FROM r a LEFT JOIN r b ON a.k = b.k AND b.x = 1 "
        "AND b.ts > now() - INTERVAL 60 SECONDS WHERE a.x = 0",
        "SELECT a.id, b.id FROM r a LEFT JOIN r b ON a.k = b.k AND b.x = 1 "
        "AND b.ts > {now} - INTERVAL 60 SECONDS WHERE a.x = 0",
    ),
    "recent_windows": (
        "SELECT window.start, COUNT(*) AS c FROM r GROUP BY window(ts, '1 minute') "
        "HAVING window.end > now() - INTERVAL 60 SECONDS",
        f"SELECT {BUCKET} AS b, COUNT(*) FROM r WHERE ts IS NOT NULL GROUP BY b "
        f"HAVING b + {MINUTE} > {{now}} - INTERVAL 60 SECONDS",
    ),
}
"""Our query and DuckDB's."""


class Followed(Protocol):
    """What follows a stream and a clock: a database, or a pipeline."""

    def apply(self, rows: list[tuple[Row, int]]) -> None: ...

    def advance_clock(self, to: datetime) -> None: ...

    def rows(self, view: str) -> list[Row]: ...


class World:
    """Random batches that come and go while the clock moves, beside DuckDB."""

    def __init__(self, seed: int, followed: Followed, names: list[str]) -> None:
        self.random = random.Random(seed)
        self.followed, self.names = followed, names
        self.duck = duckdb.connect()
        self.duck.execute(
            "CREATE TABLE r (id BIGINT, k BIGINT, ts TIMESTAMP, n BIGINT, x BIGINT, name VARCHAR)"
        )
        self.held: list[Row] = []
        self.now = datetime(1970, 1, 1)
        self.second = 0
        self.next = 0

    def run(self, batches: int) -> None:
        for i in range(batches):
            self.second += self.random.randint(0, 45)
            if self.random.random() < 0.6 and i:
                self.now = max(self.now, START + timedelta(seconds=self.second))
                self.followed.advance_clock(self.now)
                self.compare()
            self.followed.apply(self._batch())
            self.compare()

    def _batch(self) -> list[tuple[Row, int]]:
        coming = [self._row() for _ in range(self.random.randint(0, 8))]
        going = self.random.sample(self.held, min(len(self.held), self.random.randint(0, 5)))
        for row in going:
            self.held.remove(row)
            self.duck.execute("DELETE FROM r WHERE id = ?", [row[0]])
        for row in coming:
            self.held.append(row)
            self.duck.execute("INSERT INTO r VALUES (?, ?, ?, ?, ?, ?)", row)
        return [*((row, -1) for row in going), *((row, 1) for row in coming)]

    def _row(self) -> Row:
        rnd = self.random
        self.next += 1
        second = self.second + rnd.choice((0, 5, 20, 40, -100, -41, rnd.randint(-60, 60)))
        time = None if rnd.random() < 0.1 else START + timedelta(seconds=second)
        key = rnd.choice((None, 0, 0, 1, 2))
        x, name = rnd.choice((None, 0, 1, 2, 5)), rnd.choice((None, "a", "b", "é"))
        return self.next, key, time, rnd.randint(-9, 9), x, name

    def compare(self) -> None:
        now = f"TIMESTAMP '{self.now}'"
        for name in self.names:
            sql = PAIRS[name][1].replace("{now}", now)
            wanted = Counter(self.duck.execute(sql).fetchall())
            assert Counter(self.followed.rows(name)) == wanted, (name, self.now)


class FollowedDatabase:
    """A database with some of the views."""

    def __init__(self, db: Any, names: list[str]) -> None:
        self.db = db
        db.execute(SCHEMA)
        for name in names:
            db.execute(f"CREATE VIEW {name} AS {PAIRS[name][0]}")

    def apply(self, rows: list[tuple[Row, int]]) -> None:
        self.db.apply({"r": rows})

    def advance_clock(self, to: datetime) -> None:
        self.db.advance_clock(to)

    def rows(self, view: str) -> list[Row]:
        return list(self.db.view(view).rows())
