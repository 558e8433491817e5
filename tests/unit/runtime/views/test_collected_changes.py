"""Changes that a kernel collects: what subscribers are told adds up to the view, whatever comes."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import freshview
from freshview.calculus.schema import Column, Query
from freshview.calculus.terms import View
from freshview.calculus.types import DOUBLE
from freshview.errors import BadRow, FreshviewError, FreshviewWarning, Overflow
from freshview.runtime.database.database import Database
from freshview.runtime.database.tiering import TIER_UP_ROWS
from freshview.runtime.ingest.columns import rows_of
from freshview.runtime.ingest.counted_rows import net_of
from freshview.runtime.views.history import ChangeCollector
from tests.thin import thin
from tests.unit.databases import Connect

MOST = (1 << 63) - 1

SCHEMA = """
CREATE STREAM r (k BIGINT, name STRING, v BIGINT NOT NULL, w DOUBLE NOT NULL);
CREATE STREAM s (k BIGINT, d DECIMAL(9, 2));
CREATE TABLE t (k BIGINT NOT NULL, label STRING NOT NULL);
"""
VIEWS = {
    "sums": "SELECT k, name, SUM(v) AS v, COUNT(*) AS n FROM r GROUP BY k, name",
    "means": "SELECT name, AVG(v) AS mean, SUM(w) AS w FROM r GROUP BY name",
    "total": "SELECT SUM(v) AS v, COUNT(*) AS n FROM r",
    "extremes": "SELECT r.k, MIN(s.d) AS low, MAX(r.v) AS high FROM r, s WHERE r.k = s.k "
    "GROUP BY r.k",
    "pairs": "SELECT r.name, s.d FROM r, s WHERE r.k = s.k",
    "labels": "SELECT t.label, SUM(r.v) AS v FROM r, t WHERE r.k = t.k GROUP BY t.label",
    "least": "SELECT MIN(v) AS v FROM r",
    "first": "SELECT k, SUM(v) AS v FROM r GROUP BY k ORDER BY v DESC LIMIT 2",
    "above": "SELECT k, v FROM r WHERE v > (SELECT SUM(d) FROM s)",
}
COMPARED = {"native": {"above"}, "reference": {"first", "least"}}
"""Views of which two reads are compared, by engines: only kernels keep first rows in order."""

SUMS = "CREATE STREAM r (k BIGINT NOT NULL, v BIGINT NOT NULL);"


class Subscriber:
    """What a subscriber was told of a view, added up."""

    def __init__(self, db: Database, view: str) -> None:
        self.view = db.view(view)
        self.versions: list[int] = []
        self.rows = Counter(self.view.rows())
        self.end = self.view.subscribe(self._hear)

    def _hear(self, version: int, changes: pa.Table) -> None:
        self.versions.append(version)
        assert changes.num_rows
        for *row, count in rows_of(changes):
            assert count
            self.rows[tuple(row)] += count

    def check(self) -> None:
        """It is the view; no row was told to have gone that was not there."""
        assert Counter({r: n for r, n in self.rows.items() if n}) == Counter(self.view.rows())

    @property
    def is_collected(self) -> bool:
        history = self.view._maintained.history
        assert history is not None
        return history.collector.is_collected


def random_row(rng: random.Random, relation: str) -> tuple[Any, ...]:
    k = rng.choice([None, 1, 2, 3])
    if relation == "s":
        return k, rng.choice([None, 1, 2])
    name = rng.choice([None, "", "a", "a name of more than seven bytes"])
    return k, name, rng.randrange(-3, 4), rng.choice([0.1, -0.1, 1e9, 0.0, -0.0])


def random_batch(rng: random.Random, there: dict[str, list[Any]]) -> dict[str, Any]:
    """Rows that come and rows that go, of one relation or of both."""
    batch: dict[str, Any] = {}
    for relation in rng.choice([["r"], ["s"], ["r", "s"], ["s", "r"]]):
        rows = there[relation]
        comes = [random_row(rng, relation) for _ in range(rng.randrange(4))]
        goes = [rows.pop(rng.randrange(len(rows))) for _ in range(rng.randrange(3)) if rows]
        rows += comes
        batch[relation] = [*((row, 1) for row in comes), *((row, -1) for row in goes)]
    return batch


@pytest.mark.parametrize("seed", thin(range(6), 3))
def test_what_is_told_adds_up(connect: Connect, engine: str, seed: int) -> None:
    rng = random.Random(seed)
    db = connect()
    db.execute(SCHEMA + "".join(f"CREATE VIEW {n} AS {sql};" for n, sql in VIEWS.items()))
    db.load("t", [(1, "one"), (2, "two"), (3, "two")])
    there: dict[str, list[Any]] = {"r": [], "s": []}
    db.apply(random_batch(rng, there))
    subscribers = {name: Subscriber(db, name) for name in VIEWS}
    assert {name for name, t in subscribers.items() if not t.is_collected} == COMPARED[engine]
    for _ in range(30):
        db.apply(random_batch(rng, there))
        if rng.random() < 0.3:
            with pytest.raises(FreshviewError):
                db.apply({"s": [((1, 1), 1)], "r": [((9, "gone", 1, 0.5), -1)]})
        if rng.random() < 0.2:
            with pytest.raises(Overflow):
                db.insert("r", [(1, "a", MOST, 0.5), (1, "a", MOST, 0.5)])
        for t in subscribers.values():
            t.check()
    for t in subscribers.values():
        assert t.versions == sorted(set(t.versions))
    assert all(len(subscribers[name].versions) > 3 for name in ("sums", "means", "total", "pairs"))


@pytest.mark.parametrize("column", ["k", "name"])
def test_groups_that_a_view_leaves_out_are_not_told(connect: Connect, column: str) -> None:
    """The map below has a group of NULL, which is not a row of the view."""
    db = connect()
    grouped = f"SELECT {column} AS x, COUNT(*) AS n FROM r GROUP BY {column}"
    db.execute(
        f"{SCHEMA} CREATE VIEW counts AS SELECT x, n FROM ({grouped}) q WHERE x IS NOT NULL;"
        f"CREATE VIEW keys AS SELECT x FROM ({grouped}) q WHERE x IS NOT NULL GROUP BY x;"
    )
    subscribers = [Subscriber(db, "counts"), Subscriber(db, "keys")]
    for rows in ([(None, None, 1, 0.5)], [(1, "a", 1, 0.5), (None, None, 2, 0.5)]):
        db.insert("r", rows)
        for t in subscribers:
            t.check()


def test_a_change_that_another_view_refuses_is_not_told(connect: Connect) -> None:
    """One view has told its change already when the other one cannot be shown."""
    db = connect()
    db.execute(
        SUMS + "CREATE VIEW counts AS SELECT k, COUNT(*) AS n FROM r GROUP BY k;"
        "CREATE VIEW doubled AS SELECT SUM(v) * 2 AS s FROM r;"
    )
    db.insert("r", (1, 5))
    subscribers = [Subscriber(db, "counts"), Subscriber(db, "doubled")]
    with pytest.raises(Overflow):
        db.insert("r", [(1, MOST - 5)])
    db.insert("r", (2, 1))
    for t in subscribers:
        t.check()
        assert t.versions == [2]


@pytest.mark.native
def test_a_kernel_that_is_filled_anew_after_a_refusal(
    native: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It never told the change that the other one had told when it was refused."""
    from freshview.runtime.views import group

    monkeypatch.setattr(group, "mixes_widths", lambda _: True)
    db = freshview.connect(engine="native")
    db.execute(
        SUMS + "CREATE VIEW sums AS SELECT k, SUM(v) AS s FROM r GROUP BY k;"
        "CREATE VIEW doubled AS SELECT SUM(v) * 2 AS s FROM r WHERE k = 2;"
    )
    db.insert("r", [(1, 1 << 62), (2, 5)])
    subscribers = [Subscriber(db, "sums"), Subscriber(db, "doubled")]
    for _ in range(2):
        with pytest.raises(Overflow):  # taken back in the same order, the first sum wraps
            db.insert("r", [(1, -(1 << 62)), (1, 1 << 62), (2, MOST - 5)])
        db.insert("r", (2, 1))
        for t in subscribers:
            t.check()
    assert subscribers[0].versions == [2, 3]


def test_a_row_that_only_the_reference_engine_can_show(connect: Connect) -> None:
    """On its way to the number a kernel leaves 64 bits: the other engine tells what changed."""
    db = connect()
    db.execute(SUMS + "CREATE VIEW v AS SELECT k, SUM(v) * 2 - SUM(v) AS s FROM r GROUP BY k")
    db.insert("r", [(1, 5), (2, 7)])
    subscriber = Subscriber(db, "v")
    for rows in ([(1, 1 << 62)], [(2, 1)], [(3, 1)]):
        db.insert("r", rows)
        subscriber.check()
    db.delete("r", (1, 1 << 62))
    subscriber.check()
    assert subscriber.versions == [2, 3, 4, 5]


@pytest.mark.native
def test_a_kernel_that_gives_way_has_told_what_it_showed(
    native: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from freshview.runtime.views import group

    monkeypatch.setattr(group, "run_as_kernel", lambda *_, **__: None)
    db = freshview.connect(engine="native")
    db.execute(
        SUMS + "CREATE STREAM x (k BIGINT NOT NULL);"
        "CREATE VIEW v AS SELECT r.k, SUM(r.v) AS s FROM r, x WHERE r.k = x.k GROUP BY r.k"
    )
    db.apply({"r": [((1, 1), 1)], "x": [((1,), 1)]})
    subscriber = Subscriber(db, "v")
    assert subscriber.is_collected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FreshviewWarning)
        db.apply(
            {
                "x": [((2,), 1)],
                "r": [((2, 3), 1), ((1, MOST), 2), ((1, -MOST), 2)],
            }
        )
    assert db.view("v").engine == "reference"
    subscriber.check()
    monkeypatch.undo()
    db.insert("r", [(2, i) for i in range(TIER_UP_ROWS)])
    subscriber.check()
    db.insert("r", (1, 1))
    subscriber.check()
    assert subscriber.is_collected
    assert subscriber.versions == [2, 3, 4]


@pytest.mark.native
def test_a_kernel_that_takes_over_goes_on_telling(
    native: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its sums of doubles may be rounded otherwise: that would be a change, too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    db = freshview.connect()
    db.execute(
        "CREATE STREAM r (k BIGINT NOT NULL, w DOUBLE NOT NULL);"
        "CREATE VIEW v AS SELECT k, SUM(w) AS w, COUNT(*) AS n FROM r GROUP BY k"
    )
    subscriber = Subscriber(db, "v")
    assert db.view("v").engine == "reference"
    for i in range(3):
        db.insert("r", [(j % 50, 0.1 * j + i) for j in range(TIER_UP_ROWS)])
        subscriber.check()
    for build in list(db._tiering.builds.values()):
        build.wait()
    for i in range(3):
        db.insert("r", (i, 0.7))
        subscriber.check()
    assert (subscriber.is_collected, db.view("v").engine) == (True, "native")


def test_a_static_table_that_is_filled_later(connect: Connect) -> None:
    db = connect()
    db.execute(SCHEMA + f"CREATE VIEW v AS {VIEWS['labels']}; CREATE VIEW n AS SELECT k FROM t")
    subscribers = [Subscriber(db, "v"), Subscriber(db, "n")]
    db.load("t", [(1, "one")])
    db.insert("r", (1, "a", 5, 0.5))
    subscribers[0].check()
    assert subscribers[0].versions == [1]


def test_changes_are_kept_after_the_view_changes_its_engine(connect: Connect) -> None:
    """The table of a change is its own: it outlives the next change, and the kernel's memory."""
    db = connect()
    db.execute(SUMS + "CREATE VIEW v AS SELECT k, SUM(v) AS s FROM r GROUP BY k")
    view = db.view("v")
    view.track()
    heard: list[pa.Table] = []
    view.subscribe(lambda _, changes: heard.append(changes))
    db.insert("r", (1, 10))
    db.insert("r", [(i, 1) for i in range(100)])
    del db, view
    assert heard[0].to_pylist() == [{"k": 1, "s": 10, "__count": 1}]
    assert heard[1].num_rows == 101
    assert heard[0].schema == heard[1].schema


def test_a_subscription_without_kept_rows(connect: Connect, engine: str) -> None:
    if engine == "reference":
        pytest.skip("it keeps the rows")
    db = connect(keep_rows=False)
    db.execute(SUMS + "CREATE VIEW v AS SELECT k, SUM(v) AS s FROM r GROUP BY k")
    insert = db.writer("r").insert
    insert(1, 1)
    subscriber = Subscriber(db, "v")
    insert(1, 2)
    db.insert("r", [(2, 2), (1, 1)])
    with pytest.raises(BadRow):
        db.insert("r", [(2, 2), (1, None)])
    with pytest.raises(Overflow):
        db.insert("r", [(2, MOST)])
    insert(2, 3)
    subscriber.check()
    assert subscriber.versions == [2, 3, 4]


class Fake:
    """An engine of a view of one sum, which tells the changes that a test gives it."""

    def __init__(self, total: float) -> None:
        self.total = total
        self.deltas: list[pa.Table] = []

    @property
    def change_source(self) -> Fake:
        return self

    def collect(self) -> None:
        """Nothing is told of what was before."""
        self.deltas = []

    def add(self, x: float) -> None:
        """A row of this number comes, or goes."""
        old, self.total = self.total, self.total + x
        self.deltas.append(pa.table({"w": [old, self.total], "__count": [-1, 1]}))

    def changes(self) -> pa.Table:
        deltas, self.deltas = self.deltas, []
        return net_of([pa.table({"w": [0.5], "__count": [0]}), *deltas])

    def table(self) -> pa.Table:
        return pa.table({"w": [self.total]})


class FakeView:
    """A view on such an engine."""

    query = Query("v", (Column("w", DOUBLE),), ("w",), View("M", ()))

    def __init__(self, total: float) -> None:
        self.engine = Fake(total)

    def columns(self) -> pa.Table:
        return self.engine.table()


def counts(table: pa.Table) -> dict[float, int]:
    return {w: n for w, n in rows_of(table) if n}  # type: ignore[misc]


@pytest.mark.parametrize("refused", ["nothing", "a change", "a change that was told"])
def test_an_engine_that_rounds_otherwise(refused: str) -> None:
    view = FakeView(1.0)
    collector = ChangeCollector(view)
    collector.begin()
    if refused != "nothing":
        view.engine.add(5.0)
        if refused == "a change that was told":
            assert counts(collector.end()) == {1.0: -1, 6.0: 1}
            collector.take_back()
    view.engine = Fake(1.25)  # filled anew
    collector.begin()
    view.engine.add(1.0)
    assert counts(collector.end()) == {1.0: -1, 2.25: 1}
    collector.take_back()  # and once more: what is untold stays so
    view.engine.add(-1.0)
    collector.begin()
    view.engine.add(2.0)
    assert counts(collector.end()) == {1.0: -1, 3.25: 1}
