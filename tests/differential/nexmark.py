"""The queries of Nexmark beside DuckDB: batches of an auction house, and what DuckDB is asked."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import sqlglot

from workloads import NEXMARK, Row

HOP = """SELECT *,
  to_timestamp(floor(epoch({time}) / {slide}) * {slide} - {slide} * i)::TIMESTAMP AS s
  FROM {table}, range({count}) AS hops(i) WHERE {time} IS NOT NULL"""


def tumbled(table: str, time: str) -> str:
    return f"({HOP.format(table=table, time=time, slide=10, count=1)})"


COUNTED = (
    f"WITH counted AS (SELECT auction, s, COUNT(*) AS n FROM "
    f"({HOP.format(table='bid', time='date_time', slide=5, count=4)}) GROUP BY auction, s) "
)
IN_ONE_GO = """SELECT bidder, date_time, sum(opens) OVER (
    PARTITION BY bidder ORDER BY date_time ROWS UNBOUNDED PRECEDING) AS g
  FROM (SELECT *, CASE WHEN date_time <=
    lag(date_time) OVER (PARTITION BY bidder ORDER BY date_time) + INTERVAL 10 SECOND
    THEN 0 ELSE 1 END AS opens FROM bid WHERE date_time IS NOT NULL)"""

IN_DUCKDB: dict[str, str] = {
    "q05": COUNTED + "SELECT c.auction, c.n, c.s FROM counted c JOIN "
    "(SELECT s, MAX(n) AS most FROM counted GROUP BY s) m ON c.s = m.s AND c.n >= m.most",
    "q07": "SELECT b.auction, b.price, b.bidder, b.date_time FROM bid b JOIN "
    f"(SELECT s, MAX(price) AS highest FROM {tumbled('bid', 'date_time')} GROUP BY s) m "
    "ON b.price = m.highest AND b.date_time >= m.s AND b.date_time < m.s + INTERVAL 10 SECOND",
    "q08": f"SELECT p.id, p.name, p.s FROM (SELECT DISTINCT id, name, s FROM "
    f"{tumbled('person', 'date_time')}) p JOIN (SELECT DISTINCT seller, s FROM "
    f"{tumbled('auction', 'date_time')}) a ON p.id = a.seller AND p.s = a.s",
    "q11": "SELECT bidder, COUNT(*), MIN(date_time), MAX(date_time) + INTERVAL 10 SECOND "
    f"FROM ({IN_ONE_GO}) GROUP BY bidder, g",
    "q12": "SELECT bidder, s, s + INTERVAL 10 SECOND, COUNT(*) "
    f"FROM {tumbled('bid', 'arrived')} GROUP BY bidder, s",
}
"""What DuckDB has no words for; it is asked the others as they are."""


def queries() -> dict[str, str]:
    """The texts of the queries, by name."""
    return {name: path.read_text() for name, path in NEXMARK.queries().items()}


def in_duckdb(name: str) -> str:
    """A query in the words of DuckDB."""
    if name in IN_DUCKDB:
        return IN_DUCKDB[name]
    [text] = sqlglot.transpile(queries()[name], read="spark", write="duckdb")
    return str(text)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal | float):
        return round(float(value), 6)
    return value


def bag(rows: Any) -> Counter[Row]:
    """Rows whose numbers are compared to six digits after the point."""
    return Counter(tuple(map(_plain, row)) for row in rows)


class House:
    """The rows of an auction house in DuckDB, batch by batch."""

    def __init__(self) -> None:
        self.duck = duckdb.connect()
        text = NEXMARK.schema.read_text()
        for word in ("CREATE STREAM", "CREATE TABLE"):
            text = text.replace(word, "CREATE TABLE")
        self.duck.execute(text.replace(" INT", " BIGINT").replace("PRIMARY KEY", ""))
        for table, rows in NEXMARK.tables().items():
            self._insert(table, rows)

    def _insert(self, table: str, rows: list[Row]) -> None:
        for row in rows:
            marks = ", ".join("?" for _ in row)
            self.duck.execute(f"INSERT INTO {table} VALUES ({marks})", row)

    def apply(self, batch: list[tuple[str, Row, int]]) -> None:
        for table, row, count in batch:
            if count > 0:
                self._insert(table, [row])
                continue
            columns = [c[0] for c in self.duck.execute(f"DESCRIBE {table}").fetchall()]
            same = " AND ".join(f"{c} IS NOT DISTINCT FROM ?" for c in columns)
            self.duck.execute(
                f"DELETE FROM {table} WHERE rowid = (SELECT MIN(rowid) FROM {table} WHERE {same})",
                row,
            )

    def rows(self, name: str) -> Counter[Row]:
        return bag(self.duck.execute(in_duckdb(name)).fetchall())


def changes(batch: list[tuple[str, Row, int]]) -> dict[str, list[tuple[Row, int]]]:
    """A batch by stream."""
    out: dict[str, list[tuple[Row, int]]] = {}
    for table, row, count in batch:
        out.setdefault(table, []).append((row, count))
    return out


def page() -> str:
    """The page of the docs: which query runs where, with what it is about."""
    rows = [
        f"| {name} | {path.read_text().splitlines()[0].removeprefix('-- ')} "
        f"| {'DuckDB in other words' if name in IN_DUCKDB else 'DuckDB'} |"
        for name, path in NEXMARK.queries().items()
    ]
    return "\n".join([HEAD, *rows, ""])


HEAD = f"""# Nexmark

An auction house of people, auctions and bids, and {len(queries())} queries over them, in our own
words (`workloads/nexmark`). Each is kept by deltas on the reference engine, on kernels and on
Spark, with NULLs, ties, times out of order and deletions, and equals DuckDB after every batch
(`tests/differential/test_nexmark.py`). This page is written by
`python -m tests.differential.nexmark`; a test compares it.

Where Nexmark asks for the time of processing, rows bring the time at which they arrived.

| query | | compared with |
|---|---|---|"""

if __name__ == "__main__":
    Path("docs/reference/nexmark.md").write_text(page())
