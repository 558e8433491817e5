"""Values as users have them: taken where they stand for exactly one value of the column."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import freshview
from freshview.calculus.rows import conform
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import Type
from freshview.errors import BadRow
from freshview.runtime.database.database import Database
from freshview.runtime.ingest.normalize_types import normalize_types

SCRIPT = """
CREATE STREAM t (k INT, p DECIMAL(8, 2), d DATE, at TIMESTAMP, x DOUBLE, b BOOLEAN);
CREATE VIEW v AS SELECT k, p, d, at, x, b FROM t;
"""
DAY, MOMENT = date(2024, 2, 29), datetime(2024, 2, 29, 10, 30)
PLAIN = (7, Decimal("45.83"), DAY, MOMENT, 3.0, True)
ROWS = [
    (7.0, 45.83, "2024-02-29", "2024-02-29 10:30:00", 3, True),
    (np.int64(7), "45.83", datetime(2024, 2, 29), MOMENT.replace(tzinfo=UTC), 3, np.bool_(True)),
    (Decimal(7), np.float32(45.83), np.datetime64("2024-02-29"), "2024-02-29T10:30Z", 3, True),
    (7, Decimal("45.830"), pd.Timestamp("2024-02-29"), pd.Timestamp(MOMENT), np.int8(3), True),
    (7, "4583e-2", DAY, np.datetime64("2024-02-29T10:30:00.000000000"), np.float16(3), True),
]


@pytest.fixture(params=["reference", "native", "auto"])
def db(request: pytest.FixtureRequest, native: None) -> Database:
    db = freshview.connect(engine=request.param)
    db.execute(SCRIPT)
    return db


@pytest.mark.native
def test_rows(db: Database) -> None:
    db.insert("t", ROWS)
    writer = db.writer("t")
    for row in ROWS:
        writer.insert(*row)
    assert db.view("v").rows() == [PLAIN] * 2 * len(ROWS)
    db.delete("t", ROWS)
    for row in ROWS:
        writer.delete(*row)
    assert db.view("v").rows() == []


FRAMES = [
    pd.DataFrame(
        {
            "k": [7.0, None],
            "p": [45.83, None],
            "d": ["2024-02-29", None],
            "at": ["2024-02-29 10:30:00", None],
            "x": [3.0, None],
            "b": [True, None],
        }
    ),
    pd.DataFrame(
        {
            "k": [7, None],
            "p": ["45.83", None],
            "d": pd.to_datetime(["2024-02-29", None]),
            "at": pd.to_datetime(["2024-02-29 10:30", None], utc=True),
            "x": [3, None],
            "b": [True, None],
        }
    ),
    pl.DataFrame(
        {
            "k": [7, None],
            "p": [45.83, None],
            "d": ["2024-02-29", None],
            "at": ["2024-02-29T10:30Z", None],
            "x": [3.0, None],
            "b": [True, None],
        }
    ),
    pd.DataFrame(
        {
            "k": [7.0, None],
            "p": np.array([45.83, np.nan], np.float32),
            "d": pd.Categorical(["2024-02-29", None]),
            "at": [MOMENT, None],
            "x": [3.0, None],
            "b": [True, None],
        }
    ),
]


@pytest.mark.native
@pytest.mark.parametrize("number", range(len(FRAMES)))
def test_frames(db: Database, number: int) -> None:
    frame = FRAMES[number]
    db.insert("t", frame)
    assert sorted(db.view("v").rows(), key=str) == sorted([PLAIN, (None,) * 6], key=str)
    db.delete("t", frame)
    assert db.view("v").rows() == []


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "values", "shown"),
    [
        ("k", [1.0, 1.5], "1.5"),
        ("k", [1.0, 2.0**60], "1.152921504606847e\\+18"),
        ("p", [45.83, 1.234], "1.234"),
        ("d", ["2024-02-29", "2023-02-29"], "'2023-02-29'"),
        ("d", [datetime(2024, 1, 1), MOMENT], "datetime"),
        ("at", ["2024-02-29 10:30", "noon"], "'noon'"),
    ],
)
def test_a_column_with_a_value_that_is_not_exact(
    db: Database, name: str, values: list[Any], shown: str
) -> None:
    frame = pd.DataFrame({c: [None, None] for c in ("k", "p", "d", "at", "x", "b")})
    frame[name] = values
    with pytest.raises(BadRow, match=rf"^row 2 of 't': t\.{name} cannot hold {shown}.*; expected"):
        db.insert("t", frame)
    assert db.view("v").rows() == []


DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
THOUSANDTHS = st.integers(-(10**9), 10**9).map(lambda n: n / 1000)


@given(st.lists(st.none() | DOUBLES | THOUSANDTHS, max_size=8), st.integers(0, 4))
def test_columns_and_rows_have_one_rule(values: list[float | None], scale: int) -> None:
    t = Type("decimal", scale, nullable=True)
    relation = Relation("t", (Column("p", t),))
    table = pa.table({"p": pa.array(values, pa.float64())})
    try:
        expected = [conform(v, t) for v in values]
    except ValueError:
        with pytest.raises(BadRow, match="cannot hold"):
            normalize_types(relation, table)
        return
    assert normalize_types(relation, table).column("p").to_pylist() == expected
