"""TPC-DS as a workload: its schema for Freshview, rows to begin with, and a stream of changes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

from freshview.sql.catalog import Catalog
from freshview.sql.load import load
from tests.differential.tpcds.source import tpcds
from workloads.events import Batch, Row, Tables, Value

STATIC = frozenset(
    ("date_dim", "time_dim", "customer_demographics", "household_demographics", "income_band")
    + ("ship_mode", "reason", "catalog_page", "web_page")
)
"""The tables that are loaded once; the others change."""

KEPT_BACK = 0.1
"""The part of the rows that comes later."""


@cache
def catalog() -> Catalog:
    """The relations of TPC-DS: streams, and tables of what does not change."""
    script = []
    for table, columns in tpcds().columns.items():
        inner = ", ".join(f"{n} {t}{'' if nullable else ' NOT NULL'}" for n, t, nullable in columns)
        script.append(f"CREATE {'TABLE' if table in STATIC else 'STREAM'} {table} ({inner})")
    return load(";".join(script))[0]


@cache
def rows_of(table: str) -> list[Row]:
    """The rows of a table, as values of its types."""
    readers = [_reader(kind) for _, kind, _ in tpcds().columns[table]]
    return [
        tuple(None if v is None else read(v) for read, v in zip(readers, row, strict=True))
        for row in tpcds().rows[table]
    ]


def _reader(kind: str) -> Any:
    if kind.startswith("DECIMAL"):
        return Decimal
    return {"DATE": date.fromisoformat, "INTEGER": int, "BIGINT": int}.get(kind, str)


@dataclass(frozen=True)
class World:
    """What the tests of workloads ask of one: `Workload` in `workloads`."""

    name: str = "tpcds"
    part: float = 1.0
    """How many of the rows there are: the reference engine takes a part."""

    def tables(self, seed: int = 0) -> Tables:
        """The rows of the static tables."""
        return {table: list(rows_of(table)) for table in sorted(STATIC)}

    def stream(
        self, seed: int, batches: int, max_size: int = 0, live: int = 0
    ) -> Iterator[Batch]:
        """Most rows at once, then batches of inserts, deletes and rows that get NULLs."""
        rng = random.Random(seed)
        later: list[tuple[str, Row]] = []
        now: list[tuple[str, Row]] = []
        for table, columns in tpcds().columns.items():
            if table in STATIC:
                continue
            big = len(columns) > 15 or table == "inventory"
            for row in rows_of(table):
                if not big or rng.random() < self.part:
                    (later if rng.random() < KEPT_BACK else now).append((table, row))
        rng.shuffle(now)
        rng.shuffle(later)
        yield [(table, row, 1) for table, row in now]
        for _ in range(batches - 1):
            size = rng.randint(1, max_size)
            batch: Batch = []
            for _ in range(min(size, len(now) // 2)):
                what = rng.random()
                if what < 0.4 and later:
                    table, row = later.pop()
                    batch.append((table, row, 1))
                    now.append((table, row))
                    continue
                at = rng.randrange(len(now))
                table, row = now[at]
                now[at] = now[-1]
                now.pop()
                batch.append((table, row, -1))
                if what < 0.6:
                    holed = _holed(rng, table, row)
                    batch.append((table, holed, 1))
                    now.append((table, holed))
                elif what < 0.8:
                    later.insert(rng.randint(0, len(later)), (table, row))
            yield batch


def _holed(rng: random.Random, table: str, row: Row) -> Row:
    """A row with NULL in one of the columns that may be."""
    nullable = [i for i, (_, _, n) in enumerate(tpcds().columns[table]) if n]
    values: list[Value] = list(row)
    values[rng.choice(nullable)] = None
    return tuple(values)
