"""Factorized views of a database: read by numbers, as of one version; what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import freshview
from freshview.errors import BadRow, FreshviewError, UnknownName, UnsupportedSql
from freshview.factorized.readout import NotFactorized
from freshview.runtime.database.database import Database
from tests.unit.databases import Connect

SCRIPT = """
CREATE STREAM r (a INT, b INT NOT NULL);
CREATE STREAM s (a INT, c STRING);
CREATE VIEW plain AS SELECT a, COUNT(*) AS n FROM r GROUP BY a;
CREATE FACTORIZED VIEW pairs (k, b, c) AS SELECT r.a, b, c FROM r JOIN s ON r.a = s.a;
"""
R = [(1, 10), (1, 20), (1, 20), (2, 30), (None, 40)]
S = [(1, "x"), (1, None), (2, "y"), (None, "z"), (3, "w")]
PAIRS = {(1, 10, "x"), (1, 10, None), (1, 20, "x"), (1, 20, None), (2, 30, "y")}


@pytest.fixture
def db(connect: Connect) -> Database:
    db = connect()
    db.execute(SCRIPT)
    db.apply({"r": [(row, 1) for row in R], "s": [(row, 1) for row in S]})
    return db


def test_rows_are_counted_found_and_streamed(db: Database, engine: str) -> None:
    pairs = db.factorized("pairs")
    assert pairs.engine == engine
    assert len(pairs) == 7
    assert pairs
    rows = list(pairs)
    assert set(rows) == PAIRS
    assert [pairs[k] for k in range(7)] == rows == pairs.rows()
    assert pairs[-1] == rows[6]
    assert pairs.take([3, 3, 0]).num_rows == 3
    assert [batch.num_rows for batch in pairs.stream(3)] == [3, 3, 1]
    assert sorted(pairs.lookup(k=1, c=None)) == [(1, 10, None), (1, 20, None), (1, 20, None)]
    assert pa.table(pairs).equals(pairs.to_arrow())
    assert pairs.to_arrow().schema == pa.schema(
        [
            pa.field("k", pa.int64(), False),
            pa.field("b", pa.int64(), False),
            pa.field("c", pa.string()),
        ]
    )
    assert pairs.to_pylist()[0].keys() == {"k", "b", "c"}


@pytest.mark.parametrize("numbers", [["a"], [10**30], None, [1.5], [[0]], [7]])
def test_rows_are_taken_by_their_numbers(db: Database, numbers: Any) -> None:
    with pytest.raises(FreshviewError, match="number"):
        db.factorized("pairs").take(numbers)


def test_a_listing_stays_as_of_its_version(db: Database) -> None:
    pairs = db.factorized("pairs")
    old, stream = pairs.listing(), pairs.stream(2)
    before = old.to_arrow()
    first = next(stream)
    db.apply({"r": [((1, 20), -2), ((3, 50), 1)], "s": [((2, "y"), -1)]})
    assert (old.version, pairs.listing().version) == (1, 2)
    assert old.to_arrow().equals(before)
    assert pa.Table.from_batches([first, *stream]).num_rows == 7
    assert sorted(pairs.rows(), key=repr) == [(1, 10, "x"), (1, 10, None), (3, 50, "w")]
    assert len(pairs) == 3
    assert pairs.read()[0] == 2


def test_a_refused_batch_changes_nothing(db: Database) -> None:
    pairs = db.factorized("pairs")
    before = pairs.rows()
    with pytest.raises(BadRow, match="does not hold"):
        db.apply({"r": [((7, 7), 1), ((8, 8), -1)], "s": [((7, "q"), 1)]})
    assert pairs.rows() == before
    assert pairs.listing().version == 1


def test_it_goes_on_from_a_snapshot(db: Database, tmp_path: Path, engine: str) -> None:
    db.snapshot(tmp_path)
    again = freshview.restore(tmp_path)
    for one in (db, again):
        one.insert("s", [(2, "y"), (1, "x")])
    pairs = again.factorized("pairs")
    assert pairs.engine == engine
    assert sorted(map(repr, pairs)) == sorted(map(repr, db.factorized("pairs")))
    assert len(pairs) == 11


def test_single_rows_of_a_writer_reach_it(db: Database) -> None:
    db.writer("r").insert(3, 60)
    assert (3, 60, "w") in db.factorized("pairs").rows()


def test_one_that_is_declared_late_starts_with_the_data(db: Database) -> None:
    [late] = db.execute("CREATE FACTORIZED VIEW late AS SELECT x.a, x.b, y.b AS z FROM r x, r y "
                        "WHERE x.a = y.a")  # fmt: skip
    assert len(late.rows()) == 10


def test_without_rows_it_is_empty(connect: Connect) -> None:
    db = connect()
    db.execute(SCRIPT)
    pairs = db.factorized("pairs")
    assert len(pairs) == 0
    assert pairs.rows() == []
    assert pa.table(pairs).num_rows == 0
    with pytest.raises(IndexError, match="there is no row 0 among 0"):
        pairs[0]


@pytest.fixture
def small() -> Database:
    db = freshview.connect(engine="reference")
    db.execute(SCRIPT)
    return db


@pytest.mark.parametrize(
    ("select", "said"),
    [
        ("SELECT a, SUM(b) AS n FROM r GROUP BY a", r"<text>:1:\d+: GROUP BY cannot stand in a"),
        ("SELECT COUNT(*) AS n FROM r", r"<text>:1:\d+: COUNT\(\) cannot stand in a factorized"),
        ("SELECT DISTINCT a FROM r", "DISTINCT cannot stand"),
        ("SELECT a FROM r ORDER BY a", "ORDER BY cannot stand"),
        ("SELECT a FROM r LIMIT 3", "LIMIT cannot stand"),
        ("SELECT b, c FROM r LEFT JOIN s ON r.a = s.a", r"<text>:1:\d+: LEFT JOIN cannot stand"),
        ("SELECT b FROM (SELECT r.b FROM r FULL JOIN s ON r.a = s.a) x", "FULL JOIN cannot stand"),
        ("SELECT a FROM r WHERE a IN (SELECT a FROM s)", "a subquery in an expression cannot"),
        ("SELECT b + 1 AS c FROM r", "shows columns as they are, not r_b . 1; select the columns"),
        (
            "SELECT b, c FROM r JOIN s ON r.a = s.a",
            r"joins on r.a and does not select it, so that the view at r.a would list every "
            r"\(r.b, s.c\); select r.a as well",
        ),
        (
            "SELECT r.a, s.a AS x FROM r, s WHERE r.a < s.a",
            r"the test \{r_a < s_a\} compares columns of several relations",
        ),
        (
            "SELECT r.a FROM r, s WHERE r.a < s.a OR r.b < 7 AND s.c = 'x'",
            "compares columns of several relations, whose pairs would have to be listed",
        ),
        ("SELECT n FROM plain", r"does not keep Exists\(Sum.*; declare it with CREATE VIEW"),
        ("SELECT a FROM r WHERE 1 = 0", "reads no relation"),
    ],
)
def test_what_is_no_join_of_columns_is_refused(small: Database, select: str, said: str) -> None:
    with pytest.raises((UnsupportedSql, NotFactorized), match=said) as refused:
        small.execute(f"CREATE FACTORIZED VIEW v AS {select}")
    assert "CREATE VIEW" in refused.value.instead
    assert [v.name for v in small.views] == ["plain", "pairs"]


def test_changes_are_not_recorded(small: Database) -> None:
    pairs = small.factorized("pairs")
    for ask in (pairs.track, lambda: pairs.changes(0), lambda: pairs.subscribe(print)):
        with pytest.raises(FreshviewError, match="the changes of its rows are not recorded"):
            ask()
    with pytest.raises(UnknownName, match="'plain' is an ordinary view"):
        small.factorized("plain")
    with pytest.raises(FreshviewError, match="ask for one row at least"):
        next(pairs.stream(0))


def test_a_view_over_it_reads_its_meaning(small: Database) -> None:
    small.execute("CREATE VIEW counts AS SELECT k, COUNT(*) AS n FROM pairs GROUP BY k")
    small.apply({"r": [(row, 1) for row in R], "s": [(row, 1) for row in S]})
    assert sorted(small.view("counts").rows()) == [(1, 6), (2, 1)]
    assert "never listed, in the variable order r.a - {r.b, s.c}" in small.view("pairs").explain()
