"""Signal queries over views of a database, and their results as views that SQL reads."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import freshview as fv
from freshview import signal as sg
from tests.law import signals as law

SCRIPT = """
CREATE STREAM readings (sensor INT NOT NULL, time INT NOT NULL, `end` INT NOT NULL, value DOUBLE);
CREATE STREAM sensors (sensor INT NOT NULL, bad BOOLEAN NOT NULL);
CREATE VIEW clean AS
  SELECT r.sensor, r.time, r.`end`, r.value FROM readings r, sensors s
  WHERE r.sensor = s.sensor AND NOT s.bad;
"""


def database(**options: Any) -> fv.Database:
    db = fv.connect(engine="reference", **options)
    db.execute(SCRIPT)
    return db


def rows(view: Any) -> list[Any]:
    return sorted(view.rows(), key=repr)


def expected(plan: Any, table: Any) -> list[Any]:
    columns = plan.over(table).to_numpy()
    return sorted(zip(*(c.tolist() for c in columns.values()), strict=True), key=repr)


def curve(s: sg.Stream) -> sg.UniformSignal:
    return s.to_signal().sample(3, 1, sg.linear(40)).fir([0.5, 0.5])


@pytest.mark.parametrize("seed", range(3))
def test_a_query_follows_a_view_that_joins_and_filters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    db, plan = database(), curve(law.readings())
    first, *batches = law.history(rng, law.signal_events(rng, 4, 25))
    db.insert("sensors", [(k, k == 2) for k in range(4)])
    db.apply({"readings": first})
    link = sg.over(db, plan, "clean", view="smooth")
    db.execute("CREATE VIEW means AS SELECT sensor, COUNT(*) AS n FROM smooth GROUP BY sensor")
    changes: list[int] = []
    db.view("means").subscribe(lambda version, table: changes.append(version))
    for number, batch in enumerate(batches):
        db.apply({"readings": batch})
        if number % 4 == 3:  # a sensor goes bad, or well again
            was = bool(number % 8 == 7)
            db.apply({"sensors": [((1, was), -1), ((1, not was), 1)]})
        shown = db.view("smooth").rows()
        assert sorted(shown, key=repr) == expected(plan, db.view("clean").to_arrow())
        law.assert_identical(link.result(), plan.over(db.view("clean").to_arrow()))
        counts: dict[int, int] = {}
        for row in shown:
            counts[row[0]] = counts.get(row[0], 0) + 1
        assert dict(db.view("means").rows()) == counts
    assert changes


def test_two_views_change_in_one_version() -> None:
    db = fv.connect(engine="reference")
    db.execute("""
        CREATE STREAM r (sensor INT NOT NULL, time INT NOT NULL, value DOUBLE NOT NULL);
        CREATE VIEW low AS SELECT sensor, time, value FROM r WHERE value < 0;
        CREATE VIEW high AS SELECT sensor, time, value FROM r WHERE value >= 0;
    """)
    left, right = (sg.stream(n, key="sensor").to_signal().sample(1) for n in ("low", "high"))
    plan = left.plus(right.shift(1))
    link = sg.over(db, plan, {"low": "low", "high": "high"}, view="both")
    calls: list[int] = []
    db.view("both").subscribe(lambda version, changes: calls.append(version))
    db.insert("r", [(1, t, (-1.0) ** t * t) for t in range(1, 10)])
    tables = {n: db.view(n).to_arrow() for n in ("low", "high")}
    law.assert_identical(link.result(), plan.over(tables))
    assert rows(db.view("both")) == expected(plan, tables)
    assert len(calls) == 1, "a version of two views is one change of the result"


def test_arrays_are_rows_with_positions() -> None:
    db = database()
    db.insert("sensors", (7, False))
    plan = law.readings().to_signal().sample(1).windows(4, 4).fft().arrays()
    link = sg.over(db, plan, "clean", view="spectra")
    db.insert("readings", [(7, t, t + 1, float(t * t)) for t in range(10)])
    columns = link.result().to_numpy()
    want = [
        (7, int(t), k, float(x.real), float(x.imag))
        for t, array in zip(columns["time"], columns["value"], strict=True)
        for k, x in enumerate(array)
    ]
    assert db.view("spectra").columns == ("sensor", "time", "position", "value_re", "value_im")
    assert rows(db.view("spectra")) == sorted(want, key=repr)
    assert len(want) == 8


def test_times_keep_their_type_and_what_is_not_finite_is_null() -> None:
    db = fv.connect(engine="reference")
    db.execute("""
        CREATE STREAM r (name STRING NOT NULL, at TIMESTAMP NOT NULL, price DECIMAL(8, 2) NOT NULL);
        CREATE VIEW v AS SELECT name, at, price FROM r;
    """)
    source = sg.stream("v", {"name": "string", "price": "double"}, key="name", time="at")
    plan = source.to_signal().as_of(source.shift(1).to_signal(), tolerance=0, keep=True)
    sg.over(db, plan, "v", view="pairs")
    start = datetime(2026, 1, 1)
    db.insert("r", [("a", start, 1), ("a", start + timedelta(microseconds=1), Decimal("2.5"))])
    assert db.view("pairs").columns == ("name", "time", "end", "price_1", "price_2")
    one, two, three = (start + timedelta(microseconds=k) for k in range(3))
    assert rows(db.view("pairs")) == [("a", one, two, 1.0, None), ("a", two, three, 2.5, 1.0)]


def test_a_view_that_is_refused_is_followed_again_once_it_is_right() -> None:
    db = database()
    db.insert("sensors", (1, False))
    plan = law.readings().to_signal().sample(2)
    link = sg.over(db, plan, "clean", view="even")
    db.insert("readings", (1, 0, 4, 1.0))
    with pytest.warns(fv.FreshviewWarning, match="overlap"):
        db.insert("readings", (1, 2, 6, 2.0))
    with pytest.raises(sg.BadSignal, match="the views have rows that the query refuses"):
        link.result()
    with pytest.warns(fv.FreshviewWarning, match="overlap"):
        db.insert("readings", (1, 8, 9, 3.0))
    assert len(rows(db.view("even"))) == 2
    db.delete("readings", (1, 0, 4, 1.0))
    law.assert_identical(link.result(), plan.over(db.view("clean").to_arrow()))
    assert rows(db.view("even")) == [(1, 2, 2.0), (1, 4, 2.0), (1, 8, 3.0)]


def test_a_database_goes_on_from_a_snapshot(tmp_path: Any) -> None:
    db, plan = database(), curve(law.readings())
    db.insert("sensors", (1, False))
    db.insert("readings", [(1, t, t + 2, float(t)) for t in range(0, 30, 4)])
    sg.over(db, plan, "clean", view="smooth")
    db.snapshot(tmp_path / "saved")
    again = fv.restore(tmp_path / "saved")
    again.delete("readings", (1, 12, 14, 12.0))
    link = sg.over(again, plan, "clean", view="smooth")
    again.insert("readings", (1, 40, 41, 5.0))
    assert rows(again.view("smooth")) == expected(plan, again.view("clean").to_arrow())
    link.close()
    again.insert("readings", (1, 50, 51, 5.0))
    assert rows(again.view("smooth")) != expected(plan, again.view("clean").to_arrow())


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"other": "clean"}, "there are views for other"),
        ({"readings": "sensors"}, "sensors"),
        ("bare", "'bare' has no column 'time', which 'readings' needs"),
    ],
)
def test_what_does_not_fit_is_refused(inputs: Any, problem: str) -> None:
    db = database()
    db.execute("CREATE VIEW bare AS SELECT sensor FROM sensors")
    with pytest.raises(fv.FreshviewError, match=problem):
        sg.over(db, curve(law.readings()), inputs)


def test_a_key_has_one_type() -> None:
    left = sg.stream("a", key="k").to_signal()
    right = sg.stream("b", {"k": "string", "value": "double"}, key="k").to_signal()
    with pytest.raises(sg.BadSignal, match="the key 'k' is an integer in one input"):
        (left + right).query()
