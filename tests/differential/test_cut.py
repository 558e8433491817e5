"""Queries in parts, which read their subqueries by their changes, give DuckDB's rows.

Only queries that are too large as one term are cut; here all are that can be.
"""

from __future__ import annotations

import pytest

from freshview.sql.load import load
from freshview.sql.lower import view
from tests.differential.random_sql import random_script
from tests.differential.spark_texts import GROUPINGS, JOINS, SET_OPERATIONS
from tests.differential.streams import Script, agree, schema
from tests.thin import thin

TEXTS = (
    "WITH x AS (SELECT a, SUM(c) AS t FROM r GROUP BY a), y AS (SELECT a, t FROM x WHERE t > 2) "
    "SELECT x.a, y.t, (SELECT COUNT(*) FROM y) AS n FROM x LEFT JOIN y ON x.a = y.a",
    "WITH m AS (SELECT AVG(c) AS m FROM r) SELECT x.a FROM (SELECT a, SUM(c) AS t FROM r "
    "GROUP BY a HAVING SUM(c) > (SELECT m FROM m)) x, (SELECT DISTINCT d FROM s) y WHERE x.a = d",
    "SELECT k, SUM(n) AS t, COUNT(*) AS m FROM (SELECT a AS k, SUM(c) AS n FROM r GROUP BY a "
    "UNION ALL SELECT a, SUM(d) FROM s GROUP BY a) x GROUP BY ROLLUP (k)",
    "SELECT * FROM (SELECT a, c FROM r ORDER BY c, a LIMIT 3) x JOIN (SELECT a, MIN(d) AS d FROM s "
    "GROUP BY a) AS y (a, low) ON x.a = y.a",
    "SELECT a FROM r WHERE a IN (WITH q AS (SELECT a FROM s GROUP BY a) SELECT a FROM q)",
    "SELECT x.a, z.n FROM (SELECT a, COUNT(*) AS n FROM r GROUP BY a) x, LATERAL (SELECT SUM(d) "
    "AS n FROM s WHERE s.a = x.a) z",
    "SELECT r.a, x.n FROM r LEFT JOIN (SELECT a, COUNT(*) AS n FROM r GROUP BY a) x ON x.a = r.b",
)
CASES = [Script(t) for t in (*TEXTS, *SET_OPERATIONS, *GROUPINGS, *JOINS)]


@pytest.fixture(autouse=True)
def cut_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "MOST_NODES", 0)


@pytest.mark.parametrize("script", thin(CASES, 4), ids=str)
def test_a_query_in_parts_has_the_same_rows(script: Script) -> None:
    for strategy, mode in (("higher-order", "tuple"), ("first-order", "batch")):
        agree(script, "u static", strategy, mode, seed=str(script), batches=6)


@pytest.mark.parametrize("seed", thin(range(3000, 3200), 25), ids="seed-{}-".format)
def test_a_random_query_in_parts_has_the_same_rows(seed: int) -> None:
    agree(random_script(seed), "u static", "higher-order", "batch", seed=seed, batches=6)


def test_parts_are_views_that_the_query_reads() -> None:
    _, [query] = load(TEXTS[0], catalog=schema(), default_name="v")
    assert [part.name for part in query.over] == ["v x", "v y"]
