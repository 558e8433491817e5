"""Intervals, narrow casts, patterns and functions over random changes: kernels as the reference.

The reference engine's values are those of Spark by `test_constants.py`.
"""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

import freshview as fv
from tests.thin import thin

QUERIES = (
    "SELECT id, ts - u AS i, ts + (u - ts) AS back FROM t",
    "SELECT a, SUM(ts - u) AS s, AVG(ts - u) AS m, MAX(ts - u) AS x FROM t GROUP BY a",
    "SELECT id FROM t WHERE ts - u > INTERVAL '1 12' DAY TO HOUR",
    "SELECT id, d + make_ym_interval(0, a) AS x, ts + make_dt_interval(a, 1, 2, 3.5) AS y FROM t",
    "SELECT id, d + INTERVAL '1:30' HOUR TO MINUTE AS z, d - INTERVAL 1 YEAR 2 MONTHS AS w FROM t",
    "SELECT id, EXTRACT(DAY FROM ts - u) AS p, EXTRACT(HOUR FROM ts - u) AS q,"
    " EXTRACT(MINUTE FROM ts - u) AS r, EXTRACT(SECOND FROM ts - u) AS s FROM t",
    "SELECT id, a * INTERVAL '1' DAY AS x, (ts - u) * 2 AS y, (ts - u) / 3 AS z,"
    " (ts - u) * 1.5 AS w, -(ts - u) AS v FROM t",
    "SELECT id, TRY_CAST(b AS TINYINT) AS x, TRY_CAST(f AS SMALLINT) AS y,"
    " TRY_CAST(p * 1000 AS SMALLINT) AS z, TRY_CAST(s AS TINYINT) AS w FROM t",
    "SELECT SUM(TRY_CAST(b AS TINYINT)) AS x, COUNT(TRY_CAST(s AS TINYINT)) AS y FROM t",
    "SELECT id, CAST(ts AS BIGINT) AS x, CAST(ts AS DOUBLE) AS y, CAST(b AS TIMESTAMP) AS z FROM t",
    "SELECT id FROM t WHERE s LIKE ANY ('1%', '%a') AND s NOT LIKE ALL ('2%', '3%')",
    "SELECT id FROM t WHERE (a, b) IN ((1, 7), (2, 300), (3, NULL)) AND (a, b) NOT IN ((1, 7))",
    "SELECT x.id, y.id AS other FROM t x JOIN t y ON x.ts - y.ts = INTERVAL '1' DAY",
    "SELECT id, COALESCE(ts - u, INTERVAL '1' HOUR) AS i, ABS(ts - u) AS j FROM t",
    "SELECT best(a) AS m, twice(b) AS t2, COUNT(*) AS n FROM t GROUP BY best(a), twice(b)",
    "SELECT MIN(ts - u) AS lo, MAX(u - ts) AS hi, COUNT(DISTINCT ts - u) AS n FROM t",
    "SELECT id, get_json_object(s, '$.k') AS k, SIZE(SPLIT(s, '')) AS n FROM t",
)

SCRIPT = (
    "CREATE STREAM t (id INT PRIMARY KEY, a INT, b BIGINT, s STRING, d DATE, ts TIMESTAMP,"
    " u TIMESTAMP, p DECIMAL(10, 2), f DOUBLE);"
    "CREATE FUNCTION best(x INT) RETURNS BIGINT RETURN SELECT MAX(b) FROM t WHERE a = x;"
    "CREATE FUNCTION twice(x BIGINT) RETURNS BIGINT"
    " RETURN CASE WHEN x > 5 THEN x * 2 ELSE x END;"
)
NOON = datetime(2024, 2, 28, 12)


def row(key: int, rnd: random.Random) -> tuple[Any, ...]:
    """A row with NULLs, and values at the ends of their ranges."""
    moments = [
        NOON + timedelta(days=rnd.randint(-3, 3), microseconds=rnd.choice([0, 0, 4_000_000, -1]))
        for _ in range(2)
    ]
    values = (
        rnd.randint(-2, 4),
        rnd.choice([7, 300, 1, -129, -128, 127, 128, 40000]),
        rnd.choice(["1", "12", "200", "ba", "-5", '{"k":1}', ""]),
        date(2024, rnd.randint(1, 12), 28),
        *moments,
        Decimal(rnd.randint(-9999, 9999)).scaleb(-2),
        rnd.choice([1.5, -2.5, 40000.0, 1e9]),
    )
    return (key, *(None if rnd.random() < 0.15 else v for v in values))


def sorted_rows(db: fv.Database, name: str) -> list[tuple[Any, ...]]:
    return sorted(db.view(name).rows(), key=lambda r: tuple((x is None, str(x)) for x in r))


@pytest.mark.native
@pytest.mark.parametrize("seed", thin(range(40), 2))
def test_kernels_equal_the_reference_engine(seed: int) -> None:
    rnd = random.Random(seed)
    views = "".join(f"CREATE VIEW v{i} AS {q};" for i, q in enumerate(QUERIES))
    databases = [fv.connect(engine=e) for e in ("reference", "native")]  # type: ignore[arg-type]
    for db in databases:
        db.execute(SCRIPT + views)
    live: dict[int, tuple[Any, ...]] = {}
    key = 0
    for _ in range(6):
        changes: list[tuple[tuple[Any, ...], int]] = []
        for _ in range(12):
            if live and rnd.random() < 0.45:
                changes.append((live.pop(rnd.choice(list(live))), -1))
            else:
                live[key] = row(key, rnd)
                changes.append((live[key], 1))
                key += 1
        for db in databases:
            db.apply({"t": changes})
        for i, query in enumerate(QUERIES):
            reference, native = (sorted_rows(db, f"v{i}") for db in databases)
            assert reference == native, query
            schemas = [db.view(f"v{i}").to_arrow().schema for db in databases]
            assert schemas[0] == schemas[1], query
