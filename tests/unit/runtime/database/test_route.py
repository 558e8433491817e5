"""Rows that go straight to kernels: the same views, versions and refusals as on the usual way."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import freshview
from freshview.errors import BadRow, FreshviewError
from freshview.runtime.database.database import Database
from freshview.runtime.database.route import Part

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("native")]

SCRIPT = """
CREATE STREAM a (k BIGINT NOT NULL, v BIGINT NOT NULL);
CREATE STREAM b (k BIGINT PRIMARY KEY, w BIGINT NOT NULL);
CREATE VIEW sums AS SELECT a.k, SUM(a.v * b.w) AS s FROM a, b WHERE a.k = b.k GROUP BY a.k;
CREATE VIEW n AS SELECT COUNT(*) AS n FROM a;
"""


def database(**settings: Any) -> Database:
    db = freshview.connect(engine="native", **settings)
    db.execute(SCRIPT)
    return db


def batch(**columns: list[int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(columns)


def counts(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int64)


@pytest.mark.parametrize("keep", [True, False])
def test_batches_take_the_route(keep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    db = database(keep_rows=keep)
    monkeypatch.setattr(db, "_change", lambda _: pytest.fail("this is the usual way"))
    db.apply(
        {
            "a": (batch(k=[1, 2, 1], v=[5, 6, 7]), counts(1, 1, 2)),
            "b": (pa.table({"k": [1, 2], "w": [10, 100]}), counts(1, 1)),
        }
    )
    db.delete("a", pa.table({"k": [1], "v": [5]}))
    db.insert("a", (2, 1))
    db.delete("a", (2, 6))
    assert db.view("sums").rows() == [(1, 140), (2, 100)]
    assert (db.view("n").rows(), db.version) == ([(3,)], 4)


def test_a_refused_batch_is_in_no_relation_and_no_view() -> None:
    db = database()
    db.apply({"a": (batch(k=[1], v=[5]), counts(1)), "b": (batch(k=[1], w=[2]), counts(1))})
    good = (batch(k=[1], v=[1]), counts(1))
    for bad, said in [
        ((batch(k=[1], w=[3]), counts(1)), r"two rows with the key \(1\)"),
        ((batch(k=[9], w=[3]), counts(-1)), r"'b' does not hold \(9, 3\)"),
        ((batch(k=[9], x=[3]), counts(1)), "has no column"),
        ((batch(k=[9], w=[3]), counts(-(2**63))), "cannot come"),
        ((batch(k=[9], w=[3]), counts(1, 1)), "counts"),
    ]:
        with pytest.raises(BadRow, match=said):
            db.apply({"a": good, "b": bad})
        assert (db.view("sums").rows(), db.view("n").rows(), db.version) == ([(1, 10)], [(1,)], 1)
    db.apply({"a": good, "b": (batch(k=[9], w=[3]), counts(1))})
    assert (db.view("sums").rows(), db.view("n").rows(), db.version) == ([(1, 12)], [(2,)], 2)


def test_numbers_that_leave_their_range_come_back() -> None:
    """The first view takes a row that the second one refuses, by batch and by single row."""
    db = freshview.connect(engine="native")
    db.execute(
        "CREATE STREAM r (v BIGINT NOT NULL); CREATE VIEW n AS SELECT COUNT(*) AS n FROM r;"
        "CREATE VIEW s AS SELECT SUM(v) AS s FROM r;"
    )
    most = 2**63 - 1
    insert = db.writer("r").insert
    insert(most)
    for attempt in (
        lambda: insert(1),
        lambda: db.insert("r", (1,)),
        lambda: db.insert("r", pa.table({"v": [1]})),
    ):
        with pytest.raises(FreshviewError, match="out of its range"):
            attempt()
        assert (db.view("n").rows(), db.view("s").rows(), db.version) == ([(1,)], [(most,)], 1)
    insert(-5)
    db.delete("r", (most,))
    assert (db.view("n").rows(), db.view("s").rows(), db.version) == ([(1,)], [(-5,)], 3)


@pytest.mark.parametrize("keep", [True, False])
def test_functions_of_a_writer_reach_what_is_declared_later(keep: bool) -> None:
    db = freshview.connect(engine="native", keep_rows=keep)
    db.execute("CREATE STREAM r (v BIGINT NOT NULL); CREATE VIEW n AS SELECT COUNT(*) AS n FROM r;")
    insert, delete = db.writer("r").insert, db.writer("r").delete
    insert(1)
    delete(1)
    if keep:
        db.execute("CREATE VIEW s AS SELECT SUM(v) AS s FROM r;")
    insert(5)
    heard: list[int] = []
    db.view("n").subscribe(lambda version, _: heard.append(version))
    insert(6)
    assert (db.view("n").rows(), db.version, heard) == ([(2,)], 4, [4])
    assert not keep or db.view("s").rows() == [(11,)]


def test_a_route_that_another_thread_has_replaced_is_not_taken() -> None:
    db = database()
    old = db._routes.by_name["a"]
    part = Part(old, old.batch(batch(k=[1], v=[1])), None, 1)
    db.execute("CREATE VIEW later AS SELECT SUM(v) AS s FROM a;")
    assert db._routes._take(db, [part]) is False
    assert (db.view("later").rows(), db.version) == ([(None,)], 0)


def test_many_threads_insert_single_rows_and_batches() -> None:
    db = database()
    insert = db.writer("a").insert

    def work(number: int) -> None:
        for i in range(200):
            insert(number, i)
            db.insert("a", (number, i))
            db.insert("a", batch(k=[number] * 70, v=[i] * 70))
            db.delete("a", batch(k=[number] * 70, v=[i] * 70))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    db.execute("CREATE VIEW late AS SELECT k, COUNT(*) AS n FROM a GROUP BY k;")
    for thread in threads:
        thread.join()
    assert db.view("n").rows() == [(1600,)]
    assert db.view("late").rows() == [(n, 400) for n in range(4)]
    assert db.version == 4 * 200 * 4
