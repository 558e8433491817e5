"""Random SELECTs, maintained by every strategy, give DuckDB's rows after every batch.

A failure prints the text, the stream and both answers; `pytest -k seed-7-` repeats seed 7. Make
the text small, add it to REGRESSIONS, and keep it there when it is mended.
"""

from __future__ import annotations

import random

import pytest

from freshview.ivm.options import Mode
from tests.differential.random_sql import random_script
from tests.differential.streams import PAIRS, STATIC, Script, agree
from tests.thin import thin

VARIANTS = list(STATIC)
BATCHES = 8
SEEDS = range(144)
MORE_SEEDS = [*range(144, 240), *range(1000, 1400)]

# Texts that once failed, made small: every strategy must do them for good.
REGRESSIONS: tuple[Script, ...] = (
    # A domain that reads a variable before the change binds it
    Script(
        "SELECT t.k FROM t WHERE t.k IN (SELECT COUNT(s.a) FROM s WHERE s.d = t.a GROUP BY s.d)"
    ),
    Script(
        "SELECT SUM(t.a) FROM t WHERE t.a <> ALL (SELECT s.e FROM s WHERE s.d = t.a AND s.d = t.k)"
    ),
    # A domain that keeps a base relation beside the change
    Script("SELECT COUNT(DISTINCT s.e) FROM r, s WHERE r.a = s.d AND s.e > s.d"),
    # Definitions that mention a relation and do not depend on it
    Script("SELECT SUM(DISTINCT 0) FROM s"),
    Script(
        "SELECT x1 FROM v WHERE (x2 < x0) IS TRUE GROUP BY x1",
        (("v", "SELECT DISTINCT a AS x0, d AS x1, a AS x2 FROM s"),),
    ),
    Script(
        "SELECT SUM(DISTINCT x1) FROM v",
        (("v", "SELECT 0 AS x1 FROM r FULL JOIN s ON r.c < s.d"),),
    ),
    # View caches over trigger parameters, and over variables that the fill shares
    Script(
        "SELECT r.b FROM r WHERE EXISTS (SELECT t.k FROM t WHERE t.k = ANY "
        "(SELECT s.a FROM s WHERE s.a <> t.a))"
    ),
    Script(
        "SELECT COUNT(*) FROM r WHERE r.c > ALL "
        "(SELECT t.a FROM t WHERE t.a = r.c AND t.a < r.b AND t.k <= t.a)"
    ),
    # LIMIT over a column that is a constant while a stream is empty
    Script(
        "SELECT COUNT(*) FROM (SELECT q.x0 AS x1 FROM (SELECT DISTINCT t.k AS x0, t.a AS x1 "
        "FROM t) AS q RIGHT JOIN r ON q.x1 = r.b ORDER BY x1 LIMIT 1) v"
    ),
    # ORDER BY means the selected column before those of the tables
    Script(
        "SELECT r.c AS x0, COUNT(*) AS n FROM r, v v1, v v2 GROUP BY r.c ORDER BY x0 LIMIT 2",
        (("v", "SELECT a AS x0 FROM s"),),
    ),
    # what the batch of s bounds reads a column of the join, which was thought to read it in turn
    Script(
        "SELECT CASE WHEN q.a = (SELECT MAX(s.d) FROM s WHERE s.a = q.a AND s.e = q.c) "
        "THEN r.c END AS x0, CASE WHEN (q.a = (SELECT MAX(q5.c) FROM r q5 WHERE q5.b > q.b) "
        "OR r.c <> q.c) THEN q.a + r.c END AS x1 FROM r q FULL JOIN r ON q.c = r.c"
    ),
)


def choice(seed: int) -> tuple[str, str, Mode]:
    """A variant, a strategy and a mode: neighbours differ, so few seeds cover all of them."""
    return VARIANTS[seed // len(PAIRS) % len(VARIANTS)], *PAIRS[seed % len(PAIRS)]


@pytest.mark.parametrize("seed", thin(SEEDS, 6), ids="seed-{}-".format)
def test_random_view_follows_its_tables(seed: int) -> None:
    variant, strategy, mode = choice(seed)
    agree(random_script(seed), variant, strategy, mode, seed=seed, batches=BATCHES)


@pytest.mark.full
@pytest.mark.parametrize("seed", MORE_SEEDS, ids="seed-{}-".format)
def test_random_view_follows_its_tables_by_every_strategy(seed: int) -> None:
    variant = random.Random(seed).choice(VARIANTS)
    for strategy, mode in PAIRS:
        agree(random_script(seed), variant, strategy, mode, seed=seed, batches=BATCHES)


@pytest.mark.parametrize("script", REGRESSIONS, ids=str)
def test_view_that_once_failed_follows_its_tables(script: Script) -> None:
    for variant in ("u static", "r static"):
        for strategy, mode in PAIRS:
            agree(script, variant, strategy, mode, seed=str(script), batches=BATCHES)
