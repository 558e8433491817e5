"""Sessions of INSERT, UPDATE, DELETE, MERGE and SELECT, statement by statement beside DuckDB."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

import freshview as fv
from freshview.runtime.database.database import Database
from tests.differential.duck import plain
from tests.thin import thin

TABLES = {"r": ("k", "a", "s"), "q": ("k", "b"), "p": ("id", "x")}
STREAMS = """
CREATE STREAM r (k INT, a INT, s STRING);
CREATE STREAM q (k INT NOT NULL, b INT);
CREATE STREAM p (id INT PRIMARY KEY, x INT);
"""
VIEWS = {
    "v": (
        "SELECT k, SUM(a) AS n, COUNT(*) AS m FROM r GROUP BY k",
        "SELECT r.k, MAX(q.b) AS n, COUNT(*) AS m FROM r JOIN q ON r.k = q.k GROUP BY r.k",
        "SELECT id AS k, x AS n, 1 AS m FROM p WHERE x > 1",
    ),
    "w": (
        "SELECT r.k, q.b FROM r LEFT JOIN q ON r.k = q.k",
        "SELECT k, b FROM q WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = q.k)",
        "SELECT DISTINCT s AS k, a AS b FROM r",
    ),
}
QUESTIONS = (
    "SELECT * FROM r",
    "SELECT * FROM v",
    "SELECT k, COUNT(*) FROM w GROUP BY k",
    "SELECT v.k, v.n, w.b FROM v JOIN w ON v.k = w.b",
    "SELECT a, SUM(k) FROM r WHERE a IN (SELECT n FROM v) GROUP BY a HAVING COUNT(*) > 1",
    "SELECT * FROM p WHERE x > (SELECT AVG(b) FROM q)",
)


class Writer:
    """Draws statements that Spark's words and DuckDB's have in common."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def statement(self) -> str:
        pick = self.rng.choice
        return str(pick((self.insert, self.insert, self.update, self.delete, self.merge))())

    def insert(self) -> str:
        rng = self.rng
        table = rng.choice(("r", "q", "p"))
        if table == "p":
            return f"INSERT INTO p VALUES ({rng.randint(1, 9)}, {self.number()})"
        if rng.random() < 0.3:
            source = rng.choice(("r", "q", "v"))
            extra = ", a, s" if table == "r" else ", b"
            value = ", a + 1, 'new'" if source == "r" else f", {self.number()}, 'z'"
            value = value if table == "r" else value.rpartition(",")[0]
            return (
                f"INSERT INTO {table} (k{extra}) SELECT coalesce(k, 7){value} FROM {source} "
                f"WHERE k > {rng.randint(0, 4)}"
            )
        rows = ", ".join(self.row(table) for _ in range(rng.randint(1, 4)))
        return f"INSERT INTO {table} VALUES {rows}"

    def row(self, table: str) -> str:
        rng = self.rng
        if table == "q":
            return f"({rng.randint(0, 4)}, {self.number()})"
        return (
            f"({self.number()}, {self.number()}, {rng.choice(('NULL', chr(39) + 'a' + chr(39)))})"
        )

    def number(self) -> str:
        return self.rng.choice(("NULL", "0", "1", "2", "3", "4"))

    def update(self) -> str:
        return self.rng.choice(
            (
                f"UPDATE r SET a = a + 1 WHERE k = {self.rng.randint(0, 4)}",
                "UPDATE r SET a = k, k = a",
                f"UPDATE q SET b = CASE WHEN b > 2 THEN NULL ELSE b + 1 END WHERE k < "
                f"{self.rng.randint(0, 4)}",
                f"UPDATE r SET s = NULL, a = (SELECT MAX(b) FROM q) WHERE a = {self.number()}",
                f"UPDATE p SET id = id + {self.rng.randint(1, 3)}",
                "UPDATE p SET x = 1 WHERE id IN (SELECT k FROM r)",
            )
        )

    def delete(self) -> str:
        return self.rng.choice(
            (
                f"DELETE FROM r WHERE a = {self.number()}",
                "DELETE FROM q WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = q.k)",
                f"DELETE FROM r WHERE k IN (SELECT k FROM q WHERE b = {self.number()})",
                f"DELETE FROM p WHERE id > {self.rng.randint(2, 9)}",
                "DELETE FROM q" if self.rng.random() < 0.2 else "DELETE FROM q WHERE b IS NULL",
            )
        )

    def merge(self) -> str:
        rng = self.rng
        source = rng.choice(
            (
                "(SELECT k AS id, MAX(b) AS x FROM q GROUP BY k)",
                "(SELECT a AS id, COUNT(*) AS x FROM r WHERE a IS NOT NULL GROUP BY a)",
            )
        )
        clauses = [
            f"WHEN MATCHED AND n.x > {rng.randint(0, 3)} THEN DELETE",
            "WHEN MATCHED THEN UPDATE SET x = n.x + p.x",
            f"WHEN NOT MATCHED AND n.id <> {rng.randint(0, 3)} THEN INSERT (id, x) "
            "VALUES (n.id, n.x)",
            f"WHEN NOT MATCHED BY SOURCE AND p.id > {rng.randint(0, 9)} THEN UPDATE SET x = NULL",
            "WHEN NOT MATCHED BY SOURCE THEN DELETE",
        ]
        chosen = [c for c in clauses if rng.random() < 0.6] or clauses[:1]
        return f"MERGE INTO p USING {source} n ON p.id = n.id {' '.join(chosen)}"


def counted(rows: list[Any]) -> Counter[Any]:
    return Counter(tuple(map(plain, row)) for row in rows)


def attempt(run: Callable[[], object], kind: type[Exception]) -> bool:
    try:
        run()
    except kind:
        return False
    return True


def session(seed: int, db: Database, statements: int = 25) -> tuple[int, int]:
    """One session on both; gives how many statements were done, and how many answers had rows."""
    rng = random.Random(seed)
    writer = Writer(rng)
    duck = duckdb.connect()
    duck.execute(STREAMS.replace("STREAM", "TABLE"))
    db.execute(STREAMS)
    done = filled = 0
    current = {}
    for name, texts in VIEWS.items():
        current[name] = texts[0]
        for each in (duck, db):
            each.execute(f"CREATE VIEW {name} AS {texts[0]}")
    told: dict[str, Counter[Any]] = {}

    def follow(name: str) -> None:
        told[name] = counted(db.view(name).rows())

        def hear(_: int, changes: Any) -> None:
            for *row, n in zip(*(c.to_pylist() for c in changes.columns), strict=True):
                told[name][tuple(map(plain, row))] += n

        db.view(name).subscribe(hear)

    for name in VIEWS:
        follow(name)
    for number in range(statements):
        where = f"seed {seed}, statement {number}"
        if rng.random() < 0.12:
            name = rng.choice(list(VIEWS))
            text = current[name] = rng.choice(VIEWS[name])
            for each in (duck, db):
                each.execute(f"CREATE OR REPLACE VIEW {name} AS {text}")
            follow(name)
        sql = writer.statement()
        mine = attempt(lambda sql=sql: db.sql(sql), fv.FreshviewError)
        theirs = attempt(lambda sql=sql: duck.execute(sql), duckdb.Error)
        assert mine == theirs, f"{where}: {sql}: {mine}, {theirs}"
        done += mine
        for question in (*(f"SELECT * FROM {t}" for t in (*TABLES, *VIEWS)), rng.choice(QUESTIONS)):
            expected = counted(duck.execute(question).fetchall())
            actual = counted(db.sql(question).rows())
            assert actual == expected, f"{where}: {sql}; {question}: {actual} != {expected}"
            filled += bool(expected)
        for name in VIEWS:
            expected = counted(duck.execute(f"SELECT * FROM {name}").fetchall())
            assert counted(db.view(name).rows()) == expected, f"{where}: {sql}, {name}"
            assert +told[name] == expected, f"{where}: {sql}, what {name} told"
    return done, filled


@pytest.mark.parametrize("seed", thin(range(60), 15))
def test_sessions_are_as_in_duckdb(seed: int) -> None:
    done, filled = session(seed, fv.connect(engine="reference"))
    assert done > 10
    assert filled > 20


@pytest.mark.native
@pytest.mark.parametrize("seed", thin(range(100, 112), 6))
def test_sessions_on_kernels_are_as_in_duckdb(seed: int) -> None:
    session(seed, fv.connect(engine="native"))


if __name__ == "__main__":
    kind, first, last = sys.argv[1:]
    for i in range(int(first), int(last)):
        session(i, fv.connect(engine=kind))  # type: ignore[arg-type]
    print("equal")
