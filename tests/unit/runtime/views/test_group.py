"""Views that one program keeps: who is with whom, who comes and goes, and that nobody notices."""

from __future__ import annotations

import gc
import random
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

import freshview
from freshview.errors import BadRow, FreshviewError
from freshview.runtime.database import tiering
from freshview.runtime.database.database import Database
from freshview.runtime.views import group as view_group
from freshview.runtime.views import grouping
from freshview.runtime.views.engines import KernelGroupEngine

STREAMS = (
    "CREATE STREAM o (id BIGINT NOT NULL, c BIGINT NOT NULL, r BIGINT);"
    "CREATE STREAM i (id BIGINT NOT NULL, p BIGINT, x DOUBLE);"
    "CREATE STREAM other (a BIGINT NOT NULL);"
)
JOIN = "FROM o, i WHERE o.id = i.id"
TOTALS = f"CREATE VIEW totals AS SELECT o.c, SUM(i.p) AS p, SUM(i.x) AS x {JOIN} GROUP BY o.c;"
COUNTS = f"CREATE VIEW counts AS SELECT o.r, COUNT(*) AS n, MAX(i.p) AS p {JOIN} GROUP BY o.r;"
MEANS = f"CREATE VIEW means AS SELECT o.c, AVG(i.p) AS p {JOIN} AND o.r > 1 GROUP BY o.c;"
APART = "CREATE VIEW apart AS SELECT COUNT(*) AS n FROM other;"
NAMES = ("totals", "counts", "means", "apart")

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("native")]


def groups(db: Database) -> list[list[str]]:
    return [[v.query.name for v in g.views] for g in db.state.groups]


def batches(seed: int, count: int = 6) -> list[dict[str, list[tuple[tuple[object, ...], int]]]]:
    """Rows that come, and go again; with NULLs, and groups that become empty."""
    rng = random.Random(seed)
    live: dict[str, list[tuple[object, ...]]] = {"o": [], "i": [], "other": []}
    out = []
    for _ in range(count):
        batch: dict[str, list[tuple[tuple[object, ...], int]]] = {n: [] for n in live}
        for _ in range(30):
            number = rng.randrange(8)
            new: dict[str, tuple[object, ...]] = {
                "o": (number, rng.randrange(3), rng.choice((None, 1, 2, 3))),
                "i": (number, rng.choice((None, 1, 5, -7)), rng.choice((None, 0.5, 1e9, -0.25))),
                "other": (number,),
            }
            name = rng.choice(list(live))
            if live[name] and rng.random() < 0.45:
                batch[name].append((live[name].pop(rng.randrange(len(live[name]))), -1))
            else:
                live[name].append(new[name])
                batch[name].append((new[name], 1))
        out.append(batch)
    return out


def assert_same(db: Database, twin: Database, names: tuple[str, ...] = NAMES) -> None:
    for name in names:
        assert sorted(db.view(name).rows(), key=repr) == sorted(twin.view(name).rows(), key=repr)


@pytest.mark.parametrize("share", [True, False])
def test_views_of_common_relations_are_one_kernel(share: bool) -> None:
    db, twin = (
        freshview.connect(engine="native", share=share),
        freshview.connect(engine="reference"),
    )
    for d in (db, twin):
        d.execute(STREAMS + TOTALS + COUNTS + APART + MEANS)
    together = [["totals", "counts", "means"], ["apart"]]
    assert groups(db) == (together if share else [["totals"], ["counts"], ["apart"], ["means"]])
    assert groups(twin) == [["totals"], ["counts"], ["apart"], ["means"]]
    for batch in batches(1):
        db.apply(batch)
        twin.apply(batch)
        assert_same(db, twin)


def test_a_batch_is_given_once_to_each_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[object] = []
    apply = KernelGroupEngine.apply
    monkeypatch.setattr(
        KernelGroupEngine,
        "follow",
        lambda self, change: (applied.append(self), apply(self, change)),
    )
    db = freshview.connect(engine="native")
    db.execute(STREAMS + TOTALS + COUNTS + MEANS)
    db.insert("o", [(1, 2, 3)])
    assert len(applied) == 1


@pytest.mark.parametrize("keep", [True, False])
def test_a_view_declared_later_joins_and_the_others_do_not_notice(keep: bool) -> None:
    db = freshview.connect(engine="native", keep_rows=keep)
    twin = freshview.connect(engine="reference")
    for d in (db, twin):
        d.execute(STREAMS + TOTALS)
    heard: dict[int, list[tuple[int, Any]]] = {0: [], 1: []}
    for n, d in enumerate((db, twin)):
        d.view("totals").subscribe(lambda v, t, n=n: heard[n].append((v, t.num_rows)))
    rest = batches(2)
    if keep:
        first = rest.pop(0)
        db.apply(first)
        twin.apply(first)
    before = db.version
    db.execute(COUNTS)
    db.execute(APART)
    db.execute(MEANS)
    twin.execute(COUNTS + APART + MEANS)
    assert groups(db) == [["apart"], ["totals", "counts", "means"]]
    assert db.version == before
    assert_same(db, twin)
    for batch in rest:
        db.apply(batch)
        twin.apply(batch)
        assert_same(db, twin)
    assert heard[0] == heard[1]
    assert (
        db.view("totals").changes(before).num_rows == twin.view("totals").changes(before).num_rows
    )


def test_rows_that_are_not_kept_keep_a_group_apart() -> None:
    """What it holds cannot be filled anew."""
    db = freshview.connect(engine="native", keep_rows=False)
    db.execute(STREAMS + TOTALS)
    db.insert("o", [(1, 2, 3)])
    db.execute("CREATE VIEW items AS SELECT id, COUNT(*) AS n FROM i GROUP BY id")
    with pytest.raises(FreshviewError, match="after rows of 'o', which are not kept"):
        db.execute(COUNTS)
    assert groups(db) == [["totals"], ["items"]]
    db.insert("i", [(1, 5, 0.5)])
    assert (db.view("totals").rows(), db.view("items").rows()) == ([(2, 5, 0.5)], [(1, 1)])


def test_single_rows_of_one_relation_do_not_close_the_others_of_its_kernel() -> None:
    """Of the relations that a kernel reads, only those that rows have reached are past."""
    db = freshview.connect(engine="native", keep_rows=False)
    db.execute(STREAMS + TOTALS + COUNTS)
    insert = db.writer("o").insert
    db.writer("i")
    insert(1, 2, 3)
    assert (db.version, db.state.fed) == (1, {"o"})
    db.execute("CREATE VIEW items AS SELECT id, COUNT(*) AS n FROM i GROUP BY id")
    db.writer("i").insert(1, 5, 0.5)
    insert(1, 2, 4)
    assert (db.version, db.state.fed) == (3, {"o", "i"})
    assert (db.view("totals").rows(), db.view("items").rows()) == ([(2, 10, 1.0)], [(1, 1)])


def test_views_join_in_the_background(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tiering, "TIER_UP_ROWS", 20)
    db, twin = freshview.connect(), freshview.connect(engine="reference")
    for d in (db, twin):
        d.execute(STREAMS + TOTALS)
        d.execute(APART)
        d.execute(COUNTS)
    assert groups(db) == [["totals"], ["apart"], ["counts"]]
    seen = set()
    for n, batch in enumerate([*batches(3), *batches(4)]):
        if n == 6:  # one more, when the others have a kernel
            for d in (db, twin):
                d.execute(MEANS)
        for d in (db, twin):
            d.apply({name: [(row, abs(m)) for row, m in rows] for name, rows in batch.items()})
        names = NAMES if n >= 6 else ("totals", "counts", "apart")
        assert_same(db, twin, names)
        seen.add(tuple(map(tuple, groups(db))))
        for job in list(db._tiering.builds.values()):
            assert job.wait(120)
    assert (("apart",), ("totals", "counts")) in seen
    assert groups(db) == [["apart"], ["totals", "counts", "means"]]
    assert {v.engine for v in db.views} == {"native"}

    again = freshview.connect()  # what the cache has serves from the start
    again.execute(STREAMS + TOTALS + COUNTS)
    again.execute(MEANS)
    assert groups(again) == [["totals", "counts", "means"]]
    assert {v.engine for v in again.views} == {"native"}


def test_only_as_many_views_as_a_compiler_can_bear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "MOST_LINES", 900)
    db = freshview.connect(engine="native")
    db.execute(STREAMS + TOTALS + COUNTS + MEANS)
    assert len(groups(db)) > 1
    db.insert("o", [(1, 2, 3)])
    db.insert("i", [(1, 5, 0.5)])
    assert db.view("means").rows() == [(2, 5.0)]


def test_what_stays_alone() -> None:
    db = freshview.connect(engine="native")
    db.execute(STREAMS + TOTALS)
    db.execute("CREATE FACTORIZED VIEW f AS SELECT o.id, o.c, i.p FROM o, i WHERE o.id = i.id")
    db.execute("CREATE VIEW walks AS SELECT a.c FROM o a, o b WHERE a.c + b.id = b.c + 2")
    assert groups(db) == [["totals"], ["f"], ["walks"]]  # its triggers take batches
    db.execute(COUNTS)
    assert groups(db) == [["f"], ["walks"], ["totals", "counts"]]


def test_a_change_that_one_view_refuses_reaches_none() -> None:
    db = freshview.connect(engine="native")
    most = 2**63 - 1
    db.execute(STREAMS + TOTALS + COUNTS)
    db.insert("o", [(1, 1, 1)])
    db.insert("i", [(1, most, 0.5)])
    before = {name: db.view(name).rows() for name in ("totals", "counts")}
    with pytest.raises(FreshviewError, match="out of its range"):
        db.apply({"o": [((2, 1, 1), 1)], "i": [((1, 1, 0.5), 1)]})
    with pytest.raises(BadRow):
        db.delete("i", [(9, 9, 9.0)])
    assert {name: db.view(name).rows() for name in before} == before
    assert db.version == 2
    db.insert("i", [(1, 0, 0.25)])
    assert db.view("counts").rows() == [(1, 2, most)]


def test_views_fall_back_and_come_back_together() -> None:
    money = "CREATE STREAM t (k BIGINT NOT NULL, x DECIMAL(18, 2) NOT NULL);"
    views = (
        "CREATE VIEW s AS SELECT k, SUM(x) AS s FROM t GROUP BY k;"
        "CREATE VIEW n AS SELECT k, COUNT(*) AS n, MAX(x) AS x FROM t GROUP BY k;"
    )
    db = freshview.connect(engine="native")
    db.execute(money + views)
    long = Decimal("9999999999999999.99")
    db.insert("t", [(1, long)] * 50)
    db.insert("t", [(1, long)] * 50)
    assert db.view("s").rows() == [(1, 100 * long)]
    assert db.view("n").rows() == [(1, 100, long)]
    db.delete("t", [(1, long)] * 99)
    assert db.view("s").rows() == [(1, long)]
    assert {v.engine for v in db.views} == {"native"}
    assert groups(db) == [["s", "n"]]


def test_views_whose_kernel_cannot_hold_their_numbers_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(view_group, "run_as_kernel", lambda *_, **__: None)
    most = 2**62
    db = freshview.connect(engine="native")
    db.execute(
        "CREATE STREAM t (k BIGINT NOT NULL, v BIGINT NOT NULL);"
        "CREATE VIEW s AS SELECT k, SUM(v) AS s FROM t GROUP BY k;"
        "CREATE VIEW n AS SELECT k, COUNT(*) AS n FROM t GROUP BY k;"
    )
    assert groups(db) == [["s", "n"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        db.insert("t", [(1, most), (1, most), (1, -most), (1, -most)])
        assert db.view("s").rows() == [(1, 0)]
        db.insert("t", [(2, 3)])
        db.insert("t", [(2, 3)])
    assert groups(db) == [["s"], ["n"]]
    assert (db.view("s").rows(), db.view("n").rows()) == ([(1, 0), (2, 6)], [(1, 4), (2, 2)])
    assert db.view("n").engine == "native"  # the numbers of the other one do not concern it


def test_a_view_that_a_kernel_cannot_hold_does_not_join(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_group, "run_as_kernel", lambda *_, **__: None)
    most = 2**62
    db = freshview.connect(engine="native")
    db.execute(
        "CREATE STREAM t (k BIGINT NOT NULL, v BIGINT NOT NULL);"
        "CREATE VIEW n AS SELECT k, COUNT(*) AS n FROM t GROUP BY k;"
    )
    db.insert("t", [(1, most), (1, most), (1, most - 1), (1, -most), (1, -most)])
    kernel = db.state.groups[0].engine
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        db.execute("CREATE VIEW s AS SELECT k, SUM(v) AS s FROM t GROUP BY k")
        assert groups(db) == [["n"], ["s"]]
        assert db.state.groups[0].engine is kernel
        assert (db.view("n").engine, db.view("s").engine) == ("native", "reference")
        assert db.view("s").rows() == [(1, most - 1)]
        db.execute("CREATE VIEW m AS SELECT k, MAX(v) AS m FROM t GROUP BY k")
    assert groups(db) == [["s"], ["n", "m"]]
    db.insert("t", [(2, 3)])
    assert [db.view(v).rows()[-1] for v in ("n", "s", "m")] == [(2, 1), (2, 3), (2, 3)]


@pytest.mark.parametrize("engine", ["native", "auto"])
def test_a_snapshot_keeps_the_groups(engine: Any, tmp_path: Path) -> None:
    db = freshview.connect(engine=engine)
    twin = freshview.connect(engine="reference")
    for d in (db, twin):
        d.execute(STREAMS + TOTALS + COUNTS)
        d.execute(MEANS)
        d.execute(APART)
    first, second, *_ = batches(5)
    for d in (db, twin):
        d.apply(first)
    db.snapshot(tmp_path / "s")
    again = freshview.restore(tmp_path / "s")
    assert groups(again) == groups(db)
    assert again.version == db.version
    assert_same(again, twin)
    for d in (again, twin):
        d.apply(second)
    assert_same(again, twin)


def test_a_writer_goes_straight_to_the_kernel_of_several_views() -> None:
    db = freshview.connect(engine="native", keep_rows=False)
    db.execute(STREAMS + TOTALS)
    insert = db.writer("o").insert
    db.execute(COUNTS)
    insert(1, 2, 3)
    db.writer("i").insert(1, 5, 0.5)
    assert db.writer("o").instance is db.writer("i").instance is not None
    assert (db.view("totals").rows(), db.view("counts").rows()) == ([(2, 5, 0.5)], [(3, 1, 5)])
    assert db.version == 2


def test_who_asked_for_the_program_does_not_keep_the_state_of_an_old_group() -> None:
    db = freshview.connect(engine="native")
    db.execute(STREAMS + TOTALS + MEANS)
    db.view("totals").explain()
    [group] = db.state.groups
    old = [ref(group), ref(group.engine)]
    del group
    db.execute(COUNTS)
    gc.collect()
    assert [r() for r in old] == [None, None]
    assert "this view and means, counts" in db.view("totals").explain()


def test_explain_names_those_that_share_and_shows_one_view() -> None:
    db = freshview.connect(engine="native")
    db.execute(STREAMS + TOTALS + MEANS)
    text = db.view("totals").explain()
    assert "== shared\none program keeps this view and means" in text
    assert [q.name for q in db.program("totals").queries] == ["totals"]
    alone = freshview.connect(engine="native", share=False)
    alone.execute(STREAMS + TOTALS + MEANS)
    assert "== shared" not in alone.view("totals").explain()
    ours, theirs = db.program("totals"), alone.program("totals")
    assert len(ours.maps) == len(theirs.maps)
    assert [len(t.statements) for t in ours.triggers] == [
        len(t.statements) for t in theirs.triggers
    ]
    kept = db.view("totals").statistics().rows
    assert set(kept) == {m.name for m in ours.maps}
