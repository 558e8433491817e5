"""A world is all that a user brings: tables of any types, several views, batches of changes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from freshview.runtime.database.database import Database
from freshview.sql.load import load
from tests.differential.analytic_sql import AnalyticWriter
from tests.differential.duck import Duck, Event, plain
from tests.differential.harness import grouped, same
from tests.differential.nested_sql import ComputedWriter, NestedWriter
from tests.differential.spark_sql import SparkWriter
from tests.differential.typed_sql import View, Writer
from tests.differential.typed_terms import KINDS, SQL_TYPES, Column, Source

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """A stream: its columns, which of them admit NULL, and whether the first one is its key."""

    name: str
    columns: tuple[Column, ...]
    nullable: tuple[bool, ...]
    keyed: bool

    def ddl(self) -> str:
        """Its declaration."""
        columns = [
            f"{c.name} {SQL_TYPES[c.kind]}{'' if null else ' NOT NULL'}"
            for c, null in zip(self.columns, self.nullable, strict=True)
        ]
        if self.keyed:
            columns[0] = f"{self.columns[0].name} {SQL_TYPES[self.columns[0].kind]} PRIMARY KEY"
        return f"CREATE STREAM {self.name} ({', '.join(columns)});"


@dataclass(frozen=True)
class World:
    """What a seed stands for."""

    tables: tuple[Table, ...]
    views: tuple[View, ...]
    batches: tuple[tuple[Event, ...], ...]

    def script(self) -> str:
        """The declarations of the tables."""
        return "\n".join(t.ddl() for t in self.tables)

    def __str__(self) -> str:
        views = [f"CREATE VIEW {v.name} AS {v.sql};" for v in self.views]
        batches = [f"-- batch {i}: {list(b)}" for i, b in enumerate(self.batches)]
        return "\n".join(["", self.script(), *views, *batches])


SPARK_SEEDS = 90_000
"""From this seed on views are those of `spark_sql`, too; the others keep their texts."""
ANALYTIC_SEEDS = 200_000
"""From this one on they are those of `analytic_sql`, too."""
NESTED_SEEDS = 300_000
"""From this one on they are those of `nested_sql`, and some batches are large and skewed."""


COMPUTED_SEEDS = 400_000
"""From this one on values are computed in most places."""


def writer_of(seed: int) -> type[Writer]:
    """What writes the views of a seed."""
    if seed >= NESTED_SEEDS:
        return ComputedWriter if seed >= COMPUTED_SEEDS else NestedWriter
    if seed >= ANALYTIC_SEEDS:
        return AnalyticWriter
    return SparkWriter if seed >= SPARK_SEEDS else Writer


def world(seed: int, views: tuple[int, ...] = (1, 1, 2, 3, 4), batches: int = 8) -> World:
    """The world of a seed.

    A view that never changes says little, so each text is drawn again, up to eight times, until
    its rows change.
    """
    rng = random.Random(f"world {seed}")
    all_null = rng.random() < 0.5
    tables = tuple(random_table(name, rng, all_null) for name in "rst"[: rng.randint(1, 3)])
    kinds = (*_KINDS, "many") if seed >= NESTED_SEEDS else _KINDS
    changes = tuple(_batches(tables, rng, batches, kinds))
    empty = World(tables, (), changes)
    writer = writer_of(seed)
    duck = Duck(load(empty.script())[0])
    sources = [Source(t.name, t.columns) for t in tables]
    texts: list[View] = []
    for number in range(rng.choice(views)):
        for _ in range(8):
            view = writer(rng, sources).view(f"v{number}")
            duck.create_view(view.name, view.oracle or view.sql)
            if _liveliness(view, changes, duck) > 1:
                break
        texts.append(view)
        sources.append(Source(view.name, view.columns))
    return World(tables, tuple(texts), changes)


def _liveliness(view: View, batches: tuple[tuple[Event, ...], ...], duck: Duck) -> int:
    """How often the view's rows differ from those before."""
    duck.clear()
    answers = []
    for batch in batches:
        duck.apply(batch)
        answers.append(duck.query(f"SELECT * FROM {view.name}"))
    return sum(x != y for x, y in pairwise(answers))


def random_table(name: str, rng: random.Random, all_null: bool) -> Table:
    """A table with columns of any type."""
    kinds = [rng.choice(KINDS) for _ in range(rng.randint(2, 4))]
    if "int" not in kinds:
        kinds[0] = "int"
    columns = tuple(Column(f"{kind[0]}{i}", kind) for i, kind in enumerate(kinds))
    nullable = tuple(all_null or rng.random() < 0.4 for _ in columns)
    return Table(name, columns, nullable, rng.random() < 0.15)


# Streams


def _batches(
    tables: tuple[Table, ...], rng: random.Random, count: int, kinds: tuple[str, ...]
) -> Iterator[tuple[Event, ...]]:
    live: dict[str, Counter[Row]] = {t.name: Counter() for t in tables}
    for number in range(count):
        kind = "grow" if number == 0 else rng.choice(kinds)
        yield tuple(e for t in tables for e in _changes(t, live[t.name], kind, rng))


_KINDS = ("grow", "grow", "mix", "mix", "mix", "shrink", "empty", "one", "copies", "return")


def _changes(table: Table, live: Counter[Row], kind: str, rng: random.Random) -> Iterator[Event]:
    """What one batch does to a table; a key that died may come back."""
    if kind == "one" and rng.random() < 0.5:
        return
    delete, insert = {
        "grow": (0, rng.randint(1, 5)),
        "mix": (rng.randint(0, 3), rng.randint(0, 4)),
        "shrink": (rng.randint(1, 5), 0),
        "empty": (live.total(), 0),
        "one": (0, 1),
        "copies": (0, 1),
        "many": (rng.randint(0, 6) if kind == "many" else 0, 16),
        "return": (live.total(), 2),
    }[kind]
    before = sorted(live.elements(), key=repr)
    for row in rng.sample(before, min(delete, len(before))):
        live[row] -= 1
        yield table.name, row, -1
    live += Counter()
    for _ in range(insert):
        row = rng.choice(before) if before and rng.random() < 0.3 else _row(table, rng)
        if table.keyed and any(row[0] == other[0] for other in live):
            continue
        copies = rng.randint(2, 9) if kind == "copies" and not table.keyed else 1
        live[row] += copies
        yield table.name, row, copies


def _row(table: Table, rng: random.Random) -> Row:
    values = [
        None if null and rng.random() < 0.25 else _value(c.kind, rng)
        for c, null in zip(table.columns, table.nullable, strict=True)
    ]
    if table.keyed and values[0] is None:
        values[0] = _value(table.columns[0].kind, rng)
    return tuple(values)


def _value(kind: str, rng: random.Random) -> Any:
    """A value from a small domain; doubles are not dyadic, so that their sums round."""
    match kind:
        case "int":
            return rng.choice((-1, 0, 1, 1, 2, 3))
        case "decimal":
            return Decimal(rng.choice(("0.50", "1.25", "-0.75", "2.00", "0.01")))
        case "double":
            return rng.choice((0.1, 0.2, 0.3, 0.7, -0.1, 1.1, 1e3 / 3))
        case "string":
            return rng.choice(("a", "ab", "", "b", "B", "a long text that is kept elsewhere", "é"))
        case "date":
            return date(2020, 2, 27) + timedelta(days=rng.randint(0, 4))
        case "timestamp":
            return datetime(2020, 1, 1, 12, 30) + timedelta(hours=rng.choice((0, 1, 12)))
        case _:
            return rng.random() < 0.5


# Comparison


def follow(
    w: World,
    connect: Callable[[], Database],
    between: Callable[[Database, int], Database | None] | None = None,
) -> None:
    """Every view of a database equals DuckDB's from-scratch answer after every batch.

    `between` is called before each batch with its number; it may give a database to go on with.
    """
    db = connect()
    db.execute(w.script())
    duck = Duck(load(w.script())[0])
    for v in w.views:
        db.execute(f"CREATE VIEW {v.name} AS {v.sql}")
        duck.create_view(v.name, v.oracle or v.sql)
    compare(w, db, duck, "before the first batch")
    for number, batch in enumerate(w.batches):
        if between is not None:
            db = between(db, number) or db
        db.apply(dict(grouped(list(batch))))
        duck.apply(batch)
        compare(w, db, duck, f"batch {number}")


def compare(w: World, db: Database, duck: Duck, where: str) -> None:
    """The rows of each view are those of DuckDB."""
    for v in w.views:
        view = db.view(v.name)
        answer = Counter(tuple(plain(x) for x in row) for row in view.rows())
        expected = duck.query(f"SELECT * FROM {v.name}")
        assert same(answer, expected), (
            f"{w}\n{v.name} ({view.engine}), {where}: "
            f"too much {dict(answer - expected)}, missing {dict(expected - answer)}"
        )
