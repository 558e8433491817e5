"""State under a watermark is bounded: as many bytes after a hundred windows as after ten.

Everything that a kernel keeps counts, tables, indexes, texts and the answer; rows that come are not
kept besides (`keep_rows=False`).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

import freshview
from freshview.codegen.library.compiler import find_compiler

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

START = datetime(2024, 1, 1)
ROWS = 240
"""Rows of one window."""

STREAMS = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP NOT NULL, k INT NOT NULL, x INT NOT NULL,"
    " WATERMARK FOR ts AS ts - INTERVAL '30' SECOND);"
    for name in "ab"
)
VIEWS = {
    "final": "SELECT window.end AS e, k, COUNT(*) AS c, MAX(x) AS m FROM a"
    " GROUP BY window(ts, '1 minute'), k HAVING window.end > now() - INTERVAL 3 MINUTES EMIT FINAL",
    "join": "SELECT a.k, COUNT(*) AS n FROM a JOIN b ON a.k = b.k"
    " AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 30 SECONDS GROUP BY a.k",
    "recent": "SELECT k, SUM(x) AS s FROM a WHERE ts > now() - INTERVAL 2 MINUTES GROUP BY k",
}


def bytes_after(sql: str, *windows: int) -> list[int]:
    """The bytes of a view after so many windows."""
    db = freshview.connect(engine="native", keep_rows=False)
    db.execute(STREAMS)
    (view,) = db.execute(f"CREATE VIEW v AS {sql}")
    out = []
    for w in range(max(windows)):
        for part in range(4):
            rows: list[tuple[Any, ...]] = []
            for i in range(ROWS // 4):
                at = 60 * w + 15 * part + 15 * i / (ROWS // 4)
                rows.append((START + timedelta(seconds=round(at, 3)), i % 20, i * 7919 % 1009))
            db.apply({name: [(row, 1) for row in rows] for name in "ab"})
        if "now()" in sql:
            db.advance_clock(START + timedelta(minutes=w + 1))
        if w + 1 in windows:
            out.append(view.statistics().bytes)
    assert view.rows()
    return out


@pytest.mark.parametrize("name", VIEWS)
def test_a_hundred_windows_take_no_more_than_ten(name: str) -> None:
    ten, hundred = bytes_after(VIEWS[name], 10, 100)
    assert hundred <= 1.2 * ten, (ten, hundred)
