"""The clock of a database: it is moved by its user, kept by snapshots, and asked by queries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import freshview
from freshview.calculus.clock import CLOCK, FIRST, MOST_STEPS
from freshview.errors import FreshviewError

NOON = datetime(2024, 1, 1, 12)
SCRIPT = (
    "CREATE STREAM r (k INT, ts TIMESTAMP);"
    "CREATE VIEW recent AS SELECT k FROM r WHERE ts > now() - INTERVAL 1 HOUR"
)


def test_a_snapshot_keeps_the_clock(tmp_path: Path) -> None:
    db = freshview.connect(engine="reference")
    db.execute(SCRIPT)
    db.insert("r", [(1, NOON), (2, NOON + timedelta(hours=1))])
    db.advance_clock(NOON + timedelta(minutes=30))
    db.snapshot(tmp_path / "saved")
    other = freshview.restore(tmp_path / "saved")
    assert other.clock == db.clock == NOON + timedelta(minutes=30)
    other.advance_clock(NOON + timedelta(minutes=60))
    assert (db.view("recent").rows(), other.view("recent").rows()) == ([(1,), (2,)], [(2,)])


def test_steps_are_folded() -> None:
    db = freshview.connect(engine="reference")
    db.execute(SCRIPT)
    db.insert("r", [(i, NOON + timedelta(minutes=i)) for i in range(3 * MOST_STEPS)])
    for i in range(3 * MOST_STEPS):
        db.advance_clock(NOON + timedelta(hours=1, minutes=i))
        assert len(db.view("recent").rows()) == 3 * MOST_STEPS - i - 1
        assert len(db.state.bases[CLOCK.name].rows) <= MOST_STEPS


def test_a_clock_stands_before_views_ask_it() -> None:
    db = freshview.connect(engine="reference")
    assert db.clock == FIRST
    db.execute("CREATE STREAM r (k INT, ts TIMESTAMP)")
    db.insert("r", [(1, NOON)])
    with pytest.raises(FreshviewError, match="a clock that nobody has set"):
        db.sql("SELECT k FROM r WHERE ts > now()")
    db.advance_clock(NOON)
    assert db.sql("SELECT k FROM r WHERE ts > now()").rows() == []
    (view,) = db.execute("SELECT k FROM r WHERE ts >= now()")
    assert view.rows() == [(1,)]


def test_a_clock_is_set_to_later_moments() -> None:
    db = freshview.connect(engine="reference")
    db.advance_clock(NOON)
    db.advance_clock(NOON)
    with pytest.raises(FreshviewError, match="never goes back"):
        db.advance_clock(NOON - timedelta(seconds=1))
    with pytest.raises(FreshviewError, match="without a zone"):
        db.advance_clock(NOON.replace(tzinfo=UTC))
    assert db.clock == NOON
