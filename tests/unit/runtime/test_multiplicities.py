"""A row that comes many times costs what it costs once: in changes, kept rows and reads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from freshview.errors import BadRow, Overflow
from freshview.runtime.database.database import Database
from tests.thin import thin
from tests.unit.databases import Connect

HUGE = 2**62
SCHEMA = (
    "CREATE STREAM a (k BIGINT NOT NULL); CREATE STREAM b (k BIGINT NOT NULL, y DOUBLE NOT NULL);"
)
VIEWS = {
    "sums": ("SELECT k, COUNT(*) AS c, SUM(y) AS s FROM b GROUP BY k", [(1, HUGE, 0.5 * HUGE)]),
    "extremes": ("SELECT k, MIN(y) AS l, MAX(y) AS h FROM b GROUP BY k", [(1, 0.5, 0.5)]),
    "once": ("SELECT DISTINCT k FROM b", [(1,)]),
    "firsts": ("SELECT k, y FROM b ORDER BY y LIMIT 2", [(1, 0.5), (1, 0.5)]),
    "many": ("SELECT k, COUNT(*) AS c FROM b GROUP BY k HAVING COUNT(*) > 3", [(1, HUGE)]),
    "there": ("SELECT a.k FROM a WHERE EXISTS (SELECT * FROM b WHERE b.k = a.k)", [(1,)]),
    "outer": (
        "SELECT a.k, COUNT(b.y) AS c FROM a LEFT JOIN b ON a.k = b.k GROUP BY a.k",
        [(1, HUGE)],
    ),
    "distinct": ("SELECT COUNT(DISTINCT y) AS d FROM b", [(1,)]),
    "latest": (
        "SELECT DISTINCT x.k FROM b x WHERE x.y = (SELECT MAX(z.y) FROM b z WHERE z.k = x.k)",
        [(1,)],
    ),
}
MODES = ["auto", "tuple"]


def with_views(connect: Connect, mode: str, *names: str) -> Database:
    db = connect(mode=mode)
    db.execute(SCHEMA)
    db.insert("a", (1,))
    for name in names or VIEWS:
        db.execute(f"CREATE VIEW {name} AS {VIEWS[name][0]}")
    return db


@pytest.mark.parametrize("mode", thin(MODES, 2))
def test_every_kind_of_view(connect: Connect, mode: str) -> None:
    db = with_views(connect, mode)
    db.apply({"b": [((1, 0.5), HUGE)]})
    assert {name: db.view(name).rows() for name in VIEWS} == {n: v[1] for n, v in VIEWS.items()}
    db.apply({"b": [((1, 0.5), -HUGE + 2)]})
    assert db.view("sums").rows() == [(1, 2, 1.0)]
    assert db.view("many").rows() == []
    db.apply({"b": [((1, 0.5), -2)]})
    assert db.view("sums").rows() == db.view("extremes").rows() == db.view("latest").rows() == []
    with pytest.raises(BadRow, match="does not hold"):
        db.apply({"b": [((1, 0.5), -HUGE)]})


def test_a_table_with_a_column_of_counts(connect: Connect) -> None:
    db = with_views(connect, "auto", "sums")
    table = pa.table({"k": [1, 2], "y": [0.5, 0.25], "__count": pa.array([HUGE, 3], pa.int64())})
    db.apply({"b": table})
    assert sorted(db.view("sums").rows()) == [(1, HUGE, 0.5 * HUGE), (2, 3, 0.75)]
    db.apply({"b": ([(1, 0.5), (2, 0.25)], np.array([-HUGE, -3]))})
    assert db.view("sums").rows() == []


def test_a_view_that_comes_after_the_rows(connect: Connect) -> None:
    db = with_views(connect, "auto", "once")
    db.apply({"b": [((1, 0.5), HUGE), ((2, 1.5), 1)]})
    db.execute(f"CREATE VIEW sums AS {VIEWS['sums'][0]}")
    assert sorted(db.view("sums").rows()) == [(1, HUGE, 0.5 * HUGE), (2, 1, 1.5)]


@pytest.mark.parametrize("mode", MODES)
def test_a_join_with_itself_counts_squares(connect: Connect, mode: str) -> None:
    db = connect(mode=mode)
    db.execute(SCHEMA)
    db.execute("CREATE VIEW pairs AS SELECT COUNT(*) AS n FROM b x, b z WHERE x.k = z.k")
    db.apply({"b": [((1, 0.5), 2**30), ((1, 0.25), 5), ((2, 0.5), 3)]})
    assert db.view("pairs").rows() == [((2**30 + 5) ** 2 + 9,)]
    db.apply({"b": [((1, 0.5), -(2**30) + 1), ((1, 0.25), -2)]})
    assert db.view("pairs").rows() == [(16 + 9,)]


def test_rows_that_come_too_often_to_be_listed(connect: Connect) -> None:
    db = connect()
    db.execute(SCHEMA)
    db.execute("CREATE VIEW whole AS SELECT k, y FROM b")
    db.apply({"b": [((1, 0.5), HUGE), ((2, 0.5), 2)]})
    for read in (db.view("whole").rows, db.view("whole").to_pylist, db.view("whole").to_arrow):
        with pytest.raises(Overflow, match=r"'whole' has 4,611,686,018,427,387,906 rows.*COUNT"):
            read()
    db.apply({"b": [((1, 0.5), -HUGE + 1)]})
    assert db.view("whole").rows() == [(1, 0.5), (2, 0.5), (2, 0.5)]


def test_three_times_the_same_relation_takes_rows_one_by_one(connect: Connect) -> None:
    db = connect(mode="tuple")
    db.execute(SCHEMA)
    db.execute(
        "CREATE VIEW cubes AS SELECT COUNT(*) AS n FROM b x, b y, b z WHERE x.k = y.k AND y.k = z.k"
    )
    with pytest.raises(BadRow, match=r"more than 1,000,000 times at once.*mode='batch'"):
        db.apply({"b": [((2, 0.5), 1), ((1, 0.5), 2_000_000)]})
    db.apply({"b": [((1, 0.5), 100)]})
    assert db.view("cubes").rows() == [(100**3,)]
    other = connect(mode="batch")
    other.execute(SCHEMA)
    other.execute(
        "CREATE VIEW cubes AS SELECT COUNT(*) AS n FROM b x, b y, b z WHERE x.k = y.k AND y.k = z.k"
    )
    other.apply({"b": [((1, 0.5), 2_000_000)]})
    assert other.view("cubes").rows() == [(2_000_000**3,)]
