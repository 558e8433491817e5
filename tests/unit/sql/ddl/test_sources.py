"""FROM clauses: what they say as data, and the place of what is wrong in them."""

from __future__ import annotations

import pytest

from freshview.errors import FreshviewError
from freshview.sql import Source
from freshview.sql.load import load

KEYED = "(id INT PRIMARY KEY, name STRING)"


def source(clause: str, columns: str = KEYED, what: str = "STREAM") -> Source:
    catalog, _ = load(f"CREATE {what} r {columns}\nFROM {clause};")
    return catalog.sources["r"]


def test_clauses_become_data() -> None:
    assert source("PARQUET 'in/'") == Source("parquet", ("in/",))
    assert source("JSON 'in' (files_per_batch := 2)") == Source(
        "json", ("in",), options=(("files_per_batch", 2),)
    )
    assert source("CSV 'in' (header := TRUE, delimiter := '|')") == Source(
        "csv", ("in",), options=(("delimiter", "|"), ("header", "true"))
    )
    assert source("DELTA 'd' (starting_version := 0)", what="STREAM") == Source(
        "delta", ("d",), options=(("starting_version", 0),)
    )
    assert source("PARQUET 'in/'", what="TABLE") == Source("parquet", ("in/",))


def test_a_debezium_topic_is_one_of_changes() -> None:
    kafka = source("KAFKA 't' (bootstrap := 'h:9092', format := 'Debezium')")
    assert dict(kafka.options) == {
        "bootstrap": "h:9092",
        "format": "debezium",
        "changes": "debezium",
    }


def test_a_socket_has_one_host_and_port_however_it_is_written() -> None:
    for words in ("'h:9999'", "'h' 9999", "'h' PORT 9999"):
        assert source(f"SOCKET {words} LINE DELIMITED CSV") == Source(
            "socket", ("h", 9999), "line", "csv"
        )


@pytest.mark.parametrize(
    ("clause", "at", "said"),
    [
        ("PARQUET", "2:6", "PARQUET is followed by one text"),
        ("PARQUET 'a' 'b'", "2:18", "PARQUET is followed by one text"),
        ("PARQUET 'a' CSV", "2:18", "'csv' has no place here"),
        ("CSV 'a' (delimiter := '::')", "2:15", "give a single character"),
        ("CSV 'a' (header := 1)", "2:15", "give true or false"),
        ("CSV 'a' (size := 1)", "2:15", "CSV has no option 'size'"),
        ("JSON 'a' (files_per_batch := 'x')", "2:16", "give a number"),
        ("JSON 'a' (changes := 'upsert', changes := 'append')", "2:37", "given twice"),
        ("JSON 'a' (changes := 'new')", "2:16", "one of append, upsert, debezium"),
        ("JSON 'a' (deleted := 'gone')", "2:16", "changes := 'upsert' beside it"),
        ("KAFKA 't'", "2:12", "KAFKA needs the option 'bootstrap'"),
        ("KAFKA 't' (bootstrap := 'h:1', format := 'avro')", "2:37", "one of json, debezium"),
        ("RATE 'x' (rows_per_second := 1)", "2:15", "RATE is followed by nothing"),
        ("RATE (rows_per_second := 1)", "2:6", "RATE makes no column 'id'"),
        ("TELEGRAPH 'x'", "2:6", "'TELEGRAPH' is not a source"),
    ],
)
def test_what_is_wrong_has_its_place(clause: str, at: str, said: str) -> None:
    with pytest.raises(FreshviewError) as e:
        source(clause)
    assert str(e.value).startswith(f"<text>:{at}: "), str(e.value)
    assert said in str(e.value)


def test_what_never_ends_is_no_static_table() -> None:
    with pytest.raises(FreshviewError, match="is a static table, and RATE never ends"):
        source("RATE (rows_per_second := 1)", "(value INT)", "TABLE")


def test_replacing_rows_needs_a_key() -> None:
    with pytest.raises(FreshviewError, match="has no primary key that tells which row"):
        source("JSON 'a' (changes := 'upsert')", "(id INT)")
    with pytest.raises(FreshviewError, match="does not change; write CREATE STREAM"):
        source("JSON 'a' (changes := 'upsert')", what="TABLE")
