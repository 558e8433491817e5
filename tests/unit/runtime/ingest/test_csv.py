"""Reading delimited files: values by type, and complaints with their place."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import BOOL, DATE, DOUBLE, INT, STRING, TIMESTAMP, Type, decimal
from freshview.errors import BadRow
from freshview.runtime.ingest import csv

EVERY = Relation(
    "every",
    (
        Column("i", INT),
        Column("m", decimal(2)),
        Column("x", DOUBLE),
        Column("d", DATE),
        Column("t", TIMESTAMP),
        Column("b", BOOL),
        Column("s", STRING),
        Column("n", INT.or_null()),
    ),
)


def rows(tmp_path: Path, text: str, relation: Relation, delimiter: str = ",") -> list[Row]:
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return list(csv.read(path, relation, delimiter))


def complaint(tmp_path: Path, text: str, relation: Relation, delimiter: str = ",") -> str:
    with pytest.raises(BadRow) as caught:
        rows(tmp_path, text, relation, delimiter)
    return str(caught.value).replace(str(tmp_path) + "/", "")


def of(*types: Type) -> Relation:
    return Relation("R", tuple(Column(f"c{i}", t) for i, t in enumerate(types)))


def test_every_type_is_read(tmp_path: Path) -> None:
    text = "1,2.5,3e2,2024-02-29,2024-02-29 12:30:00,true,text,\n"
    assert rows(tmp_path, text, EVERY) == [
        (
            1,
            Decimal("2.50"),
            300.0,
            date(2024, 2, 29),
            datetime(2024, 2, 29, 12, 30),
            True,
            "text",
            None,
        )
    ]


def test_a_decimal_is_written_with_its_scale(tmp_path: Path) -> None:
    ((value,),) = rows(tmp_path, "7\n", of(decimal(2)))
    assert str(value) == "7.00"


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    assert rows(tmp_path, "\ufeffone\ntwo\n", of(STRING)) == [("one",), ("two",)]


def test_trailing_delimiter_of_tbl_files(tmp_path: Path) -> None:
    assert rows(tmp_path, "1|a|\n2|b|\n", of(INT, STRING), "|") == [(1, "a"), (2, "b")]


def test_an_empty_last_field_is_not_a_trailing_delimiter(tmp_path: Path) -> None:
    assert rows(tmp_path, "1|\n", of(INT, STRING.or_null()), "|") == [(1, None)]


def test_empty_is_null_or_the_empty_text(tmp_path: Path) -> None:
    assert rows(tmp_path, ",\n", of(STRING, STRING.or_null())) == [("", None)]


def test_quotes_line_ends_and_blank_lines(tmp_path: Path) -> None:
    text = '1,"a, ""b"""\r\n\r\n2,"two\nlines"\r\n'
    assert rows(tmp_path, text, of(INT, STRING)) == [(1, 'a, "b"'), (2, "two\nlines")]


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    assert rows(tmp_path, "", of(INT)) == []


@pytest.mark.parametrize(
    ("text", "types", "said"),
    [
        ("1,2\n1\n", (INT, INT), "rows.csv:2:1: a row of 'R' has 1 values; expected 2: c0, c1"),
        ("1,2,3\n", (INT, INT), "rows.csv:1:1: a row of 'R' has 3 values; expected 2: c0, c1"),
        ("1,x\n", (INT, INT), "rows.csv:1:3: R.c1 cannot hold 'x'; expected a 64-bit integer"),
        ("1_0\n", (INT,), "rows.csv:1:1: R.c0 cannot hold '1_0'; expected a 64-bit integer"),
        (
            f"{1 << 63}\n",
            (INT,),
            f"rows.csv:1:1: R.c0 cannot hold '{1 << 63}'; expected a 64-bit integer",
        ),
        (
            "1.234\n",
            (decimal(2),),
            "rows.csv:1:1: R.c0 cannot hold '1.234'; "
            "expected a decimal with at most 2 digits after the point",
        ),
        ("nan\n", (DOUBLE,), "rows.csv:1:1: R.c0 cannot hold 'nan'; expected a finite number"),
        ("inf\n", (decimal(1),), "rows.csv:1:1: R.c0 cannot hold 'inf'; expected a decimal"),
        ("2024-13-01\n", (DATE,), "rows.csv:1:1: R.c0 cannot hold '2024-13-01'; expected a date"),
        (
            "2024-01-01 00:00:00+01:00\n",
            (TIMESTAMP,),
            "rows.csv:1:1: R.c0 cannot hold '2024-01-01 00:00:00+01:00'; expected a timestamp",
        ),
        ("maybe\n", (BOOL,), "rows.csv:1:1: R.c0 cannot hold 'maybe'; expected true or false"),
        ("1,\n", (INT, INT), "rows.csv:1:3: R.c1 is NOT NULL; expected a 64-bit integer"),
        (
            '"two\nlines",x\n',
            (STRING, INT.or_null()),
            "rows.csv:2:8: R.c1 cannot hold 'x'; expected a 64-bit integer or NULL",
        ),
        ('1\n"2\n', (INT,), "rows.csv:2:1: a row of 'R' is malformed"),
    ],
)
def test_complaints_name_place_and_expectation(
    tmp_path: Path, text: str, types: tuple[Type, ...], said: str
) -> None:
    assert complaint(tmp_path, text, of(*types)).startswith(said)


def test_a_missing_file_is_a_complaint(tmp_path: Path) -> None:
    with pytest.raises(BadRow, match=r"cannot read .*none.csv' for 'R': No such file"):
        list(csv.read(tmp_path / "none.csv", of(INT)))


def test_other_encodings_are_a_complaint(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(b"\xe9\n")
    with pytest.raises(BadRow, match="is not UTF-8 text"):
        list(csv.read(path, of(STRING)))
