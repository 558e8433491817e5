"""First rows by an aggregate through a database: in order whenever they are read, and said so."""

from __future__ import annotations

import pyarrow as pa
import pytest

import freshview
from freshview.runtime.compile import kernels

pytestmark = pytest.mark.skipif(kernels.compiler() is None, reason="there is no C++ compiler")

SQL = """
CREATE STREAM r (g BIGINT NOT NULL, x BIGINT NOT NULL);
CREATE VIEW best AS SELECT g, SUM(x) AS t FROM r GROUP BY g ORDER BY t DESC, g LIMIT 2;
"""
FOLLOWS = "best, in order, follows the groups that have changed when it is read"


def test_explain_says_when_the_order_follows() -> None:
    db = freshview.connect(engine="native")
    db.execute(SQL)
    assert FOLLOWS in db.view("best").explain()
    sorting = freshview.connect(engine="native", switches={"moves": False})
    sorting.execute(SQL)
    assert FOLLOWS not in sorting.view("best").explain()


def test_rows_and_changes_are_those_of_the_moment() -> None:
    db = freshview.connect(engine="native")
    db.execute(SQL)
    view = db.view("best")
    heard: list[list[tuple[int, ...]]] = []

    def hear(version: int, changes: pa.Table) -> None:
        heard.append(sorted(tuple(row.values()) for row in changes.to_pylist()))

    db.insert("r", [(g, g % 7) for g in range(3000)])
    assert view.rows() == [(6, 6), (13, 6)]
    view.subscribe(hear)
    db.insert("r", (20, 5))
    db.insert("r", (4, 1))  # not among the first
    db.delete("r", (20, 5))
    assert view.rows() == [(6, 6), (13, 6)]
    assert heard == [[(13, 6, -1), (20, 11, 1)], [(13, 6, 1), (20, 11, -1)]]


def test_a_refused_change_leaves_the_order_as_it_was() -> None:
    db = freshview.connect(engine="native")
    db.execute(SQL)
    most = 2**63 - 1
    db.insert("r", [(1, most), (2, 5), (3, 4)])
    before = db.view("best").rows()
    with pytest.raises(freshview.FreshviewError):
        db.insert("r", [(3, 9), (1, 1)])
    assert db.view("best").rows() == before == [(1, most), (2, 5)]
