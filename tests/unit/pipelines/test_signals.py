"""Signals between the views of a pipeline say what they say in one process."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import freshview as fv
from freshview import signal as sg
from freshview.spark.signal.query import SparkSignalQuery

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

SQL = """
CREATE STREAM raw (sensor INT NOT NULL, time INT NOT NULL, value DOUBLE NOT NULL);
CREATE STREAM sensors (sensor INT PRIMARY KEY, room STRING NOT NULL);
CREATE VIEW known AS
  SELECT r.sensor, r.time, r.value FROM raw r, sensors s WHERE r.sensor = s.sensor;
"""
PEAKS = """
CREATE VIEW peaks AS
  SELECT s.room, COUNT(*) AS n, MAX(l.value) AS peak FROM levels l, sensors s
  WHERE l.sensor = s.sensor GROUP BY s.room;
"""
EVEN = sg.stream("readings", key="sensor").to_signal().sample(10, policy=sg.linear(60))
SMOOTH = sg.stream("levels", key="sensor").to_signal().sample(10).fir([0.5, 0.5])


def pipeline(folder: Path, spark: Any) -> fv.Pipeline:
    (folder / "script.sql").write_text(SQL)
    flow = fv.pipeline(folder / "script.sql", spark, checkpoint=folder / "checkpoint", workers=2)
    flow.signal(EVEN, {"readings": "known"}, view="levels", workers=2)
    flow.declare(PEAKS)
    flow.signal(SMOOTH, "levels", view="smooth", workers=2)
    return flow


def database() -> fv.Database:
    db = fv.connect()
    db.execute(SQL)
    sg.over(db, EVEN, {"readings": "known"}, view="levels")
    db.execute(PEAKS)
    sg.over(db, SMOOTH, "levels", view="smooth")
    return db


def batches(seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows = [
        (s, t * 5, float(rng.standard_normal()))
        for s in range(4)
        for t in range(30)
        if rng.random() < 0.6
    ]
    rng.shuffle(rows)
    rooms = [((s, f"room {s % 2}"), 1) for s in range(3)]
    come = [[((int(s), int(t), v), 1) for s, t, v in rows[k::3]] for k in range(3)]
    gone = [(row, -1) for row, _ in come[0][::5]]
    moved = [((0, "room 0"), -1), ((3, "room 0"), 1)]
    return [
        {"raw": come[0]},
        {"sensors": rooms, "raw": come[1]},
        {"raw": gone},
        {"sensors": moved, "raw": come[2]},
    ]


def contents(source: Any) -> dict[str, Counter[Any]]:
    return {n: Counter(source.view(n).rows()) for n in ("known", "levels", "peaks", "smooth")}


@pytest.mark.parametrize("seed", range(2))
def test_a_pipeline_says_what_a_database_says(seed: int, tmp_path: Path, spark: Any) -> None:
    flow, db = pipeline(tmp_path, spark), database()
    for number, batch in enumerate(batches(seed)):
        flow.push(batch)
        db.apply(batch)
        assert contents(flow) == contents(db)
        if number == 1 + seed:
            flow.stop()
            flow = pipeline(tmp_path, spark)
            flow.start()
            assert contents(flow) == contents(db)
    assert all(contents(flow).values())
    flow.stop()


def test_a_driver_that_died_behind_a_version_catches_up(
    tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow, db = pipeline(tmp_path, spark), database()
    first, second, *_ = batches(3)
    flow.push(first)
    with monkeypatch.context() as broken:
        broken.setattr(SparkSignalQuery, "push", _fail)
        with pytest.raises(fv.FreshviewError, match="a listener failed"):
            flow.push(second)
    assert not flow.view("levels").rows()
    flow.stop()
    flow = pipeline(tmp_path, spark)
    flow.start()
    for batch in (first, second):
        db.apply(batch)
    assert contents(flow) == contents(db)
    flow.stop()


def _fail(query: object, data: object) -> None:
    raise RuntimeError("the driver dies here")


def test_rows_that_are_refused_are_tried_again(tmp_path: Path, spark: Any) -> None:
    (tmp_path / "script.sql").write_text(SQL)
    flow = fv.pipeline(tmp_path / "script.sql", spark, workers=2)
    link = flow.signal(EVEN, "known", view="levels", workers=2)
    with pytest.raises(fv.FreshviewError, match="does not run"):
        link.result()
    flow.push({"sensors": [(1, "hall")], "raw": [(1, 0, 1.0), (1, 10, 2.0)]})
    assert len(link.result()) == 2
    with pytest.warns(fv.FreshviewWarning, match="does not follow version"):
        flow.push({"raw": [(1, 10, 7.0), (1, 20, 3.0)]})
    assert "overlap" in str(link.problem)
    assert len(flow.view("levels").rows()) == 2
    flow.push({"raw": [((1, 10, 7.0), -1)]})
    assert link.problem is None
    assert sorted(flow.view("levels").rows()) == [(1, 0, 1.0), (1, 10, 2.0), (1, 20, 3.0)]
    with pytest.raises(fv.FreshviewError, match="declare everything before the start"):
        flow.signal(EVEN, "known", view="more")
    flow.stop()


CALLS = f"""{SQL}
CREATE VIEW levels AS
  SELECT * FROM interpolate(known, key => sensor, period => 10, within => 60);
{PEAKS}
CREATE VIEW smooth AS
  SELECT * FROM fir(levels, key => sensor, period => 10, taps => (0.5, 0.5));
CREATE VIEW gaps AS SELECT sensor, length FROM gaps(raw, key => sensor, longer_than => 9);
"""


def test_table_functions_say_what_they_say_in_a_database(tmp_path: Path, spark: Any) -> None:
    (tmp_path / "script.sql").write_text(CALLS)
    db = fv.connect()
    db.execute(CALLS)
    flow = fv.pipeline(tmp_path / "script.sql", spark, workers=2)
    with pytest.raises(fv.FreshviewError, match=r"<text>:2:15: fir\(\) needs 'period'"):
        flow.declare(
            "CREATE VIEW a AS SELECT time FROM raw; CREATE VIEW c AS\n"
            "SELECT * FROM fir(raw, taps => 1)"
        )
    for batch in batches(7):
        flow.push(batch)
        db.apply(batch)
        assert contents(flow) == contents(db)
        assert Counter(flow.view("gaps").rows()) == Counter(db.view("gaps").rows())
    assert flow.view("gaps").rows()
    flow.stop()
