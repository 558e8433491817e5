"""Views that refuse, when they are filled anew, rows that are there: the others do not suffer."""

from __future__ import annotations

import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import freshview
from freshview.errors import BadValue
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.runtime.database import tiering
from freshview.runtime.database.database import Database

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("native")]

STREAM = "CREATE STREAM r (k BIGINT NOT NULL, s STRING NOT NULL);"
LEAST = "CREATE VIEW least AS SELECT k, CAST(MIN(s) AS BIGINT) AS s FROM r GROUP BY k;"
COUNTS = "CREATE VIEW counts AS SELECT k, COUNT(*) AS n FROM r GROUP BY k;"


def groups(db: Database) -> list[list[str]]:
    return [[v.query.name for v in g.views] for g in db.state.groups]


def engines(db: Database) -> dict[str, str]:
    return {v.name: v.engine for v in db.views}


def follow(db: Database) -> None:
    """Rows whose least string was a number all the time, and is none for some of them."""
    db.insert("r", [(1, "0"), (1, "9z")])
    db.insert("r", [(1, "1")])
    db.delete("r", [(1, "0")])


def wait(db: Database) -> None:
    for job in db._tiering.jobs:
        assert job.wait(120)


@pytest.mark.parametrize("engine", ["native", "auto"])
def test_a_view_is_declared_beside_one_that_cannot_be_filled_anew(engine: Any) -> None:
    db = freshview.connect(engine=engine)
    db.execute(STREAM + LEAST)
    follow(db)
    kernel = db.state.groups[0].engine
    db.execute(COUNTS)
    assert groups(db) == [["least"], ["counts"]]
    assert db.state.groups[0].engine is kernel
    db.insert("r", (2, "7"))
    assert (db.view("least").rows(), db.view("counts").rows()) == (
        [(1, 1), (2, 7)],
        [(1, 2), (2, 1)],
    )


def test_a_kernel_that_cannot_be_filled_leaves_the_views_as_they_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Those of the group that can be filled have a kernel in the end."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tiering, "TIER_UP_ROWS", 5)
    db = freshview.connect()
    db.execute(STREAM + LEAST + COUNTS)
    follow(db)
    assert engines(db) == {"least": "reference", "counts": "reference"}
    for n in range(4):
        db.insert("r", (2, str(n)))
        wait(db)
        assert (db.view("least").rows(), db.view("counts").rows()) == (
            [(1, 1), (2, 0)],
            [(1, 2), (2, n + 1)],
        )
    assert engines(db) == {"least": "reference", "counts": "native"}
    assert "a kernel refuses rows that are there" in db.view("least").explain()


def test_what_is_filled_for_batches_is_explained_and_counted_as_such() -> None:
    db = freshview.connect(engine="native")
    db.execute(STREAM + LEAST + COUNTS)
    follow(db)
    [group] = db.state.groups
    group.reset()
    group.start()
    assert engines(db) == {"least": "reference", "counts": "reference"}
    for view in db.views:
        assert {t.event for t in db.program(view.name).triggers} == {"batch"}
        assert set(view.statistics().rows) == {m.name for m in db.program(view.name).maps}


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("arrow", [True, False])
def test_what_was_followed_is_taken_back_by_the_way_it_came(keep: bool, arrow: bool) -> None:
    """The other way, rows would have values with no answer: nothing would be taken back."""
    db = freshview.connect(engine="native", keep_rows=keep)
    db.execute(STREAM + LEAST)
    db.execute("CREATE STREAM q (k BIGINT NOT NULL, s STRING NOT NULL)")
    db.execute(
        "CREATE VIEW numbers AS SELECT r.k, CAST(q.s AS BIGINT) AS s FROM r, q WHERE r.k = q.k"
    )
    assert groups(db) == [["least", "numbers"]]
    db.insert("r", [(1, "5")])
    db.insert("q", [(1, "2")])
    before = [v.rows() for v in db.views]
    rows: Any = [((1, "0"), 1), ((1, "5"), -1), ((1, "9z"), 1)]
    bad: Any = [((1, "no number"), 1)]
    if arrow:
        rows = pa.record_batch({"k": [1, 1, 1], "s": ["0", "5", "9z"]}), np.array([1, -1, 1])
        bad = pa.record_batch({"k": [1], "s": ["no number"]}), np.array([1])
    for _ in range(2):
        with pytest.raises(BadValue, match="no number"):
            db.apply({"r": rows, "q": bad})
        assert [v.rows() for v in db.views] == before
        assert not keep or db.state.bases["r"].rows == {(1, "5"): 1}
    db.insert("r", [(1, "4")])
    assert db.view("least").rows() == [(1, 4)]
    assert db.view("numbers").rows() == [(1, 2)] * 2


def test_an_engine_by_itself_takes_a_refused_batch_back_by_the_way_it_came() -> None:
    db = freshview.connect(engine="native")
    db.execute(STREAM + LEAST + "CREATE STREAM q (k BIGINT NOT NULL, s STRING NOT NULL);")
    db.execute(
        "CREATE VIEW numbers AS SELECT r.k, CAST(q.s AS BIGINT) AS s FROM r, q WHERE r.k = q.k"
    )
    [group] = db.state.groups
    engine = kernel_engine(group.program)
    engine.apply({"r": [((1, "5"), 1)], "q": [((1, "2"), 1)]})
    rows = [((1, "0"), 1), ((1, "5"), -1), ((1, "9z"), 1)]
    with pytest.raises(BadValue, match="no number"):
        engine.apply({"r": rows, "q": [((1, "no number"), 1)]})
    assert (engine.read("least"), engine.read("numbers")) == ({(1, 5): 1}, {(1, 2): 1})


def test_a_kernel_that_is_out_of_date_does_not_part_views_for_good(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """While it was built, one of the views had numbers that need more room."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tiering, "TIER_UP_ROWS", 5)
    db = freshview.connect()
    db.execute(
        "CREATE STREAM t (k BIGINT NOT NULL, x DECIMAL(18, 2) NOT NULL);"
        "CREATE VIEW s AS SELECT k, SUM(x) AS s FROM t GROUP BY k;"
    )
    db.insert("t", [(1, 1)] * 6)
    wait(db)
    db.execute("CREATE VIEW n AS SELECT k, COUNT(*) AS n FROM t GROUP BY k")
    db.insert("t", [(1, 1)] * 6)
    assert [len(targets) for targets in db._tiering._targets.values()] == [2]
    long = Decimal("9999999999999999.99")
    with monkeypatch.context() as m, warnings.catch_warnings():
        m.setattr(type(db._tiering), "finish", lambda *_: False)  # it is not ready yet
        warnings.simplefilter("ignore")
        db.insert("t", [(1, long)] * 90)
    for _ in range(4):
        wait(db)
        db.insert("t", [(1, 1)] * 6)
    assert engines(db) == {"s": "native", "n": "native"}
    db.execute("CREATE VIEW m AS SELECT k, MAX(x) AS x FROM t GROUP BY k")
    for _ in range(2):
        db.insert("t", [(1, 1)] * 6)
        wait(db)
    assert (engines(db), groups(db)) == (dict.fromkeys("snm", "native"), [["s", "n", "m"]])
    assert db.view("s").rows() == [(1, 90 * long + 48)]
