"""Table functions in FROM are the plans of Python, and their results are relations like others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import freshview as fv
from freshview import signal as sg
from freshview.cli.app import app
from freshview.sql.load import load
from freshview.sql.parse.table_calls import TABLE_FUNCTIONS

READINGS = "CREATE STREAM readings (sensor INT NOT NULL, time INT NOT NULL, value DOUBLE NOT NULL);"

FINE = sg.stream("readings", key="sensor").to_signal()
REGULAR = FINE.sample(5)

CALLS: dict[str, Any] = {
    "sample(readings, key => sensor, period => 5)": REGULAR,
    "sample(readings, key => sensor, period => 10, offset => 5)": FINE.sample(10, 5),
    "sample(readings, key => sensor, period => 2, within => 20)": FINE.sample(
        2, policy=sg.linear(20)
    ),
    "interpolate(readings, key => sensor, period => 1, within => 9)": FINE.sample(
        1, policy=sg.linear(9)
    ),
    "interpolate(readings, key => sensor, period => 1, by => last, within => 9)": FINE.sample(
        1, policy=sg.last(9)
    ),
    "interpolate(readings, key => sensor, period => 1, by => 'zero', within => 9)": FINE.sample(
        1, policy=sg.constant(0.0, 9)
    ),
    "resample(readings, key => sensor, every => 5, period => 2, within => 10)": REGULAR.resample(
        2, 0, sg.linear(10)
    ),
    "fir(readings, key => sensor, period => 5, taps => (0.5, -1, 0.25))": REGULAR.fir(
        [0.5, -1.0, 0.25]
    ),
    "fir(readings, key => sensor, period => 5, taps => 2, missing => invalid)": REGULAR.fir(
        [2.0], "invalid"
    ),
    "iir(readings, key => sensor, period => 5, b => (0.2, 0.3), a => (1, -0.4))": REGULAR.iir(
        [0.2, 0.3], [1.0, -0.4]
    ),
    "correlate(readings, key => sensor, period => 5, pattern => (1, 2))": REGULAR.correlate(
        [1.0, 2.0]
    ),
    "ema(readings, key => sensor, alpha => 0.5)": FINE.ema(0.5),
    "moving(readings, key => sensor, period => 5, size => 3)": REGULAR.mean(3),
    "moving(readings, key => sensor, period => 5, size => 4, hop => 2, aggregate => max)": (
        REGULAR.max(4, 2)
    ),
    "moving(readings, key => sensor, period => 5, size => 4, quantile => 0.25)": (
        REGULAR.quantile(0.25, 4)
    ),
    "zscore(readings, key => sensor, period => 5, size => 4)": REGULAR.zscore(4),
    "fft(readings, key => sensor, period => 5, size => 4)": REGULAR.windows(4, 4).fft().arrays(),
    "real_fft(readings, key => sensor, period => 5, size => 4, hop => 2)": (
        REGULAR.windows(4, 2).real_fft().arrays()
    ),
    "psd(readings, key => sensor, period => 5, size => 4, rate => 10)": (
        REGULAR.windows(4, 4).psd(10).arrays()
    ),
    "autocorrelation(readings, key => sensor, period => 5, size => 4)": (
        REGULAR.windows(4, 4).autocorrelation().arrays()
    ),
    "gaps(readings, key => sensor, longer_than => 7)": FINE.gaps(7),
    "sessions(readings, key => sensor, timeout => 7)": FINE.sessions(7),
}


def test_every_function_is_tried() -> None:
    assert {call.partition("(")[0] for call in CALLS} == TABLE_FUNCTIONS


def batches(seed: int) -> list[list[tuple[tuple[int, int, float], int]]]:
    rng = np.random.default_rng(seed)
    rows = {
        (s, t * 5): float(rng.standard_normal())
        for s in range(3)
        for t in range(30)
        if rng.random() < 0.8
    }
    order = [((s, t, v), 1) for (s, t), v in rows.items()]
    rng.shuffle(order)
    gone = [(row, -1) for row, _ in order[::9]]
    again = [((s, t, v + 1), 1) for (s, t, v), _ in gone[::2]]
    return [order[:40], order[40:], gone, again]


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_the_plan_of_python(call: str) -> None:
    db, other = fv.connect(), fv.connect()
    db.execute(f"{READINGS} CREATE VIEW answer AS SELECT * FROM {call} f;")
    other.execute(f"{READINGS} CREATE VIEW inputs AS SELECT * FROM readings;")
    sg.over(other, CALLS[call], {"readings": "inputs"}, view="answer")
    for batch in batches(1):
        db.apply({"readings": batch})
        other.apply({"readings": batch})
        rows = db.view("answer").rows()
        assert Counter(rows) == Counter(other.view("answer").rows())
    assert rows
    assert db.view("answer").columns == other.view("answer").columns
    assert Counter(db.sql(f"SELECT * FROM {call}").rows()) == Counter(rows)


SCRIPT = f"""{READINGS}
CREATE STREAM sensors (sensor INT PRIMARY KEY, room STRING NOT NULL);
CREATE VIEW near AS SELECT r.* FROM readings r, sensors s WHERE r.sensor = s.sensor;
CREATE VIEW rooms AS
  SELECT s.room, COUNT(*) AS n, MAX(f.value) AS top
  FROM fir(near, key => sensor, period => 5, taps => (0.5, 0.5)) f
    JOIN sensors s ON f.sensor = s.sensor
  GROUP BY s.room;
CREATE VIEW lines AS
  SELECT * FROM interpolate(near, key => sensor, period => 1, within => 30);
CREATE VIEW long AS SELECT * FROM moving(lines, key => sensor, period => 1, size => 4)"""


def filled(db: Any) -> Any:
    db.insert("sensors", [(0, "hall"), (1, "attic")])
    for batch in batches(2):
        db.apply({"readings": batch})
    return db


def contents(db: Any) -> dict[str, Counter[Any]]:
    return {v.name: Counter(v.rows()) for v in db.views if "(" not in v.name}


def test_views_of_calls_join_chain_and_start_with_what_is_there() -> None:
    db = fv.connect()
    first, _, rest = SCRIPT.partition("CREATE VIEW rooms")
    db.execute(first)
    filled(db)
    views = db.execute(f"CREATE VIEW rooms{rest}")
    assert [v.name for v in views] == ["rooms", "lines", "long"]
    whole = fv.connect()
    whole.execute(SCRIPT)
    assert contents(filled(whole)) == contents(db)
    assert {name for name, rows in contents(db).items() if rows} == {
        "near",
        "rooms",
        "lines",
        "long",
    }
    db.delete("sensors", (1, "attic"))
    assert [row[0] for row in db.view("rooms").rows()] == ["hall"]


def test_a_snapshot_goes_on(tmp_path: Path) -> None:
    db = fv.connect()
    db.execute(SCRIPT)
    filled(db)
    db.snapshot(tmp_path / "saved")
    again = fv.restore(tmp_path / "saved")
    assert contents(again) == contents(db)
    for each in (db, again):
        each.insert("readings", [(0, 1000, 1.0), (0, 1005, 3.0)])
    assert contents(again) == contents(db)
    assert again.sql("SELECT MAX(time) AS t FROM long").rows() == [(1005,)]


def test_what_no_view_reads_is_dropped() -> None:
    db = fv.connect()
    db.execute(READINGS)
    db.insert("readings", [(1, 0, 1.0), (1, 5, 2.0)])
    call = "fir(readings, key => sensor, period => 5, taps => 2)"
    db.execute(
        f"CREATE VIEW a AS SELECT time FROM {call}; CREATE VIEW b AS SELECT value FROM {call}"
    )
    assert len(db.catalog.relations) == 2
    db.execute("DROP VIEW a")
    db.insert("readings", (1, 10, 3.0))
    assert sorted(db.view("b").rows()) == [(2.0,), (4.0,), (6.0,)]
    assert db.sql("SELECT SUM(length) AS n FROM gaps(readings, longer_than => 0)").rows() == [(8,)]
    db.execute("DROP VIEW b")
    assert list(db.catalog.relations) == ["readings"]
    assert not db.catalog.views
    db.execute("DROP STREAM readings")


BAD = [
    ("fir(readings, key => sensr, period => 5, taps => 1)", "no column 'sensr'"),
    ("fir(readings, key => sensor, taps => 1)", "needs 'period'"),
    ("fir(readings, period => 5, taps => 1, wide => 3)", "no argument 'wide'"),
    ("fir(readings, period => five, taps => 1)", "'period' of fir() is five; give an integer"),
    ("fir(readings, period => 0, taps => 1)", "the period of a signal is 0"),
    ("fir(readings, period => 5, taps => (1, x))", "'taps' of fir() is x; give numbers"),
    ("fir(readings, period => 5, taps => 1, missing => one)", "give one of zero, invalid"),
    ("fir(readings, time => value, period => 5, taps => 1)", "is of type double"),
    ("fir(nothing, period => 5, taps => 1)", "there is no table, stream or view 'nothing'"),
    ("fir(readings, 5)", "expected a name but found '5'"),
    ("fir(readings, period = 5)", "the arguments of fir have names"),
    ("fir(readings)", "fir has no arguments"),
    ("fir(readings, period => 5, period => 6)", "'period' is given twice"),
    ("ema(readings, alpha => 2)", "the alpha of an average cannot be 2"),
    ("sample(readings, period => 5)", "two events of the only group overlap"),
]


@pytest.mark.parametrize(("call", "problem"), BAD)
def test_errors_name_the_place_and_leave_nothing(call: str, problem: str) -> None:
    db = fv.connect()
    db.execute(READINGS)
    db.insert("readings", [(1, 0, 1.0), (2, 0, 2.0)])
    for text in (f"CREATE VIEW v AS\nSELECT *\n FROM {call}", f"\n\nSELECT * FROM {call}"):
        with pytest.raises(fv.FreshviewError) as raised:
            db.sql(text)
        assert problem in str(raised.value)
        assert raised.value.at is not None
        assert raised.value.at.line == 3
    assert list(db.catalog.relations) == ["readings"]
    assert not db.catalog.views


def test_where_calls_cannot_stand() -> None:
    db = fv.connect()
    db.execute(f"{READINGS} CREATE VIEW v AS SELECT sensor FROM readings;")
    call = "gaps(readings, key => sensor, longer_than => 1)"
    for text, problem in (
        (f"INSERT INTO readings SELECT * FROM {call}", "in a statement that is no view"),
        (f"CREATE OR REPLACE VIEW v AS SELECT sensor FROM {call}", "OR REPLACE of a view"),
    ):
        with pytest.raises(fv.FreshviewError, match=problem):
            db.sql(text)
    with pytest.raises(fv.FreshviewError, match=r"the table function gaps\(\) is not supported"):
        load(f"{READINGS} SELECT * FROM {call}")


def test_a_column_may_have_the_name_of_a_function() -> None:
    db = fv.connect()
    db.execute("CREATE STREAM r (ema INT NOT NULL, gaps INT NOT NULL)")
    db.insert("r", (1, 2))
    assert db.sql("SELECT ema, (gaps) AS fir FROM r WHERE ema IN (1)").rows() == [(1, 2)]


def test_the_command_runs_calls(tmp_path: Path) -> None:
    (tmp_path / "readings.csv").write_text("1,0,2\n1,5,4\n1,10,6\n")
    script = tmp_path / "script.sql"
    script.write_text(
        "CREATE STREAM readings (sensor INT NOT NULL, time INT NOT NULL, value DOUBLE NOT NULL)\n"
        "  FROM FILE 'readings.csv' LINE DELIMITED CSV;\n"
        "CREATE VIEW smooth AS\n"
        "  SELECT time, value FROM fir(readings, key => sensor, period => 5, taps => (0.5, 0.5));\n"
    )
    result = CliRunner().invoke(app, ["run", str(script), "--engine", "process"])
    assert result.exit_code == 0, result.output
    assert "smooth" in result.output
    assert "readings(" not in result.output
    assert "5.0" in result.output
