"""Cofactors of joins of many shapes: after every batch the sums that DuckDB computes."""

from __future__ import annotations

import random
from typing import Any

import duckdb
import pytest

import freshview as fv
from freshview.runtime.compile import kernels
from tests.thin import thin

SCHEMA = {"r": "a INT NOT NULL, b INT", "s": "b INT NOT NULL, c INT", "t": "c INT, a INT NOT NULL"}
CASES = {
    "one relation": "SELECT a, b FROM r",
    "star": "SELECT r.b AS x, s.c AS y FROM r JOIN s ON r.a = s.b",
    "chain": "SELECT a, b, c FROM r NATURAL JOIN s",
    "keys are features": "SELECT r.a, s.b, t.c FROM r NATURAL JOIN s JOIN t ON s.c = t.c",
    "triangle": "SELECT r.a, s.b, t.c FROM r, s, t WHERE r.b = s.b AND s.c = t.c AND t.a = r.a",
    "self-join": "SELECT x.b AS p, y.b AS q FROM r x JOIN r y ON x.a = y.a",
    "no shared column": "SELECT r.a, t.c FROM r, t",
    "expressions": "SELECT a * b AS p, c - 3 AS q FROM r NATURAL JOIN s",
    "tests": "SELECT r.a, s.c FROM r JOIN s ON r.b = s.b WHERE r.a IN (1, 2) AND s.c >= 1",
    "either": "SELECT r.a, s.c FROM r JOIN s ON r.b = s.b WHERE r.a = 1 OR s.c = 2",
    "across": "SELECT r.a, s.c FROM r JOIN s ON r.b = s.b WHERE r.a < s.c",
    "case": "SELECT CASE WHEN a > 1 THEN 1 ELSE 0 END AS big, c FROM r NATURAL JOIN s",
    "subquery": "SELECT x.a, x.d FROM (SELECT a, b + 1 AS d FROM r WHERE a > 0) x",
    "constant": "SELECT 2 AS two, a FROM r",
}
GROUPED = {
    "by key": ("SELECT c, a FROM r NATURAL JOIN s GROUP BY b", 1, "c, a, b FROM r NATURAL JOIN s"),
    "by alias": ("SELECT b + 1 AS k, a FROM r GROUP BY k", 1, "a, b + 1 FROM r"),
    "by two": (
        "SELECT r.b, s.c FROM r JOIN s ON r.a = s.b GROUP BY r.a, s.c",
        2,
        "r.b, r.a, s.c FROM r JOIN s ON r.a = s.b",
    ),
    "by NULL": ("SELECT a FROM r GROUP BY b", 1, "a, b FROM r"),
}
"""SQL, how many keys it has, and what has its features and then its keys."""


@pytest.fixture(params=["reference", pytest.param("native", marks=pytest.mark.native)])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "native" and kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")
    return str(request.param)


class Both:
    """Small random tables in both databases; deletions take rows that are there."""

    def __init__(self, seed: str, engine: str) -> None:
        self.rng = random.Random(seed)
        self.db = fv.connect(engine=engine)  # type: ignore[arg-type]
        self.live: dict[str, list[tuple[Any, ...]]] = {name: [] for name in SCHEMA}
        for name, columns in SCHEMA.items():
            self.db.execute(f"CREATE STREAM {name} ({columns})")

    def change(self) -> None:
        batch: dict[str, list[tuple[Any, int]]] = {}
        for name in self.rng.sample(sorted(SCHEMA), self.rng.randint(1, 3)):
            live = self.live[name]
            for _ in range(self.rng.randint(1, 5)):
                if len(live) > 4 and self.rng.random() < 0.4:
                    gone = live.pop(self.rng.randrange(len(live)))
                    batch.setdefault(name, []).append((gone, -1))
                    continue
                nulls = [c.endswith("NOT NULL") for c in SCHEMA[name].split(", ")]
                new = tuple(
                    None if not sure and self.rng.random() < 0.2 else self.rng.randrange(4)
                    for sure in nulls
                )
                live.append(new)
                batch.setdefault(name, []).append((new, 1))
        self.db.apply(batch)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        duck = duckdb.connect()
        for name, columns in SCHEMA.items():
            duck.execute(f"CREATE TABLE {name} ({columns})")
            if self.live[name]:
                duck.executemany(f"INSERT INTO {name} VALUES (?, ?)", self.live[name])
        return duck.execute(sql).fetchall()


def same(element: Any, names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    known = [row for row in rows if None not in row]
    assert element.count == len(known)
    for i, a in enumerate(names):
        assert element.sums.get(a, 0) == sum(row[i] for row in known)
        for j, b in enumerate(names):
            assert element.product(a, b) == sum(row[i] * row[j] for row in known)


@pytest.mark.parametrize("case", thin(CASES, 2))
def test_shapes(case: str, engine: str) -> None:
    both = Both(case, engine)
    cof = fv.models.Cofactor(both.db, CASES[case])
    assert cof.engine == engine
    for _ in range(12):
        both.change()
        same(cof.element(), cof.columns, both.rows(CASES[case]))


@pytest.mark.parametrize("case", GROUPED)
def test_groups(case: str, engine: str) -> None:
    sql, keys, listed = GROUPED[case]
    both = Both(case, engine)
    cof = fv.models.Cofactor(both.db, sql)
    for _ in range(12):
        both.change()
        groups: dict[Any, list[Any]] = {}
        for row in both.rows(f"SELECT {listed}"):
            if None not in row[:-keys]:
                groups.setdefault(row[-keys:], []).append(row[:-keys])
        actual = cof.read()[1]
        assert actual.keys() == groups.keys()
        for group, rows in groups.items():
            same(actual[group], cof.columns, rows)
            same(cof.element(group), cof.columns, rows)
