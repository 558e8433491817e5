"""One domain of values: what one engine refuses, all refuse, also after a kernel takes over."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import freshview
from freshview.errors import BadRow, BadValue, FreshviewError, Overflow, TypeProblem, UnsupportedSql
from freshview.runtime.database import tiering
from freshview.runtime.database.database import Database

MOST = (1 << 63) - 1
LONG = Decimal("999999999999999999.99")
LONGEST = Decimal("9" * 36 + ".99")
ALMOST = Decimal("9" * 35 + "8.99")  # one less
REST = Decimal("9" * 18 + "0" * 18 + ".00")  # LONGEST less LONG

INTS = "CREATE STREAM t (k BIGINT NOT NULL, x BIGINT NOT NULL);"
SUMS = INTS + "CREATE VIEW v AS SELECT k, SUM(x) AS s FROM t GROUP BY k;"
SEEN = INTS + "CREATE VIEW v AS SELECT x, COUNT(*) AS n FROM t GROUP BY x;"
DECIMALS = (
    "CREATE STREAM t (k BIGINT NOT NULL, x DECIMAL(38, 2) NOT NULL);"
    "CREATE VIEW v AS SELECT k, SUM(x) AS s FROM t GROUP BY k;"
)
TEXTS = (
    "CREATE STREAM t (k BIGINT NOT NULL, x STRING NOT NULL);"
    "CREATE VIEW v AS SELECT x, COUNT(*) AS n FROM t GROUP BY x;"
)


class Kind(IntEnum):
    ONE = 1


Run = Callable[[str], Database]


@pytest.fixture(params=["reference", "native", "auto", "taken over"])
def run(request: pytest.FixtureRequest, native: None) -> Run:
    """Databases on each engine; `taken over`: a kernel serves, from the cache, from the start."""

    def make(sql: str) -> Database:
        if request.param == "taken over":
            freshview.connect(engine="native").execute(sql)
        db = freshview.connect(engine="auto" if request.param == "taken over" else request.param)
        db.execute(sql)
        return db

    return make


def wait(db: Database) -> None:
    """Let the kernels take over that are being built, and those that follow them."""
    while db._tiering.is_building:
        for job in db._tiering.jobs:
            assert job.wait(120)
        assert db.version >= 0


def rows(db: Database, view: str = "v") -> list[Any]:
    return sorted(db.view(view).rows(), key=repr)


class Case(NamedTuple):
    sql: str
    first: Any
    bad: Any
    error: type[FreshviewError]
    words: str


REFUSED = {
    "sum": Case(SUMS, (1, 1 << 62), (1, 1 << 62), Overflow, "out of its range"),
    "smallest sum": Case(SUMS, (1, -MOST), (1, -1), Overflow, "out of its range"),
    "smallest": Case(SEEN, (1, -MOST), (1, -(1 << 63)), BadRow, "cannot hold -922"),
    "large": Case(SEEN, (1, MOST), (1, 1 << 63), BadRow, "cannot hold 922"),
    "surrogate": Case(TEXTS, (1, "😀"), (1, "a\ud800"), BadRow, "half a surrogate pair"),
    "39 digits": Case(DECIMALS, (1, LONG), (1, Decimal("9" * 37)), BadRow, "38 in all"),
    "decimal sum": Case(DECIMALS, (1, LONGEST), (1, Decimal("0.01")), Overflow, "of its range"),
}


@pytest.mark.native
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_outside_is_refused_whole(run: Run, name: str) -> None:
    case = REFUSED[name]
    db = run(case.sql)
    db.insert("t", case.first)
    before = rows(db), db.version
    for batch in ([case.bad], [(7, case.first[1]), case.bad]):
        with pytest.raises(case.error, match=case.words):
            db.insert("t", batch)
        with pytest.raises(case.error, match=case.words):
            db.writer("t").insert(*batch[-1])
    assert (rows(db), db.version) == before
    db.delete("t", case.first)
    assert rows(db) == []


@pytest.mark.native
def test_a_decimal_of_20_digits_is_held_by_all(run: Run) -> None:
    db = run(DECIMALS)
    db.insert("t", [(1, Decimal("1.50")), (2, LONG)])
    db.insert("t", (1, LONG))
    assert rows(db) == [(1, LONG + Decimal("1.50")), (2, LONG)]
    db.writer("t").insert(3, LONGEST)
    db.delete("t", [(1, LONG), (3, LONGEST)])
    assert rows(db) == [(1, Decimal("1.50")), (2, LONG)]


@pytest.mark.native
def test_a_kernel_takes_over_what_was_accepted(
    native: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiering, "TIER_UP_ROWS", 50)
    filler = [(100 + i, i) for i in range(60)]
    for sql, ends in (
        # Whatever the order of the rows, some sum leaves 64 bits on the way.
        (SUMS, [(1, MOST), (1, MOST - 1), (1, -MOST), (1, -5), (2, -MOST)]),
        (DECIMALS, [(1, LONG), (1, REST), (2, LONGEST.copy_negate())]),
        (SEEN, [(1, MOST), (2, -MOST)]),
    ):
        for cached in (False, True):
            db = freshview.connect()
            db.execute(sql)
            db.insert("t", ends)
            db.insert("t", filler)
            wait(db)
            assert (db.view("v").engine, cached) == ("native", cached)
            slow = freshview.connect(engine="reference")
            slow.execute(sql)
            slow.insert("t", [*ends, *filler])
            assert rows(slow) == rows(db)
            db.delete("t", ends)
            slow.delete("t", ends)
            assert rows(slow) == rows(db)
            assert len(rows(db)) == 60


@pytest.mark.native
def test_numbers_may_leave_their_range_on_the_way(run: Run) -> None:
    db = run(SUMS)
    db.insert("t", [(1, MOST), (1, 1 << 62), (1, -MOST), (1, 1)])
    db.apply({"t": [((1, MOST), 2), ((1, MOST), -2), ((1, 1 << 62), -1)]})
    assert rows(db) == [(1, 1)]
    db.apply({"t": [((1, MOST), -1), ((1, MOST), 1), ((1, 5), 1)]})
    assert rows(db) == [(1, 6)]


TWO = (
    "CREATE STREAM a (k BIGINT NOT NULL, x BIGINT NOT NULL); CREATE STREAM b (k BIGINT NOT NULL);"
    "CREATE VIEW n AS SELECT COUNT(*) AS n FROM a;"
    "CREATE VIEW s AS SELECT k, SUM(x) AS s FROM a GROUP BY k;"
    "CREATE VIEW j AS SELECT SUM(a.x) AS s FROM a, b WHERE a.k = b.k;"
)


@pytest.mark.native
def test_nothing_is_half_applied_in_any_view(run: Run) -> None:
    db = run(TWO)
    db.apply({"a": [((1, MOST), 1), ((2, 3), 1)], "b": [((2,), 2)]})
    before = [rows(db, v) for v in "nsj"]
    for batch in (
        {"b": [((1,), 1), ((2,), -2), ((1,), 1)]},  # the join counts twice the largest number
        {"a": [((3, 4), 1), ((1, 1), 1)]},
        {"b": [((2,), 1)], "a": [((3, 4), 1), ((1, 1), 1)]},
    ):
        with pytest.raises(Overflow):
            db.apply(batch)
        assert [rows(db, v) for v in "nsj"] == before
    db.apply({"b": [((1,), 2)], "a": [((1, MOST), -1)]})  # fits when both are done
    assert [rows(db, v) for v in "nsj"] == [[(1,)], [(2, 3)], [(6,)]]


@pytest.mark.native
def test_a_view_over_rows_that_it_cannot_hold_is_not_declared(run: Run) -> None:
    db = run(SEEN)
    db.insert("t", [(1, MOST), (1, 1), (2, -MOST), (2, -1)])
    with pytest.raises(Overflow):
        db.execute("CREATE VIEW w AS SELECT k, SUM(x) AS s FROM t GROUP BY k")
    db.execute("CREATE VIEW w AS SELECT SUM(x) AS s FROM t")
    assert rows(db, "w") == [(0,)]


@pytest.mark.native
def test_multiplicities_have_64_bits(run: Run) -> None:
    db = run(INTS + "CREATE VIEW v AS SELECT k, COUNT(*) AS n FROM t GROUP BY k;")
    for count in (1 << 63, -(1 << 63), 1 << 200):
        with pytest.raises(BadRow, match="cannot come"):
            db.apply({"t": [((1, 1), count)]})
    assert rows(db) == []


@pytest.mark.native
def test_what_is_computed_when_a_view_is_read_is_checked_then(run: Run) -> None:
    db = run(INTS + "CREATE VIEW v AS SELECT SUM(x) * 2 AS s, SUM(x) * 2 - SUM(x) AS d FROM t;")
    db.insert("t", [(1, MOST)])
    with pytest.raises(Overflow, match="'v' leaves its range when it is read"):
        db.view("v").rows()
    with pytest.raises(Overflow, match="'v' leaves its range when it is read"):
        db.view("v").to_arrow()
    db.delete("t", (1, MOST))
    db.insert("t", [(1, 1 << 61)])
    assert rows(db) == [(1 << 62, 1 << 61)]


@pytest.mark.native
def test_a_tracked_view_that_cannot_be_read_refuses_the_change(run: Run) -> None:
    db = run(INTS + "CREATE VIEW v AS SELECT SUM(x) * 2 AS s FROM t;")
    db.insert("t", (1, 5))
    db.view("v").track()
    with pytest.raises(Overflow):
        db.insert("t", (1, MOST - 5))
    db.insert("t", (1, 1))
    changes = db.view("v").changes(1).sort_by("s").to_pylist()
    assert changes == [{"s": 10, "__count": -1}, {"s": 12, "__count": 1}]
    assert rows(db) == [(12,)]


@pytest.mark.native
def test_dates_have_the_years_1_to_9999(run: Run) -> None:
    db = run(
        "CREATE STREAM t (d DATE NOT NULL, n BIGINT NOT NULL);"
        "CREATE VIEW v AS SELECT d + INTERVAL '1' MONTH AS m, d + n AS e FROM t;"
    )
    db.insert("t", [(date(9999, 11, 30), 31), (date(1, 1, 1), 0)])
    for bad in ((date(9999, 12, 1), 0), (date(2024, 1, 1), -MOST), (date(1, 1, 1), -1)):
        with pytest.raises(BadValue):
            db.insert("t", bad)
    assert rows(db) == [
        (date(1, 2, 1), date(1, 1, 1)),
        (date(9999, 12, 30), date(9999, 12, 31)),
    ]


CONSTANTS = [
    ("SELECT x + INTERVAL '99999999999' YEAR AS y FROM t", TypeProblem, "years 1 to 9999"),
    ("SELECT DATE '9999-12-31' + INTERVAL '1' DAY AS y FROM t", FreshviewError, "leaves the years"),
    ("SELECT x * 1e400 AS y FROM t", UnsupportedSql, "no DOUBLE holds"),
    (f"SELECT x + 1.{'1' * 40} AS y FROM t", UnsupportedSql, "38 digits"),
    (f"SELECT {MOST} + 1 AS y, x FROM t", TypeProblem, "64-bit"),
]


@pytest.mark.parametrize(("sql", "error", "words"), CONSTANTS)
def test_constants_keep_to_the_domain(sql: str, error: type[FreshviewError], words: str) -> None:
    db = freshview.connect(engine="reference")
    with pytest.raises(error, match=words):
        db.execute(f"{INTS} CREATE VIEW v AS {sql}")


@pytest.mark.native
def test_integers_past_64_bits_are_decimals_in_sql(run: Run) -> None:
    db = run(f"{INTS} CREATE VIEW v AS SELECT x + {1 << 63} AS y FROM t WHERE x > {-(1 << 63)};")
    db.insert("t", [(1, 1), (1, -MOST)])
    assert rows(db) == [(Decimal(1),), (Decimal((1 << 63) + 1),)]


@pytest.mark.native
def test_doubles_are_finite(run: Run) -> None:
    db = run(
        "CREATE STREAM t (k BIGINT NOT NULL, x DOUBLE NOT NULL);"
        "CREATE VIEW v AS SELECT x, COUNT(*) AS n FROM t GROUP BY x;"
    )
    for bad in (10**400, float("inf"), float("nan")):
        with pytest.raises(BadRow, match="expected a finite number"):
            db.insert("t", (1, bad))
    db.insert("t", (1, 10**300))
    assert rows(db) == [(1e300, 1)]


@pytest.mark.native
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("engine", ["native", "auto"])
def test_a_snapshot_of_long_decimals(native: None, tmp_path: Path, engine: Any, keep: bool) -> None:
    db = freshview.connect(engine=engine, keep_rows=keep)
    db.execute(DECIMALS)
    db.insert("t", [(1, LONG), (2, Decimal(1))])
    db.insert("t", [(1, LONG)])
    db.snapshot(tmp_path / "s")
    again = freshview.restore(tmp_path / "s")
    again.insert("t", (2, ALMOST))
    with pytest.raises(Overflow):
        again.insert("t", (2, Decimal("0.01")))
    assert rows(again) == [(1, 2 * LONG), (2, LONGEST)]


@pytest.mark.native
def test_a_kernel_whose_own_maps_overflow_gives_way(
    native: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only a kernel's way to the view leaves 64 bits, the reference engine serves it."""
    from freshview.runtime.views import group

    monkeypatch.setattr(group, "run_as_kernel", lambda *_, **__: None)
    db = freshview.connect(engine="native")
    db.execute(SUMS)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        db.insert("t", [(1, MOST), (1, MOST), (1, -MOST), (1, -MOST)])
    assert (db.view("v").engine, rows(db)) == ("reference", [(1, 0)])
    assert any("stays with the reference engine" in str(w.message) for w in warned)
    monkeypatch.undo()
    db.insert("t", [(2, i) for i in range(tiering.TIER_UP_ROWS)])
    assert db.view("v").engine == "native"
    assert rows(db) == [(1, 0), (2, sum(range(tiering.TIER_UP_ROWS)))]


MOMENTS = (
    "CREATE STREAM t (k BIGINT, x TIMESTAMP);"
    "CREATE VIEW v AS SELECT x, COUNT(*) AS n FROM t GROUP BY x;"
)


@pytest.mark.parametrize("way", ["row", "column"])
@pytest.mark.parametrize(
    "moment",
    ["NaT", "2024-01-01 00:00:00.000000001", "20000-01-01", "-0100-01-01"],
)
def test_moments_of_pandas_that_are_none_of_the_domain_are_refused(
    moment: str, way: str, run: Run
) -> None:
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    value = pandas.NaT
    if moment != "NaT":
        value = pandas.Timestamp(numpy.datetime64(moment, "ns" if "." in moment else "s"))
    db = run(MOMENTS)
    by_row, by_column = [(1, None), (1, value)], {"k": [1, 1], "x": [None, value]}
    with pytest.raises(BadRow, match=r"row 2 of 't': t\.x cannot hold"):
        db.insert("t", by_row if way == "row" else by_column)
    assert rows(db) == []
    writer = db.writer("t")
    with pytest.raises(BadRow, match="cannot hold"):
        writer.insert(1, value)
    assert rows(db) == []


def test_values_of_other_classes_become_values_of_pythons_own(run: Run) -> None:
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")

    class Day(date):
        pass

    db = run(
        "CREATE STREAM t (i BIGINT, s STRING, f DOUBLE, d DATE, x TIMESTAMP);"
        "CREATE VIEW v AS SELECT * FROM t;"
    )
    moment = pandas.Timestamp("2024-01-01 00:00:00.000001")
    db.insert("t", [(Kind.ONE, numpy.str_("a"), numpy.float64(2), Day(2024, 1, 1), moment)])
    db.insert("t", [(2, "b", 2, date(2024, 1, 1), datetime(2024, 1, 1, fold=1))])
    actual = rows(db)
    assert [[type(v) for v in row] for row in actual] == [[int, str, float, date, datetime]] * 2
    assert (
        repr(actual[1])
        == "(2, 'b', 2.0, datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1, 0, 0))"
    )
    db.delete("t", [(1, "a", 2.0, date(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 0, 1))])
    assert len(rows(db)) == 1


def test_every_engine_shows_numbers_as_their_columns_write_them(run: Run) -> None:
    db = run(
        "CREATE STREAM t (i BIGINT, p DECIMAL(38, 2), q DECIMAL(8, 3), f DOUBLE);"
        "CREATE VIEW v AS SELECT COALESCE(i, p) AS a, GREATEST(p, q) AS b, p - p AS c, i * p AS d,"
        " f % 1 AS e, i / f AS g, IF(i > 0, i, f) AS h FROM t;"
    )
    db.insert("t", [(-1, Decimal("0.00"), None, -2.0), (5, Decimal("1.5"), Decimal("1.25"), 1.0)])
    assert [repr(row) for row in sorted(db.view("v").rows())] == [
        "(Decimal('-1.00'), Decimal('0.000'), Decimal('0.00'), Decimal('0.00'), 0.0, 0.5, -2.0)",
        "(Decimal('5.00'), Decimal('1.500'), Decimal('0.00'), Decimal('7.50'), 0.0, 5.0, 5.0)",
    ]
