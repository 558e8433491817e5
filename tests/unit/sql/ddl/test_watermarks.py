"""WATERMARK FOR: the event time of a stream."""

from __future__ import annotations

import pytest

from freshview.calculus.schema import EventTime
from freshview.errors import FreshviewError
from freshview.program.terms import Program
from freshview.program.text import read_program, show_program
from freshview.sql.load import load


@pytest.mark.parametrize(
    ("columns", "delay"),
    [
        ("t INT NOT NULL, WATERMARK FOR t AS t - 5", 5),
        ("t INT NOT NULL, WATERMARK FOR T AS t", 0),
        ("t INT PRIMARY KEY, WATERMARK FOR t AS t - 5", 5),
        ("t DOUBLE NOT NULL, WATERMARK FOR t AS t - 0.5", 0.5),
        ("t DATE NOT NULL, WATERMARK FOR t AS t - INTERVAL '2' DAY", 2),
        ("t DATE NOT NULL, WATERMARK FOR t AS t - 2", 2),
        ("t TIMESTAMP NOT NULL, WATERMARK FOR t AS t - INTERVAL 5 MINUTES", 300_000_000),
        ("t TIMESTAMP NOT NULL, WATERMARK FOR t AS t - INTERVAL '5 minutes'", 300_000_000),
        ("t TIMESTAMP NOT NULL, WATERMARK FOR t AS t - INTERVAL '1' WEEK", 604_800_000_000),
    ],
)
def test_delays(columns: str, delay: float) -> None:
    catalog, _ = load(f"CREATE STREAM s ({columns}, x INT)")
    relation = catalog.relation("s")
    assert relation.time == EventTime("t", delay)
    assert relation.time_column == 0
    text = show_program(Program((relation,), (), (), ()))
    assert read_program(text).relations == (relation,)


def test_a_column_may_be_called_watermark() -> None:
    catalog, _ = load("CREATE STREAM s (watermark INT)")
    assert catalog.relation("s").time is None


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ("t INT, WATERMARK FOR t AS t", "'t' admits NULL, and every row needs a time"),
        ("t STRING NOT NULL, WATERMARK FOR t AS t", "'t' is string, which is no time"),
        ("WATERMARK FOR t AS t, t INT NOT NULL", "'t', which is no column before it"),
        ("t INT NOT NULL, WATERMARK FOR t AS x", "a watermark follows its own column, not 'x'"),
        ("t INT NOT NULL, WATERMARK FOR t AS t - -5", "expected a delay but found '-'"),
        ("t INT NOT NULL, WATERMARK FOR t AS t - 0.5", "a whole number, not 0.5"),
        ("t INT NOT NULL, WATERMARK FOR t AS t - INTERVAL 1 DAY", "taken from int; give a number"),
        ("t INT NOT NULL, WATERMARK FOR t AS t, WATERMARK FOR t AS t", "there are two watermarks"),
        ("t DATE NOT NULL, WATERMARK FOR t AS t - INTERVAL 2 HOURS", "one of DAY, WEEK"),
        ("t TIMESTAMP NOT NULL, WATERMARK FOR t AS t - INTERVAL 1 MONTH", "INTERVAL '1' MONTH"),
        ("t TIMESTAMP NOT NULL, WATERMARK FOR t AS t - 5", "write INTERVAL '5' MINUTE"),
        (f"t INT NOT NULL, WATERMARK FOR t AS t - {1 << 62}", "is too long; write a shorter one"),
    ],
)
def test_refusals(columns: str, sentence: str) -> None:
    with pytest.raises(FreshviewError, match=r"s\.sql:1:") as refusal:
        load(f"CREATE STREAM s ({columns})", "s.sql")
    assert sentence in str(refusal.value)


def test_a_static_table_has_no_watermark() -> None:
    with pytest.raises(FreshviewError, match="a static table has no watermark"):
        load("CREATE TABLE s (t INT NOT NULL, WATERMARK FOR t AS t)")
