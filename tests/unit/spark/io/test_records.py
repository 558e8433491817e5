"""JSON lines and Debezium envelopes: exact values, and reasons for what is not understood."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from freshview.runtime.ingest.columns import rows_of
from freshview.spark.io.records import events_of_lines, rows_of_lines
from freshview.sql.load import load

R = load(
    "CREATE STREAM r (k BIGINT, d DECIMAL(20, 2), day DATE, s STRING NOT NULL, PRIMARY KEY (k))"
)[0].relation("r")
GOOD = '{"k": 1, "d": 12345678901234567.89, "day": "2024-02-29", "s": "a", "more": [1]}'
ROW = (1, Decimal("12345678901234567.89"), date(2024, 2, 29), "a")


@pytest.mark.parametrize("slow", [False, True])
def test_numbers_are_exact(slow: bool) -> None:
    lines = [GOOD, *(["{"] if slow else [])]
    got = rows_of_lines(R, pa.array(lines))
    assert rows_of(got.table) == [ROW]
    assert len(got.rejected) == slow


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"k": 1, "s": "a"', "a record of 'r' is not JSON: Expecting"),
        ("[1]", "a record of 'r' is not a JSON object"),
        ('{"k": "x", "s": "a"}', "r.k cannot hold 'x'"),
        ('{"k": 1.5, "s": "a"}', "r.k cannot hold Decimal('1.5')"),
        ('{"k": 1, "d": 0.125, "s": "a"}', "at most 2 digits"),
        ('{"k": 1, "s": 5}', "r.s cannot hold 5; expected a text"),
        ('{"k": 1}', "r.s is NOT NULL"),
        ('{"s": "a"}', "r.k is NOT NULL"),
        ('{"k": 1, "day": "soon", "s": "a"}', "expected a date"),
        ('{"k": 1, "s": "a"} {"k": 2, "s": "b"}', "is not JSON: Extra data"),
    ],
)
def test_a_malformed_line_is_set_apart(line: str, said: str) -> None:
    got = rows_of_lines(R, pa.array([GOOD, line, GOOD]))
    assert rows_of(got.table) == [ROW, ROW]
    assert got.at.to_pylist() == [0, 2]
    [bad] = got.rejected
    assert said in bad.reason


def test_empty_lines_say_nothing() -> None:
    got = rows_of_lines(R, pa.array([GOOD, "", None, " "]))
    assert (got.table.num_rows, got.rejected) == (1, [])


@pytest.mark.parametrize("slow", [False, True])
def test_a_field_tells_which_rows_go(slow: bool) -> None:
    lines = ['{"k": 1, "s": "a", "x": true}', '{"k": 2, "s": "b"}', *(["{"] if slow else [])]
    got = rows_of_lines(R, pa.array(lines), deleted="x")
    assert got.table.column("__gone").to_pylist() == [True, False]


def envelope(op: str, before: object, after: object, wrapped: bool = False) -> str:
    record = {"op": op, "before": before, "after": after, "ts_ms": 1}
    return json.dumps({"schema": {}, "payload": record} if wrapped else record)


@pytest.mark.parametrize("wrapped", [False, True])
def test_envelopes_become_events(wrapped: bool) -> None:
    a, b, c = ({"k": k, "d": None, "day": None, "s": s} for k, s in ((1, "a"), (1, "b"), (3, "c")))
    lines = [
        envelope("c", None, a, wrapped),
        envelope("u", a, b, wrapped),
        envelope("u", b, c, wrapped),
        envelope("d", {"k": 3}, None, wrapped),
        None,
    ]
    got = events_of_lines(R, pa.array(lines))
    assert [(r[0], r[3], r[4]) for r in rows_of(got.table)] == [
        (1, "a", False),
        (1, "b", False),
        (1, "b", True),
        (3, "c", False),
        (3, None, True),
    ]
    assert not got.rejected


def test_a_deletion_may_tell_its_key_in_the_message_key() -> None:
    lines = pa.array(["{", envelope("d", None, None)])
    got = events_of_lines(R, lines, pa.array([None, '{"payload": {"k": 5}}']))
    assert [(r[0], r[4]) for r in rows_of(got.table)] == [(5, True)]
    assert len(got.rejected) == 1


@pytest.mark.parametrize("key", ["7", "plain", '"text"', "[1]", None])
def test_the_key_of_a_message_may_be_any_text(key: str | None) -> None:
    lines = pa.array([envelope("c", None, {"k": 1, "s": "a"})])
    got = events_of_lines(R, lines, pa.array([key], pa.string()))
    assert [(r[0], r[3], r[4]) for r in rows_of(got.table)] == [(1, "a", False)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (envelope("x", None, {"k": 1, "s": "a"}), "has the op 'x'; not c, r, u, d"),
        (envelope("c", None, None), "has no 'after'"),
        (envelope("d", None, None), "r.k is NOT NULL"),
        (envelope("c", None, {"k": 1}), "r.s is NOT NULL"),
        ("5", "is not a JSON object"),
    ],
)
def test_an_envelope_that_says_nothing_clear_is_set_apart(line: str, said: str) -> None:
    [bad] = events_of_lines(R, pa.array([line])).rejected
    assert said in bad.reason
