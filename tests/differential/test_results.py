"""Factorized views against DuckDB and against the same SELECT as an ordinary view.

After every batch, with deletes, NULLs among the keys and rows that come several times: all the
rows, their number, and rows by their numbers.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import freshview
from freshview.errors import UnsupportedSql
from freshview.factorized.readout import NotFactorized
from freshview.runtime.compile import kernels
from freshview.runtime.database.database import Database
from freshview.runtime.views.factorized import FactorizedView
from tests.differential.duck import Duck, plain
from tests.differential.sql_cases import CASES, SCHEMA
from tests.differential.streams import Stream, random_stream, schema

JOINS = (
    "SELECT r.a, b, c, d, e FROM r JOIN s ON r.a = s.a",
    "SELECT r.a, s.a AS again, c, e, 5 AS five, NULL AS nothing FROM r, s WHERE r.a = s.a",
    "SELECT * FROM r NATURAL JOIN s NATURAL JOIN u",
    "SELECT r.a, c FROM r JOIN s ON r.a = s.a",
    "SELECT r.a, r.b, t.name, t.price, f FROM r, t, u WHERE r.a = t.a AND r.a = u.a AND k > 0",
    "SELECT r.a, s.d FROM r, s",
    "SELECT r.a FROM r, s, u WHERE f > 0",
    "SELECT 7 AS seven FROM r JOIN s ON r.a = s.a",
    "SELECT x.a, x.b, y.b AS z FROM r x, r y WHERE x.b = y.a",
    "SELECT x.a, x.b, y.b AS z FROM r x, r y, r w WHERE x.b = y.a AND y.b = w.a AND w.b = x.a",
    "SELECT r.a, b, d FROM r, s WHERE r.a = s.a AND (b = 1 OR c > 1) AND d IN (1, 2) AND e IS NULL",
    "SELECT r.a, b, d FROM r, s WHERE r.a <=> s.a",
    "SELECT r.a, b, e FROM r, s WHERE r.a = s.a AND r.b = s.e AND r.a IS NOT NULL",
    "SELECT x.a, d FROM (SELECT a, b FROM r WHERE c > 1) AS x JOIN s ON x.a = s.a",
)


def database(sql: str, stream: Stream, engine: str) -> Database:
    db = freshview.connect(engine=engine)  # type: ignore[arg-type]
    db.execute(SCHEMA)
    for name, row, _ in stream.static:
        db.load(name, [row])
    db.execute(f"CREATE FACTORIZED VIEW held AS {sql}; CREATE VIEW listed AS {sql}")
    return db


def multiset(rows: list[Any]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(plain(v) for v in row) for row in rows)


def agree(sql: str, seed: str, batches: int, engine: str = "reference") -> int:
    """Compare after every batch; tells how many rows there were."""
    rng, catalog = random.Random(seed), schema()
    stream, duck, met = random_stream(catalog, rng, batches), Duck(catalog), 0
    duck.apply(stream.static)
    db = database(sql, stream, engine)
    held = db.factorized("held")
    before, seen = held.listing(), held.rows()
    for number, batch in enumerate(((), *stream.batches)):
        changes: dict[str, list[Any]] = {}
        for name, row, count in batch:
            changes.setdefault(name, []).append((row, count))
        db.apply(changes)
        duck.apply(batch)
        expected, actual = duck.query(sql), held.rows()
        where = f"{sql}, batch {number}: "
        assert multiset(actual) == expected, where + f"{held.explain()}"
        assert multiset(db.view("listed").rows()) == expected, where
        assert held.to_arrow().schema == db.view("listed").to_arrow().schema
        check_numbers(held, actual, rng)
        assert before.to_arrow().num_rows == len(seen), where
        assert multiset(seen) == multiset(freshview_rows(before)), where + "an old version changed"
        before, seen = held.listing(), actual
        met += len(actual)
    return met


def freshview_rows(listing: Any) -> list[Any]:
    return [listing[k] for k in range(len(listing))]


def check_numbers(held: FactorizedView, rows: list[Any], rng: random.Random) -> None:
    assert len(held) == len(held.listing()) == len(rows)
    for k in rng.sample(range(len(rows)), min(3, len(rows))):
        assert held[k] == rows[k] == held[k - len(rows)]
    size = rng.randint(1, 5)
    batches = list(held.stream(size))
    assert all(b.num_rows == size for b in batches[:-1])
    assert sum(b.num_rows for b in batches) == len(rows)


@pytest.mark.parametrize("sql", JOINS)
def test_the_rows_are_those_of_the_join(sql: str) -> None:
    met = sum(agree(sql, f"joins {seed} {sql}", 5) for seed in range(3))
    met = met or agree(sql, f"joins 2 {sql}", 12)  # of rare rows there are some in a longer stream
    assert met, "the streams never filled the view"


@pytest.mark.native
@pytest.mark.skipif(kernels.compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("sql", [JOINS[1], JOINS[8]])
def test_kernels_keep_the_same_rows(sql: str) -> None:
    assert agree(sql, f"kernels {sql}", 12, "native"), "the stream never filled the view"


@pytest.mark.full
@pytest.mark.native
@pytest.mark.parametrize("sql", JOINS)
def test_the_rows_are_those_of_the_join_in_full(sql: str) -> None:
    for seed in range(5):
        agree(sql, f"full {seed} {sql}", 40)
    agree(sql, f"native {sql}", 60, "native")


REFUSED = (UnsupportedSql, NotFactorized)


@pytest.mark.full
def test_every_construct_is_kept_or_refused() -> None:
    """What is accepted of all our SQL agrees; nothing else happens than that or a refusal."""
    kept, remedies = 0, []
    for sql in CASES:
        try:
            agree(sql, f"cases {sql}", 2)
            kept += 1
        except REFUSED as e:
            remedies.append(e.instead)
    assert kept >= 40
    assert all("CREATE VIEW" in remedy for remedy in remedies)
