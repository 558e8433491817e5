"""Event time of a pipeline: late rows in the dead letters, watermarks in the log."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from freshview.calculus.schema import Relation
from freshview.errors import FreshviewError
from freshview.pipelines.event_time import SHOWN, check_times, in_time, note_of, watermarks
from freshview.program.expiry import watermark_relation
from freshview.runtime.ingest.columns import COUNT
from freshview.spark.io.decode import DecodedBatch
from freshview.sql.catalog import Catalog
from freshview.sql.load import load
from tests.unit.pipelines.test_pipeline import Crash, Maker, Mortal

SCRIPT = """
CREATE STREAM a (t INT NOT NULL, k INT NOT NULL, WATERMARK FOR t AS t - 3);
CREATE STREAM b (t INT NOT NULL, k INT NOT NULL, WATERMARK FOR t AS t - 3);
"""
VIEW = "SELECT a.t, b.t AS u, b.k FROM a JOIN b ON a.t BETWEEN b.t - 5 AND b.t + 5"


def declared() -> tuple[Catalog, dict[str, Relation], Relation]:
    catalog, _ = load(SCRIPT)
    marks = watermark_relation(catalog.relations.values())
    assert marks is not None
    return catalog, dict(catalog.relations), marks


def batch(*rows: tuple[int, int], count: int = 1) -> DecodedBatch:
    table = pa.table({"t": [t for t, _ in rows], "k": [k for _, k in rows]})
    return DecodedBatch(table.append_column(COUNT, pa.array([count] * len(rows), pa.int64())))


def test_late_rows_are_parted_from_a_batch_by_the_note_before_it() -> None:
    catalog, streams, _ = declared()
    first = in_time({"a": batch((20, 1), (2, 2))}, streams, catalog, {})
    assert not first.late
    note = note_of(first.times)
    for _ in range(2):  # a batch that comes again loses the same rows
        second = in_time({"a": batch((16, 3), (17, 4))}, streams, catalog, note)
        assert second.arrivals["a"].table.to_pylist() == [{"t": 17, "k": 4, COUNT: 1}]
        assert [(r.relation, json.loads(r.row)) for r in second.late] == [("a", {"t": 16, "k": 3})]


def test_views_are_told_of_watermarks_once_all_streams_have_one() -> None:
    catalog, streams, marks = declared()
    one = in_time({"a": batch((20, 1))}, streams, catalog, {})
    assert watermarks([marks], catalog, note_of(one.times)) == ({}, {})
    both = in_time({"b": batch((30, 1))}, streams, catalog, note_of(one.times))
    note = note_of(both.times)
    changes, shown = watermarks([marks], catalog, note)
    assert changes[marks.name].to_pylist() == [{"a": 17, "b": 27, COUNT: 1}]
    assert watermarks([marks], catalog, {**note, SHOWN: shown}) == ({}, shown)


def test_streams_by_key_have_no_watermark() -> None:
    _, streams, _ = declared()
    check_times(streams.values(), [])
    with pytest.raises(FreshviewError, match="'a' has a watermark, and its rows are replaced by"):
        check_times(streams.values(), [streams["a"]])


@pytest.fixture
def make(spark: Any, tmp_path: Path) -> Maker:
    return Maker(spark, tmp_path)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_pipeline_with_a_window_equals_duckdb_after_every_batch(make: Maker) -> None:
    script = f"{SCRIPT} CREATE VIEW v AS {VIEW}"
    duck = duckdb.connect()
    duck.execute("CREATE TABLE a (t BIGINT, k BIGINT); CREATE TABLE b (t BIGINT, k BIGINT)")
    latest = {"a": -3, "b": -3}
    late = 0
    flow = make(script).start()
    for n in range(12):
        if n == 6:
            flow.stop()
            flow = make(script).start()  # the watermarks are those of the checkpoint
        changes = {
            s: [(3 * n - (n * d) % 7, n), *([(3 * n - 11, 7)] if n % 3 == 2 else [])]
            for s, d in (("a", 2), ("b", 3))
        }
        for stream, rows in changes.items():
            in_time = [(t, k) for t, k in rows if t >= latest[stream] - 3]
            late += len(rows) - len(in_time)
            duck.executemany(f"INSERT INTO {stream} VALUES (?, ?)", in_time or [(-99, -99)])
            duck.execute(f"DELETE FROM {stream} WHERE t = -99")
            latest[stream] = max(latest[stream], *(t for t, _ in rows))
        flow.push(changes)
        assert Counter(flow.view("v").rows()) == Counter(duck.execute(VIEW).fetchall())
    assert late
    letters = [f.read_text().splitlines() for f in flow.letters.glob("*/late-*.jsonl")]
    assert sum(map(len, letters)) == late
    program = flow.explain()
    assert "ON BATCH UPDATE OF 'watermark of a, b'" in program
    flow.stop()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_driver_that_dies_finds_the_watermarks_again(
    make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f"{SCRIPT} CREATE VIEW v AS {VIEW}"
    flow = make(script).start()
    flow.push({"a": [(20, 1)], "b": [(20, 1)]})
    monkeypatch.setattr(Mortal, "crash", "after")
    with pytest.raises(Crash):
        flow.push({"a": [(40, 1), (16, 2)]})
    monkeypatch.setattr(Mortal, "crash", "")
    again = make(script).start()
    again.push({"a": [(36, 3), (38, 4)], "b": [(41, 2)]})
    assert sorted(again.view("v").rows()) == [(20, 20, 1), (38, 41, 2), (40, 41, 2)]
    again.stop()
