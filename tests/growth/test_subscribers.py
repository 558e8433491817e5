"""What a subscriber costs follows the change, not the view: rows looked at, as the view grows."""

from __future__ import annotations

import pyarrow as pa
import pytest

import freshview
from freshview.codegen.library.compiler import find_compiler
from freshview.runtime.settings import EngineName

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

STREAMS = """
CREATE STREAM r (k INT NOT NULL, v INT NOT NULL);
CREATE STREAM s (k INT NOT NULL, d INT NOT NULL);
"""
FEW, MANY = 500, 5000
SLACK = 1.5
"""An ordered index compares a few keys more."""

COLLECTED = {
    "groups": "SELECT k, SUM(v) AS v, COUNT(*) AS n FROM r GROUP BY k",
    "averages": "SELECT k, AVG(v) AS mean FROM r GROUP BY k",
    "total": "SELECT SUM(v) AS v FROM r",
    "extremes": "SELECT k, MIN(v) AS low, MAX(v) AS high FROM r GROUP BY k",
    "least": "SELECT MIN(v) AS low FROM r",
    "joined": "SELECT r.k, SUM(r.v * s.d) AS x FROM r, s WHERE r.k = s.k GROUP BY r.k",
    "rows": "SELECT r.k, r.v, s.d FROM r, s WHERE r.k = s.k",
}


def work(sql: str, groups: int, engine: EngineName = "native") -> int:
    """Rows that are looked at or written for single rows that come and go, with a subscriber."""
    db = freshview.connect(engine=engine, profile=True)
    db.execute(f"{STREAMS} CREATE VIEW q AS {sql};")
    keys = range(groups)
    db.insert("r", [(k, k + 1) for k in keys])
    db.insert("s", [(k, 2) for k in keys])
    view, heard = db.view("q"), 0

    def hear(version: int, changes: pa.Table) -> None:
        nonlocal heard
        heard += changes.num_rows

    view.subscribe(hear)
    view.rows()  # what was loaded is put in order once, for the first who asks
    before = view.work
    for k in (1, groups // 2, groups + 7):
        db.apply({"r": [((k, -5), 1)], "s": [((k, 1), 1)]})
        db.delete("r", (k, -5))
    assert heard, "nothing was told"
    return view.work - before


@pytest.mark.parametrize("sql", COLLECTED.values(), ids=COLLECTED)
def test_the_cost_of_a_subscriber_does_not_grow(sql: str) -> None:
    few, many = work(sql, FEW), work(sql, MANY)
    assert many <= SLACK * few, f"{few} rows of {FEW} groups, {many} of {MANY}"


@pytest.mark.parametrize("name", ["groups", "averages", "total", "extremes", "joined", "rows"])
def test_the_same_on_the_reference_engine(name: str) -> None:
    few, many = (work(COLLECTED[name], n, "reference") for n in (FEW, MANY))
    assert many <= SLACK * few, f"{few} rows of {FEW} groups, {many} of {MANY}"


def test_a_view_that_is_compared_says_so() -> None:
    """Its cost grows, and `explain` tells why."""
    sql = "SELECT k, SUM(v) AS v FROM r GROUP BY k ORDER BY v LIMIT 3"
    db = freshview.connect(engine="native")
    db.execute(f"{STREAMS} CREATE VIEW q AS {sql};")
    warning = "== changes\nO(view): for subscribers, two reads of it are compared, as it is read by"
    assert (warning in db.view("q").explain()) == (work(sql, MANY) > SLACK * work(sql, FEW))
    slow = freshview.connect(engine="reference")
    slow.execute(f"{STREAMS} CREATE VIEW q AS {sql};")
    assert "are compared, as 'q' has keys, and no row of the query" in slow.view("q").explain()
