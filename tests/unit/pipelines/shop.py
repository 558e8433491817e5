"""A small pipeline for the tests of the runtime: a join, a total on the driver, and a threshold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from freshview.distributed.compile import distribute
from freshview.distributed.terms import Distributed
from freshview.durable import task
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.ivm.compile import compile_queries
from freshview.pipelines.flow import Flow
from freshview.runtime.ingest.columns import COUNT, rows_of
from freshview.sql.load import load

SQL = """
CREATE STREAM orders (id INT NOT NULL, customer VARCHAR, PRIMARY KEY (id));
CREATE STREAM items (id INT NOT NULL, line INT NOT NULL, price DECIMAL(10, 2) NOT NULL,
  PRIMARY KEY (id, line));
CREATE TABLE nation (code INT NOT NULL, name VARCHAR NOT NULL);
CREATE VIEW revenue AS
  SELECT o.customer, SUM(i.price) AS total
  FROM orders o, items i WHERE o.id = i.id GROUP BY o.customer;
CREATE VIEW many AS
  SELECT i.id, COUNT(*) AS n FROM items i GROUP BY i.id
  HAVING COUNT(*) > (SELECT COUNT(*) FROM nation);
"""


def shop(sql: str = SQL) -> Distributed:
    catalog, queries = load(sql)
    return distribute(compile_queries(queries, list(catalog.relations.values())))


def orders(*rows: tuple[int, str | None], count: int = 1) -> pa.Table:
    table = pa.table({"id": [r[0] for r in rows], "customer": [r[1] for r in rows]})
    return table.append_column(COUNT, pa.array([count] * len(rows), pa.int64()))


def items(*rows: tuple[int, int, int], count: int = 1) -> pa.Table:
    prices = pa.array([r[2] for r in rows], pa.int64()).cast(pa.decimal128(21, 2))
    table = pa.table({"id": [r[0] for r in rows], "line": [r[1] for r in rows], "price": prices})
    return table.append_column(COUNT, pa.array([count] * len(rows), pa.int64()))


class Shop:
    """A flow of the shop, and what its first view must be."""

    def __init__(
        self,
        folder: Path,
        workers: int = 3,
        runner: Any = None,
        every: int = 3,
        native: bool = False,
        settings: FlowSettings | None = None,
        restart: bool = False,
    ) -> None:
        self.place = folder / "checkpoint"
        self.memory = folder / "memory"
        usual = FlowSettings(snapshot_every=every, memory=str(self.memory), native=native)
        self.settings = settings or usual
        self.distributed = shop()
        self.runner = runner or InlineRunner()
        self.number = 0
        self.wanted: Counter[tuple[str | None, int]] = Counter()
        if restart:
            self.restart()
            return
        self.flow = Flow.start(
            self.distributed,
            self.runner,
            workers=workers,
            checkpoint=self.place,
            tables={"nation": pa.table({"code": [1], "name": ["France"]})},
            settings=self.settings,
        )

    def batch(self, size: int = 4) -> dict[str, pa.Table]:
        """The next batch."""
        self.number += 1
        ids = [self.number * 100 + i for i in range(size)]
        new = orders(*((i, None if i % 5 == 0 else f"c{i % 3}") for i in ids))
        lines = items(*((i, line, 1 + i % 7) for i in ids for line in range(2)))
        return {"orders": new, "items": lines}

    def count(self, batch: dict[str, pa.Table]) -> None:
        """Let the expected view have a batch."""
        names = dict(rows_of(batch["orders"].drop_columns([COUNT])))
        for number, _, price, n in rows_of(batch["items"]):
            self.wanted[names[number]] += price * n

    def apply(self, batches: int = 1) -> None:
        for _ in range(batches):
            batch = self.batch()
            self.flow.apply(batch)
            self.count(batch)

    def rest(self) -> None:
        """Wait until no snapshot is on its way."""
        for _, worker in task._WORKERS.values():
            worker.snapshots.wait()
        self.flow._coordinator.driver.snapshots.wait()

    def restart(self, **options: Any) -> None:
        self.flow = Flow.restart(
            self.distributed, self.runner, checkpoint=self.place, settings=self.settings, **options
        )

    def check(self) -> None:
        assert dict(rows_of(self.flow.read("revenue"))) == dict(self.wanted)
        rows_read = self.flow.read("many").num_rows
        assert rows_read == 4 * self.number

    def redo(self) -> list[Path]:
        """The redo files that there are, oldest first."""
        return sorted(self.place.glob("p*/redo-*"), key=lambda p: p.name)
