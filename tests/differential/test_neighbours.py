"""LAG, LEAD and ROWS among many ties, on kernels: a walk of an index begins at the row at hand."""

from __future__ import annotations

import random
from collections import Counter

import duckdb
import pytest

import freshview

VIEWS = {
    "lag": "SELECT k, LAG(k) OVER (PARTITION BY a ORDER BY w, k) AS x FROM t",
    "lead": "SELECT k, LEAD(k, 2, -1) OVER (PARTITION BY a ORDER BY w DESC, k) AS x FROM t",
    "rows": "SELECT k, SUM(k) OVER (PARTITION BY a ORDER BY w, k ROWS BETWEEN 2 PRECEDING AND "
    "1 FOLLOWING) AS x FROM t",
    "of_key": "SELECT k, LAG(w) OVER (PARTITION BY a ORDER BY k) AS x FROM t",
}


@pytest.mark.native
@pytest.mark.parametrize("mode", ["tuple", "batch"])
def test_ties_are_met_in_their_order(mode: str) -> None:
    rnd = random.Random(1)
    db, duck = freshview.connect(engine="native", mode=mode), duckdb.connect()
    db.execute("CREATE STREAM t (k INT PRIMARY KEY, a INT NOT NULL, w INT NOT NULL)")
    duck.execute("CREATE TABLE t (k BIGINT, a BIGINT, w BIGINT)")
    for name, sql in VIEWS.items():
        db.execute(f"CREATE VIEW {name} AS {sql}")
    held: list[tuple[int, int, int]] = []
    for i in range(40):
        going = rnd.sample(held, min(len(held), rnd.randint(0, 3)))
        coming = [(100 * i + j, rnd.randint(0, 1), rnd.randint(0, 2)) for j in range(3)]
        db.apply({"t": [*((r, -1) for r in going), *((r, 1) for r in coming)]})
        held = [r for r in held if r not in going] + coming
        duck.execute("DELETE FROM t")
        duck.executemany("INSERT INTO t VALUES (?, ?, ?)", held)
        for name, sql in VIEWS.items():
            assert Counter(db.view(name).rows()) == Counter(duck.execute(sql).fetchall()), name
