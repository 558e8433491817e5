"""What changed between versions, told when asked and as it happens."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.errors import FreshviewError, FreshviewWarning
from freshview.runtime.database.database import Database
from freshview.runtime.ingest.columns import rows_of
from freshview.runtime.ingest.counted_rows import difference, net_of
from tests.unit.databases import Connect

SCRIPT = """
CREATE STREAM r (k INT NOT NULL, v INT NOT NULL);
CREATE STREAM other (a INT NOT NULL);
CREATE VIEW s AS SELECT k, SUM(v) AS total FROM r GROUP BY k;
"""


@pytest.fixture
def db(connect: Connect) -> Database:
    db = connect()
    db.execute(SCRIPT)
    db.insert("r", [(1, 10), (2, 5)])
    return db


def net(table: pa.Table) -> Counter[Any]:
    return Counter({row[:-1]: row[-1] for row in rows_of(table)})


def test_changes_since_a_version(db: Database) -> None:
    view = db.view("s")
    view.track()
    start = db.version
    db.insert("r", (1, 1))
    db.apply({"r": [((2, 5), -1), ((3, 7), 1)]})
    assert view.changes(start).column_names == ["k", "total", "__count"]
    assert net(view.changes(start)) == {(1, 10): -1, (1, 11): 1, (2, 5): -1, (3, 7): 1}
    assert net(view.changes(start + 1)) == {(2, 5): -1, (3, 7): 1}
    assert view.changes(db.version).num_rows == 0
    db.delete("r", (1, 1))
    assert net(view.changes(start)) == {(2, 5): -1, (3, 7): 1}


def test_what_was_not_recorded_is_an_error(db: Database) -> None:
    view = db.view("s")
    with pytest.raises(FreshviewError, match=r"not recorded; call its track\(\)"):
        view.changes(0)
    view.track(versions=2)
    for i in range(4):
        db.insert("r", (i, 1))
    with pytest.raises(
        FreshviewError, match="since version 2 are not known; they are kept from ver"
    ):
        view.changes(2)
    with pytest.raises(FreshviewError, match="since version 6"):
        view.changes(6)
    assert net(view.changes(3)) == {(2, 5): -1, (2, 6): 1, (3, 1): 1}


def test_subscribers_receive_what_changed(db: Database) -> None:
    heard: list[tuple[int, Counter[Any]]] = []
    end = db.view("s").subscribe(lambda version, changes: heard.append((version, net(changes))))
    db.insert("r", (2, 1))
    db.insert("other", (1,))
    db.insert("r", (7, 0))
    db.apply({"r": [((2, 1), -1), ((2, 1), 1)]})
    end()
    db.insert("r", (2, 1))
    assert heard == [(2, {(2, 5): -1, (2, 6): 1}), (4, {(7, 0): 1})]


def test_a_subscriber_may_change_the_data(db: Database) -> None:
    """What it changes is told after what it was told, in the order of the versions."""
    heard = []

    def follow(version: int, changes: pa.Table) -> None:
        heard.append(version)
        if version < 5:
            db.insert("r", (9, version))

    db.view("s").subscribe(follow)
    db.insert("r", (2, 1))
    assert heard == [2, 3, 4, 5]


def test_a_subscriber_that_fails_is_a_warning(db: Database) -> None:
    def fail(version: int, changes: pa.Table) -> None:
        raise RuntimeError("no")

    db.view("s").subscribe(fail)
    with pytest.warns(FreshviewWarning, match=r"a subscription to 's' failed at version 2: Runt"):
        db.insert("r", (2, 1))
    assert db.view("s").lookup(k=2) == [(2, 6)]


def test_changes_can_feed_another_database(db: Database, connect: Connect) -> None:
    copy = connect()
    copy.execute("CREATE STREAM s (k INT NOT NULL, total INT NOT NULL); SELECT k, total FROM s")
    copy.insert("s", db.view("s"))
    db.view("s").subscribe(lambda _, changes: copy.apply({"s": changes}))
    for i in range(5):
        db.apply({"r": [((i, i), 2), ((1, 10), -1 if i == 3 else 0)]})
        assert copy.view("query").rows() == db.view("s").rows()


rows = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", None])), max_size=6)


def table(rows: list[Any]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [(), ()]
    return pa.table(
        [pa.array(columns[0], pa.int64()), pa.array(columns[1], pa.string())], ["k", "k"]
    )


@given(rows, rows, rows)
def test_differences_are_those_of_multisets(a: Any, b: Any, c: Any) -> None:
    wanted = Counter(c)
    wanted.subtract(Counter(a))
    first, second = difference(table(a), table(b)), difference(table(b), table(c))
    assert net(net_of([first, second])) == {row: n for row, n in wanted.items() if n}
    assert first.column_names == ["k", "k", "__count"]
