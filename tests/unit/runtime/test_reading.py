"""A view as Python rows, Arrow, HTML: the same rows in the same order on both engines."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from freshview.errors import Overflow, UnknownName
from freshview.runtime.database.database import Database
from tests.unit.databases import Connect

SCRIPT = """
CREATE STREAM r (k BIGINT, t STRING, p DECIMAL(8, 2), x DOUBLE, d DATE, m TIMESTAMP, b BOOLEAN);
CREATE VIEW ordered AS SELECT * FROM r ORDER BY t DESC NULLS LAST, k;
CREATE VIEW loose AS SELECT k, SUM(p) AS total FROM r GROUP BY k;
"""
A = (1, "a", Decimal("1.50"), 0.5, date(2024, 2, 29), datetime(2024, 1, 2, 3, 4, 5, 6), True)
B = (2, "b", Decimal("2.00"), -1.0, date(1969, 12, 31), datetime(1960, 1, 1), False)
NONE = (None,) * 7
TWICE = (None, "b", Decimal("7.25"), None, None, None, None)


@pytest.fixture
def db(connect: Connect) -> Database:
    db = connect()
    db.execute(SCRIPT)
    db.apply({"r": [(A, 1), (B, 1), (NONE, 1), (TWICE, 2)]})
    return db


ORDERED = [TWICE, TWICE, B, A, NONE]


def test_order_by_is_obeyed_everywhere(db: Database) -> None:
    view = db.view("ordered")
    assert view.rows() == ORDERED
    assert [tuple(row.values()) for row in view.to_pylist()] == ORDERED
    assert list(zip(*view.to_arrow().to_pydict().values(), strict=True)) == ORDERED


def test_arrow_types_tell_the_schema(db: Database) -> None:
    table = db.view("ordered").to_arrow()
    assert [str(f.type) for f in table.schema] == [
        "int64",
        "string",
        "decimal128(38, 2)",
        "double",
        "date32[day]",
        "timestamp[us]",
        "bool",
    ]
    assert table.column_names == list(db.view("ordered").columns)


def test_an_empty_view_has_the_same_types(db: Database) -> None:
    full = db.view("loose").to_arrow().schema
    db.apply({"r": [(A, -1), (B, -1), (NONE, -1), (TWICE, -2)]})
    assert db.view("loose").to_arrow().schema.equals(full)
    assert db.view("loose").rows() == []


def test_a_view_is_an_arrow_stream(db: Database) -> None:
    assert pa.table(db.view("ordered")).equals(db.view("ordered").to_arrow())


def test_a_view_as_a_data_frame(db: Database) -> None:
    pytest.importorskip("pandas")
    assert list(db.view("loose").to_pandas().columns) == ["k", "total"]


def test_lookup_finds_rows_by_values(db: Database) -> None:
    view = db.view("ordered")
    assert view.lookup(k=1) == [A]
    assert view.lookup(T="b", k=None) == [TWICE, TWICE]
    assert view.lookup(t="b", k=2, p=2) == [B]
    assert view.lookup(k=99) == view.lookup(k="a") == view.lookup(k=1, t="b") == []
    assert db.view("loose").lookup(k=None) == [(None, Decimal("14.50"))]
    with pytest.raises(UnknownName, match="no column 'z'; its columns are k, t, p"):
        view.lookup(z=1)


def test_a_notebook_shows_a_table(db: Database) -> None:
    db.insert("r", {"t": "<b>"})
    shown = db.view("ordered")._repr_html_()
    assert "<caption>ordered: 6 rows</caption>" in shown
    assert "&lt;b&gt;" in shown
    assert "NULL" in shown
    db.insert("r", [A] * 20)
    assert "26 rows (6 more)" in db.view("ordered")._repr_html_()


def test_versions_count_changes(db: Database) -> None:
    assert db.version == 1
    db.insert("r", A)
    version, table = db.view("loose").read()
    assert (version, table.num_rows) == (2, 3)
    with pytest.raises(Exception, match="does not hold"):
        db.delete("r", (9, *A[1:]))
    assert db.version == 2


def test_a_sum_that_leaves_its_range_is_an_error_and_changes_nothing(connect: Connect) -> None:
    db = connect()
    db.execute(
        "CREATE STREAM n (k BIGINT NOT NULL, v BIGINT NOT NULL);"
        "CREATE STREAM o (k BIGINT NOT NULL);"
        "CREATE VIEW many AS SELECT COUNT(*) AS n FROM n;"
        "CREATE VIEW sums AS SELECT k, SUM(v) AS s FROM n GROUP BY k;"
        "CREATE VIEW others AS SELECT COUNT(*) AS n FROM o;"
    )
    large = (1, (1 << 63) - 1)
    db.insert("n", large)
    with pytest.raises(Overflow, match="takes a number of a view out of its range"):
        db.apply({"o": [((1,), 1)], "n": [((2, 1), 1), ((1, 1), 1)]})
    assert [v.rows() for v in db.views] == [[(1,)], [large], [(0,)]]
    assert db.version == 1
    db.delete("n", large)
    assert db.view("sums").rows() == []
