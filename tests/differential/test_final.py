"""EMIT FINAL: rows come once their window is over, never change, and leave no state behind."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import freshview
from freshview.errors import FreshviewError
from freshview.runtime.database import expiry
from tests.differential.final_worlds import FINAL_SCRIPT, MINUTES, START, STREAM, FinalWorld

ENGINES: list[Any] = [
    "reference",
    pytest.param("native", marks=pytest.mark.native),
    pytest.param("auto", marks=pytest.mark.native),
]


def opened(**options: Any) -> Any:
    db = freshview.connect(**options)
    db.execute(FINAL_SCRIPT)
    return db


def world(seed: int, db: Any) -> FinalWorld:
    return FinalWorld(seed, lambda rows: db.apply({"s": rows}), lambda: db.view("minutes").rows())


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_are_those_of_the_windows_that_are_over(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiry, "FEWEST", 8)
    for seed in range(3):
        world(seed, opened(engine=engine)).run(40)


def test_a_promise_makes_rows_final(tmp_path: Path) -> None:
    db = opened(engine="reference")
    db.insert("s", [(START, 1, 5)])
    assert not db.view("minutes").rows()
    db.snapshot(tmp_path / "saved")
    for one in (db, freshview.restore(tmp_path / "saved")):
        one.advance("s", START + timedelta(minutes=1))
        assert [row[2:] for row in one.view("minutes").rows()] == [(1, 1, 5, 5)]
        one.insert("s", [(START, 1, 6)])
        assert one.event_time("s").late == 1


def test_a_later_view_is_final_too() -> None:
    db = freshview.connect(engine="reference")
    db.execute(STREAM)
    db.insert("s", [(START + timedelta(minutes=m), 1, m) for m in range(5)])
    (view,) = db.execute(f"CREATE VIEW minutes AS {MINUTES}")
    db.insert("s", [(START + timedelta(minutes=9), 1, 9)])
    assert len(view.rows()) == 5


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT k FROM s EMIT FINAL", "without one window of time"),
        (
            "SELECT window.start FROM s GROUP BY window(ts + INTERVAL '1' DAY, '1 minute') "
            "EMIT FINAL",
            "over another time than 'ts'",
        ),
        (
            "SELECT window.start FROM s JOIN s b USING (k) GROUP BY window(s.ts, '1 minute') "
            "EMIT FINAL",
            "over one stream with a watermark",
        ),
    ],
)
def test_what_is_refused(sql: str, message: str) -> None:
    db = freshview.connect(engine="reference")
    db.execute(STREAM)
    with pytest.raises(FreshviewError, match=message):
        db.execute(sql)
