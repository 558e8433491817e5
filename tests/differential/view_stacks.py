"""Random stacks of views: each reads one or two of those below, and tables, all with NULLs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import duckdb

from freshview.errors import FreshviewError
from freshview.runtime.database.database import Database

Row = tuple[int | None, int | None]
Change = dict[str, list[tuple[Row, int]]]

TABLES = (
    "CREATE STREAM t (k INT, x INT)",
    "CREATE STREAM u (k INT, x INT)",
    "CREATE TABLE w (k INT, x INT)",
)
LEVELS = {
    "sum": "SELECT k, SUM(x) AS x FROM {below} GROUP BY k",
    "count": "SELECT k, COUNT(x) AS x FROM {below} GROUP BY k",
    "max": "SELECT x AS k, MAX(k) AS x FROM {below} GROUP BY x",
    "distinct": "SELECT DISTINCT k, x FROM {below}",
    "top": "SELECT k, x FROM {below} ORDER BY x DESC NULLS LAST, k NULLS LAST LIMIT 3",
    "join": "SELECT a.k AS k, b.x AS x FROM {below} a JOIN {other} b ON a.k = b.k",
    "left": "SELECT a.k AS k, b.x AS x FROM {below} a "
    "LEFT JOIN {other} b ON a.k = b.k AND a.x >= b.x",
    "full": "SELECT COALESCE(a.k, b.k) AS k, a.x AS x FROM {below} a "
    "FULL JOIN {other} b ON a.k = b.k",
    "without": "SELECT k, x FROM {below} a "
    "WHERE NOT EXISTS (SELECT 1 FROM {other} b WHERE b.k = a.k AND b.x = a.x)",
    "in": "SELECT k, x FROM {below} WHERE k IN (SELECT k FROM {other} b)",
    "doubled": "SELECT a.k AS k, b.x AS x FROM {below} a JOIN {below} b ON a.k = b.k",
}


@dataclass(frozen=True)
class Stack:
    """What a seed stands for."""

    views: tuple[tuple[str, str], ...]
    static: tuple[Row, ...]
    batches: tuple[Change, ...]
    late: frozenset[str]
    """The views that are declared when there are rows."""

    def script(self) -> str:
        """All the declarations."""
        return ";\n".join([*TABLES, *(f"CREATE VIEW {n} AS {sql}" for n, sql in self.views)])


def _row(rng: random.Random) -> Row:
    k, x = (None if rng.random() < 0.15 else rng.randrange(4) for _ in "kx")
    return k, x


def stack(seed: int, levels: tuple[int, int] = (2, 7), batches: int = 6) -> Stack:
    """The stack of a seed."""
    rng = random.Random(f"stack {seed}")
    names, views = ["t"], []
    for n in range(rng.randint(*levels)):
        below = rng.choice(names[-2:])
        sql = LEVELS[rng.choice(list(LEVELS))].format(
            below=below, other=rng.choice([*names, "u", "w"])
        )
        views.append((f"v{n}", sql))
        names.append(f"v{n}")
    first = rng.randrange(len(views)) if rng.random() < 0.5 else len(views)
    static = tuple(_row(rng) for _ in range(4))
    return Stack(
        tuple(views),
        static,
        tuple(random_batches(rng, batches)),
        frozenset(n for n, _ in views[first:]),
    )


def random_batches(
    rng: random.Random,
    count: int,
    row_of: Callable[[random.Random], Row] = _row,
    most: int = 6,
    copies: tuple[int, ...] = (1, 1, 1, 3),
    most_live: int | None = None,
) -> list[Change]:
    """Changes of t and u: so many at most in a batch, and where there is a bound, rows live."""
    live: dict[str, list[Row]] = {"t": [], "u": []}
    batches = []
    for _ in range(count):
        batch: Change = {}
        for name in rng.choice([["t"], ["u"], ["t", "u"]]):
            changes: Counter[Row] = Counter()
            for _ in range(rng.randint(1, most)):
                is_full = most_live is not None and len(live[name]) >= most_live
                if is_full or (live[name] and rng.random() < 0.45):
                    row = live[name].pop(rng.randrange(len(live[name])))
                    changes[row] -= 1
                else:
                    row, n = row_of(rng), rng.choice(copies)
                    live[name] += [row] * n
                    changes[row] += n
            batch[name] = list(changes.items())
        batches.append(batch)
    return batches


def follow(
    case: Stack,
    connect: Callable[[], Database],
    between: Callable[[Database, int], Database | None] = lambda db, number: None,
) -> Database:
    """Every view has DuckDB's rows after every batch, and after one that is refused."""
    duck = duckdb.connect()
    for text in case.script().split(";\n"):
        duck.execute(text.replace("STREAM", "TABLE"))
    db = connect()
    db.execute(";".join(TABLES))
    db.load("w", list(case.static))
    duck.executemany("INSERT INTO w VALUES (?, ?)", list(map(list, case.static)))
    live = {"t": Counter[Row](), "u": Counter[Row]()}
    shown: set[str] = set()
    for number, batch in enumerate(case.batches):
        for name, sql in case.views:
            if name not in shown and (number == 2 or name not in case.late):
                db.execute(f"CREATE VIEW {name} AS {sql}")
                shown.add(name)
        db = between(db, number) or db
        _refuse(db)
        db.apply(dict(batch))
        for name, changes in batch.items():
            live[name].update(dict(changes))
            duck.execute(f"DELETE FROM {name}")
            rows = [list(row) for row in live[name].elements()]
            if rows:
                duck.executemany(f"INSERT INTO {name} VALUES (?, ?)", rows)
        for name in sorted(shown):
            rows = Counter(tuple(row.values()) for row in db.view(name).to_pylist())
            expected = Counter(duck.execute(f"SELECT * FROM {name}").fetchall())
            assert rows == expected, (
                f"{case.script()}\n{name} after batch {number}: too much {rows - expected}, "
                f"missing {expected - rows}"
            )
    return db


def _refuse(db: Database) -> None:
    """A batch whose last row cannot go leaves no trace."""
    version = db.version
    try:
        db.apply({"t": [((1, 1), 2), ((0, 2), 1)], "u": [((9, 9), -1)]})
    except FreshviewError:
        assert db.version == version
        return
    raise AssertionError("a row was deleted that never was there")
