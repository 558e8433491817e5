"""TPC-DS as a workload: its schema for Freshview, rows to begin with, and a stream of changes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

import sqlglot
from sqlglot import exp

from freshview.sql.catalog import Catalog
from freshview.sql.load import load
from tests.differential.tpcds.source import tpcds
from workloads.events import Batch, Row, Tables, Value

STATIC = frozenset(
    [
        *("date_dim", "time_dim", "customer_demographics", "household_demographics"),
        *("income_band", "ship_mode", "reason", "catalog_page", "web_page"),
    ]
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


SALT = 0.4
"""The part of the rows whose column gets a constant of the query."""


def constants(text: str) -> dict[str, list[str]]:
    """The constants that a query compares a column with, by the column."""
    out: dict[str, list[str]] = {}
    for test in sqlglot.parse_one(text, dialect="duckdb").find_all(exp.EQ, exp.In, exp.Between):
        column = test.this
        values = [
            test.args.get("expression"),
            test.args.get("low"),
            *test.args.get("expressions", ()),
        ]
        literals = [v.name for v in values if isinstance(v, exp.Literal)]
        if isinstance(column, exp.Column) and literals:
            out.setdefault(column.name.lower(), []).extend(literals)
    return out


@dataclass(frozen=True)
class World:
    """What the tests of workloads ask of one: `Workload` in `workloads`.

    A sample of the data would hardly have a row that passes the tests of a query: so some rows get
    the constants that it compares their columns with.
    """

    text: str
    name: str = "tpcds"
    part: float = 1.0
    """How many of the rows there are: the reference engine takes a part."""

    def tables(self, seed: int = 0) -> Tables:
        """The rows of the static tables."""
        return {table: self._rows(table) for table in sorted(STATIC)}

    def _rows(self, table: str) -> list[Row]:
        """The rows of a table, some with constants of the query."""
        rng = random.Random(table)
        known = constants(self.text)
        columns = tpcds().columns[table]
        choices = [(i, _reader(t), known[n]) for i, (n, t, _) in enumerate(columns) if n in known]
        salted: list[Row] = []
        for row in rows_of(table):
            values = list(row)
            for i, read, texts in choices:
                if rng.random() < SALT:
                    values[i] = read(rng.choice(texts))
            salted.append(tuple(values))
        return salted

    def stream(self, seed: int, batches: int, max_size: int = 0, live: int = 0) -> Iterator[Batch]:
        """Most rows at once, then batches of inserts, deletes and rows that get NULLs."""
        rng = random.Random(seed)
        later: list[tuple[str, Row]] = []
        now: list[tuple[str, Row]] = []
        for table, columns in tpcds().columns.items():
            if table in STATIC:
                continue
            big = len(columns) > 15 or table == "inventory"
            for row in self._rows(table):
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
