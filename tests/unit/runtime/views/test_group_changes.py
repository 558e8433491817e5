"""Views of one kernel that are written to by routes, and whose changes are told one by one."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

import freshview
from freshview.errors import FreshviewWarning, Overflow
from freshview.runtime.database.database import Database
from tests.unit.runtime.views.test_collected_changes import Subscriber

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("native")]

STREAMS = (
    "CREATE STREAM r (k BIGINT NOT NULL, v BIGINT NOT NULL); CREATE STREAM s (k BIGINT NOT NULL);"
)
SUMS = "CREATE VIEW sums AS SELECT k, SUM(v) AS v FROM r GROUP BY k;"
DOUBLED = "CREATE VIEW doubled AS SELECT k, SUM(v) * 2 - SUM(v) AS v FROM r GROUP BY k;"
JOINED = "CREATE VIEW joined AS SELECT r.k, SUM(v) AS v FROM r, s WHERE r.k = s.k GROUP BY r.k;"
OTHERS = "CREATE VIEW others AS SELECT k, COUNT(*) AS n FROM s GROUP BY k;"
MOST = (1 << 63) - 1


def shared(*views: str) -> Database:
    db = freshview.connect(engine="native")
    db.execute(STREAMS + "".join(views))
    assert len(db.state.groups) == 1
    return db


def table(*rows: tuple[int, int]) -> pa.RecordBatch:
    return pa.record_batch({"k": [k for k, _ in rows], "v": [v for _, v in rows]})


@pytest.mark.parametrize("keep", [True, False])
def test_a_route_has_a_kernel_once(keep: bool) -> None:
    db = freshview.connect(engine="native", keep_rows=keep)
    db.execute(STREAMS + SUMS + JOINED + OTHERS)
    [group] = db.state.groups
    route = db._routes.by_name["r"]
    assert len(route.steps) == 1 + keep
    assert [x for x, _ in route.steps[keep:]] == [group.engine.instance]  # type: ignore[union-attr]
    db.insert("s", pa.record_batch({"k": [1]}))
    db.insert("r", table((1, 5), (2, 6)))
    db.insert("r", (1, 1))
    assert sorted(db.view("sums").rows()) == [(1, 6), (2, 6)]
    assert db.view("joined").rows() == [(1, 6)]


def test_who_tracks_a_view_slows_only_the_relations_of_that_view() -> None:
    db = shared(SUMS, JOINED, OTHERS)
    subscriber = Subscriber(db, "others")
    assert "r" in db._routes.by_name
    assert "s" not in db._routes.by_name
    db.insert("r", table((1, 5)))
    db.insert("s", [(1,)])
    subscriber.check()
    assert subscriber.versions == [2]
    assert db.view("joined").rows() == [(1, 5)]


def test_each_view_of_a_kernel_is_told_what_is_its_own() -> None:
    db = shared(SUMS, JOINED, OTHERS)
    subscribers = [Subscriber(db, name) for name in ("sums", "joined", "others")]
    assert all(t.is_collected for t in subscribers)
    for batch in ({"r": [((1, 5), 1)]}, {"s": [((1,), 2)]}, {"r": [((1, 5), -1)]}):
        db.apply(batch)
        for t in subscribers:
            t.check()
    assert [t.versions for t in subscribers] == [[1, 3], [2, 3], [2]]


def test_views_that_join_a_group_go_on_telling() -> None:
    db = shared(SUMS)
    subscribers = [Subscriber(db, "sums")]
    db.insert("r", [(1, 5), (2, 1)])
    db.execute(JOINED + OTHERS)
    assert [len(g.views) for g in db.state.groups] == [3]
    subscribers.append(Subscriber(db, "joined"))
    db.insert("r", [(1, 1)])
    db.insert("s", [(1,)])
    for t in subscribers:
        t.check()
    assert [t.versions for t in subscribers] == [[1, 2], [3]]


@pytest.mark.parametrize("order", [SUMS + DOUBLED, DOUBLED + SUMS])
def test_a_kernel_that_cannot_show_one_view_gives_way_for_all(order: str) -> None:
    """Where another view of it has told the change already, that is told once."""
    db = shared(order)
    db.insert("r", [(1, 5), (2, 7)])
    subscribers = [Subscriber(db, "sums"), Subscriber(db, "doubled")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FreshviewWarning)
        for rows in ([(1, 1 << 62)], [(2, 1)], [(3, 1)]):
            db.insert("r", rows)
            for t in subscribers:
                t.check()
        db.delete("r", (1, 1 << 62))
    for t in subscribers:
        t.check()
    assert [t.versions for t in subscribers] == [[2, 3, 4, 5]] * 2


@pytest.mark.parametrize("order", [SUMS + DOUBLED, DOUBLED + SUMS])
def test_a_refused_change_is_told_to_no_view_of_a_kernel(order: str) -> None:
    db = shared(order.replace("* 2 - SUM(v)", "* 2"))
    db.insert("r", [(1, 5), (2, 7)])
    subscribers = [Subscriber(db, "sums"), Subscriber(db, "doubled")]
    for _ in range(2):
        with pytest.raises(Overflow):
            db.insert("r", [(1, 1), (2, MOST - 7)])
        db.insert("r", (2, 1))
        for t in subscribers:
            t.check()
    assert [t.versions for t in subscribers] == [[2, 3]] * 2
