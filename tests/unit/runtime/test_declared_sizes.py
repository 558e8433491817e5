"""TINYINT, DECIMAL(4, 2) and VARCHAR(3) hold what they say, whichever way a row comes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import freshview as fv
from freshview.errors import BadRow
from freshview.runtime.relations.stored_base import StoredBase

SCRIPT = (
    "CREATE STREAM x (a TINYINT, b INT, d DECIMAL(4, 2), s VARCHAR(3));"
    "CREATE VIEW v AS SELECT SUM(a) AS a, SUM(b) AS b, SUM(d) AS d, MAX(s) AS s, COUNT(*) AS n"
    " FROM x"
)
ENDS = [
    (127, 2**31 - 1, Decimal("99.99"), "äöü"),
    (-128, -(2**31), Decimal("-99.99"), ""),
    (None, None, None, None),
]
BEYOND = {
    "a": (128, 0, Decimal(0), "a"),
    "a below": (-129, 0, Decimal(0), "a"),
    "b": (0, 2**31, Decimal(0), "a"),
    "d": (0, 0, Decimal(100), "a"),
    "s": (0, 0, Decimal(0), "abcd"),
}
WAYS = ("rows", "row", "table", "dictionary", "apply")


def arrow(rows: list[tuple[Any, ...]], *, dictionary: bool) -> pa.Table:
    a, b, d, s = (list(column) for column in zip(*rows, strict=True))
    text = pa.array(s, pa.string())
    return pa.table(
        {
            "a": pa.array(a, pa.int64()),
            "b": pa.array(b, pa.int64()),
            "d": pa.array(d, pa.decimal128(20, 2)),
            "s": text.dictionary_encode() if dictionary else text,
        }
    )


def put(db: Any, way: str, row: tuple[Any, ...]) -> None:
    if way == "rows":
        db.insert("x", [(0, 0, Decimal(0), "a"), row])
    elif way == "row":
        db.insert("x", row)
    elif way == "apply":
        db.apply({"x": [(row, 2)]})
    else:
        rows = [(0, 0, Decimal(0), "a"), row]
        db.insert("x", arrow(rows, dictionary=way == "dictionary"))


@pytest.mark.parametrize("engine", ["reference", pytest.param("native", marks=pytest.mark.native)])
def test_all_that_fits_is_taken_and_nothing_beyond(engine: Any, native: None) -> None:
    db = fv.connect(engine=engine)
    db.execute(SCRIPT)
    for row in ENDS:
        db.insert("x", row)
        db.insert("x", [row])
        db.insert("x", arrow([row], dictionary=False))
    before = db.view("v").rows()
    assert before == [(-3, -3, Decimal("0.00"), "äöü", 9)]
    for name, row in BEYOND.items():
        for way in WAYS:
            with pytest.raises(BadRow, match=rf"x\.{name[0]} cannot hold"):
                put(db, way, row)
    assert db.view("v").rows() == before


def test_sql_stores_as_spark_does() -> None:
    db = fv.connect(engine="reference")
    db.sql("CREATE STREAM x (s VARCHAR(3)); INSERT INTO x VALUES ('abc  ')")
    assert db.sql("SELECT s FROM x").rows() == [("abc",)]
    for script in (
        "INSERT INTO x VALUES ('abcd')",
        "INSERT INTO x SELECT 'abcd'",
        "UPDATE x SET s = 'abcd'",
    ):
        with pytest.raises(BadRow, match="at most 3 characters"):
            db.sql(script)


@pytest.mark.native
def test_stores_of_equal_columns_have_sizes_of_their_own(native: None) -> None:
    for kind, value in (("INT", 7), ("BIGINT", 1 << 40), ("INT", 8), ("DECIMAL(20, 0)", 1 << 60)):
        db = fv.connect(engine="native")
        db.execute(f"CREATE STREAM same (k {kind}); CREATE VIEW v AS SELECT k FROM same")
        db.writer("same").insert(value)
        db.insert("same", [(value,)])
        assert db.view("v").rows() == [(value,), (value,)]
        assert isinstance(db.state.bases["same"], StoredBase)  # a refusal would hand over to Python
        if kind == "INT":
            with pytest.raises(BadRow, match="2147483647"):
                db.insert("same", [(1 << 40,)])
