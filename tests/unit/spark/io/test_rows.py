"""Tables from outside: what fits is typed, what does not is set apart with its reason."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from freshview.calculus.schema import Relation
from freshview.errors import BadRow
from freshview.runtime.ingest.columns import rows_of
from freshview.spark.io.rows import CORRUPT, fit_rows
from freshview.sql.load import load


def relation(columns: str) -> Relation:
    return load(f"CREATE STREAM r ({columns})")[0].relation("r")


ALL = relation(
    "i BIGINT, d DECIMAL(8, 2), x DOUBLE, day DATE, t TIMESTAMP, b BOOLEAN, s STRING NOT NULL"
)


def test_texts_become_values_of_every_type() -> None:
    row = {
        "I": "-5",
        "d": "1.5",
        "x": "1e3",
        "day": "2024-02-29",
        "t": "2024-02-29 12:30:00",
        "b": "true",
        "s": "a",
    }
    got = fit_rows(ALL, pa.Table.from_pylist([row]))
    assert rows_of(got.table) == [
        (
            -5,
            Decimal("1.50"),
            1000.0,
            date(2024, 2, 29),
            datetime(2024, 2, 29, 12, 30),
            True,
            "a",
        )
    ]
    assert not got.rejected


def test_values_keep_their_types() -> None:
    table = pa.table(
        {
            "i": pa.array([5], pa.int32()),
            "d": pa.array([Decimal("1.5")], pa.decimal128(10, 1)),
            "x": pa.array([2], pa.int64()),
            "day": pa.array([date(2024, 1, 1)]),
            "t": pa.array([datetime(2024, 1, 1, 5, tzinfo=UTC)]),
            "b": pa.array([None], pa.bool_()),
            "s": pa.array(["a"]),
        }
    )
    expected = (5, Decimal("1.50"), 2.0, date(2024, 1, 1), datetime(2024, 1, 1, 5), None, "a")
    assert rows_of(fit_rows(ALL, table).table) == [expected]


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("i", "many", "r.i cannot hold 'many'; expected a 64-bit integer or NULL"),
        ("i", "0x10", "r.i cannot hold '0x10'"),
        ("i", "99999999999999999999", "r.i cannot hold"),
        ("d", "1.555", "r.d cannot hold '1.555'; expected a decimal with at most 2 digits"),
        ("x", "nan", "r.x cannot hold 'nan'; expected a finite number"),
        ("day", "2024-02-30", "expected a date as YYYY-MM-DD"),
        ("t", "yesterday", "expected a timestamp"),
        ("b", "maybe", "expected true or false"),
        ("s", None, "r.s is NOT NULL"),
    ],
)
def test_one_malformed_value_costs_its_row(column: str, value: str | None, said: str) -> None:
    good = {"i": " 1", "d": "1", "x": "1", "day": None, "t": None, "b": "f", "s": "a"}
    got = fit_rows(ALL, pa.Table.from_pylist([good, {**good, column: value}, good]))
    assert got.table.num_rows == 2
    assert got.at.to_pylist() == [0, 2]
    [bad] = got.rejected
    assert said in bad.reason
    assert f'"{column}"' in bad.row


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ("i BIGINT", pa.array([True])),
        ("i BIGINT", pa.array([1.5])),
        ("s STRING", pa.array([5])),
        ("day DATE", pa.array([5])),
        ("x DOUBLE", pa.array([float("inf")])),
        ("d DECIMAL(8, 2)", pa.array([Decimal("0.001")])),
    ],
)
def test_values_of_another_type_are_set_apart(columns: str, values: Any) -> None:
    got = fit_rows(relation(columns), pa.table({columns.split()[0]: values}))
    assert (got.table.num_rows, len(got.rejected)) == (0, 1)


def test_empty_fields_are_null_or_the_empty_text() -> None:
    r = relation("i BIGINT, s STRING, n STRING NOT NULL")
    table = pa.table({"i": ["", None], "s": ["", "x"], "n": [None, ""]})
    assert rows_of(fit_rows(r, table, delimiter=",").table) == [(None, None, ""), (None, "x", "")]


def test_a_line_that_was_not_understood_is_read_again() -> None:
    r = relation("i BIGINT, s STRING")
    table = pa.table(
        {
            "i": ["1", None, None, "4"],
            "s": ["a", None, None, "d"],
            CORRUPT: [None, "2|b|", "3|c|d|e", None],
        }
    )
    got = fit_rows(r, table, delimiter="|")
    assert rows_of(got.table) == [(1, "a"), (2, "b"), (4, "d")]
    assert got.at.to_pylist() == [0, 1, 3]
    [bad] = got.rejected
    assert (bad.row, bad.reason) == ("3|c|d|e", "a row of 'r' has 4 values; expected 2: i, s")


def test_a_column_that_is_missing_is_refused() -> None:
    with pytest.raises(BadRow, match="the rows for 'r' have no column 'b'; its columns are a, b"):
        fit_rows(relation("a BIGINT, b BIGINT"), pa.table({"a": [1]}))
