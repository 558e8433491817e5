"""Rows at the door of a stream with an event time, in every form in which they come."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import freshview as fv
from freshview.errors import BadRow, FreshviewError

STREAM = "CREATE STREAM s (t BIGINT NOT NULL, k BIGINT NOT NULL, WATERMARK FOR t AS t - 5);"
VIEW = "CREATE VIEW v AS SELECT t, k FROM s;"


def at_twenty(**options: Any) -> fv.Database:
    """A database whose stream has its watermark at 15."""
    db = fv.connect(engine="reference", **options)
    db.execute(STREAM + VIEW)
    db.insert("s", [(20, 0), (3, 0)])  # rows of one change are not late for each other
    return db


FORMS = [
    pytest.param([(14, 1), (15, 2)], id="rows"),
    pytest.param([{"k": 1, "t": 14}, {"k": 2, "t": 15}], id="mappings"),
    pytest.param({"t": [14, 15], "k": [1, 2]}, id="lists by column"),
    pytest.param({"t": np.array([14, 15]), "k": np.array([1, 2])}, id="arrays"),
    pytest.param(pa.table({"k": [1, 2], "T": [14, 15]}), id="table"),
    pytest.param(pa.RecordBatch.from_pydict({"t": [14, 15], "k": [1, 2]}), id="batch"),
    pytest.param(
        pa.table({"t": pa.array([14, 15]).dictionary_encode(), "k": [1, 2]}), id="dictionary"
    ),
]


@pytest.mark.parametrize("rows", FORMS)
def test_late_rows_are_set_aside_in_every_form(rows: Any) -> None:
    db = at_twenty()
    db.insert("s", rows)
    assert sorted(db.view("v").rows()) == [(3, 0), (15, 2), (20, 0)]
    time = db.event_time("s")
    assert (time.watermark, time.late, time.rows) == (15, 1, (((14, 1), 1),))


@pytest.mark.parametrize("counts", [[2, 3], np.array([2, 3])])
def test_counts_go_with_their_rows(counts: Any) -> None:
    db = at_twenty()
    db.apply({"s": (pa.table({"t": [14, 15], "k": [1, 2]}), counts)})
    assert sorted(db.view("v").rows()) == [(3, 0), *[(15, 2)] * 3, (20, 0)]
    assert db.event_time("s").late == 2


def test_a_deletion_may_come_too_late() -> None:
    db = at_twenty()
    db.delete("s", (3, 0))
    assert (3, 0) in db.view("v").rows()
    assert db.event_time("s").rows == (((3, 0), -1),)
    db.delete("s", (20, 0))
    assert db.view("v").rows() == [(3, 0)]


def test_single_rows_by_a_writer() -> None:
    db = at_twenty()
    writer = db.writer("s")
    writer.insert(10, 1)
    writer.insert(30, 1)
    writer.insert(24, 1)
    assert (db.event_time("s").watermark, db.event_time("s").late) == (25, 2)


def test_a_change_that_is_refused_leaves_time_alone() -> None:
    db = at_twenty()
    for rows in ([(50, 1), (None, 1)], [(50, 1), ("x", 2)], [(50,)], [(50, 1, 2)]):
        with pytest.raises(BadRow):
            db.insert("s", rows)
    with pytest.raises(BadRow, match="does not hold"):
        db.apply({"s": [((60, 1), 1), ((40, 9), -1), ((14, 1), 1)]})
    time = db.event_time("s")
    assert (time.watermark, time.late) == (15, 0)


def test_a_promise_moves_the_watermark_on_and_never_back() -> None:
    db = at_twenty()
    db.advance("s", 18)
    db.advance("s", 2)
    db.insert("s", [(17, 1), (18, 1)])
    assert (db.event_time("s").watermark, db.event_time("s").late) == (18, 1)
    with pytest.raises(BadRow, match="the watermark of 's' cannot be 'noon'; give a int"):
        db.advance("s", "noon")


def test_a_stream_without_event_time_says_so() -> None:
    db = fv.connect(engine="reference")
    db.execute("CREATE STREAM s (t BIGINT)")
    for call in (lambda: db.event_time("s"), lambda: db.advance("s", 3)):
        with pytest.raises(FreshviewError, match="'s' has no event time; declare it"):
            call()


@pytest.mark.parametrize(
    ("declared", "rows", "watermark"),
    [
        ("DATE NOT NULL, WATERMARK FOR t AS t - 1", [date(2024, 3, 1)], date(2024, 2, 29)),
        ("DATE NOT NULL, WATERMARK FOR t AS t - 1", [date.min], date.min),
        (
            "TIMESTAMP NOT NULL, WATERMARK FOR t AS t - INTERVAL 1 MINUTE",
            [datetime(2024, 1, 1), datetime(2023, 1, 1)],
            datetime(2023, 12, 31, 23, 59),
        ),
        ("DOUBLE NOT NULL, WATERMARK FOR t AS t - 0.5", [3], 2.5),
        ("BIGINT NOT NULL, WATERMARK FOR t AS t - 5", [-(2**63) + 2], -(2**63) + 1),
    ],
)
def test_watermarks_of_other_types(
    tmp_path: Path, declared: str, rows: list[Any], watermark: Any
) -> None:
    db = fv.connect(engine="reference")
    db.execute(f"CREATE STREAM s (t {declared}); CREATE VIEW v AS SELECT t FROM s")
    db.insert("s", {"t": rows})
    assert db.event_time("s").watermark == watermark
    db.snapshot(tmp_path)
    again = fv.restore(tmp_path)
    assert again.event_time("s").watermark == watermark


def test_a_snapshot_keeps_the_watermark_and_the_number_of_late_rows(tmp_path: Path) -> None:
    db = at_twenty()
    db.insert("s", (1, 1))
    db.snapshot(tmp_path)
    again = fv.restore(tmp_path)
    again.insert("s", (14, 1))
    assert (again.event_time("s").watermark, again.event_time("s").late) == (15, 2)


def test_products_are_refused() -> None:
    from freshview.runtime.ingest.products import Product

    db = fv.connect(engine="reference")
    db.execute(STREAM + VIEW)
    product = Product({"t": [1]}, {"k": [2]})
    with pytest.raises(BadRow, match="products of 's' cannot be held against its watermark"):
        db.apply({"s": product})
