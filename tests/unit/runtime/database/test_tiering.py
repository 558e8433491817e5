"""Which engine serves a view, when, and what is said about it."""

from __future__ import annotations

import threading
import time
import warnings
from pathlib import Path

import pytest

import freshview
from freshview.errors import BadRow, BuildProblem, FreshviewError, FreshviewWarning, NotNative
from freshview.runtime.compile import kernels
from freshview.runtime.database import tiering
from freshview.runtime.database.database import Database
from freshview.runtime.database.tiering import TIER_UP_ROWS
from freshview.runtime.relations.stored_base import StoredBase

STREAM = "CREATE STREAM r (k BIGINT NOT NULL, v BIGINT NOT NULL);"
SUMS = "CREATE VIEW s AS SELECT k, SUM(v) AS total FROM r GROUP BY k;"
KEYED = (
    "CREATE STREAM o (id BIGINT PRIMARY KEY, v BIGINT NOT NULL);"
    "CREATE VIEW n AS SELECT id, v FROM o;"
)
LOUD = "CREATE STREAM t (a STRING NOT NULL); CREATE VIEW u AS SELECT upper(a) AS a FROM t;"
"""A view with a function in the place of one of SQL, which no kernel calls."""
MANY = [(i % 7, i) for i in range(TIER_UP_ROWS)]


def wait(db: Database) -> None:
    for job in db._tiering.jobs:
        assert job.wait(120)


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "compiler", lambda: None)


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.native
@pytest.mark.usefixtures("native", "empty_cache")
def test_a_kernel_takes_over_when_it_is_ready() -> None:
    db = freshview.connect()
    db.execute(STREAM + SUMS)
    view = db.view("s")
    db.insert("r", MANY[:-1])
    assert (view.engine, db._tiering.builds) == ("reference", {})
    db.insert("r", MANY[-1:])
    before = view.rows()
    wait(db)
    db.delete("r", MANY[:100])
    assert view.engine == "native"
    assert isinstance(db.state.bases["r"], StoredBase)
    assert "== engine\nnative" in view.explain()
    db.insert("r", MANY[:100])
    assert view.rows() == before
    with pytest.raises(BadRow, match=r"'r' does not hold \(7, 1\)"):
        db.delete("r", (7, 1))

    again = freshview.connect()
    again.execute(STREAM)
    again.insert("r", MANY)
    start = time.perf_counter()
    again.execute(SUMS)
    assert time.perf_counter() - start < 2  # 50 ms and filling it, on a quiet machine
    assert again.view("s").engine == "native"
    assert again.view("s").rows() == before


@pytest.mark.native
@pytest.mark.usefixtures("native", "empty_cache")
def test_many_rows_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a change, whether or not a view reads it, and below a view that comes later."""
    monkeypatch.setattr(tiering, "WAIT_ROWS", len(MANY))
    db = freshview.connect()
    db.execute(STREAM + SUMS + "CREATE STREAM unread (k BIGINT NOT NULL);")
    db.insert("r", MANY[1:])
    assert db.view("s").engine == "reference"
    db.insert("r", MANY)
    assert (db.view("s").engine, db._tiering.is_building) == ("native", False)
    assert f"== engine\nnative\nsince a change of {len(MANY):,} rows" in db.view("s").explain()
    assert all(isinstance(base, StoredBase) for base in db.state.bases.values())
    db.execute("CREATE VIEW n AS SELECT COUNT(*) AS n FROM r;")
    assert (db.view("n").engine, db.view("n").rows()) == ("native", [(2 * len(MANY) - 1,)])


@pytest.mark.native
@pytest.mark.usefixtures("native", "empty_cache")
def test_many_rows_in_batches_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A load in batches is not for Python, either; rows that come one by one do not wait."""
    monkeypatch.setattr(tiering, "WAIT_ROWS", 5000)
    gate, build = threading.Event(), kernels.build
    monkeypatch.setattr(kernels, "build", lambda *args: (gate.wait(60), build(*args))[1])
    db = freshview.connect()
    db.execute(STREAM + SUMS)
    for _ in range(2):
        db.insert("r", MANY)
        assert db.view("s").engine == "reference"
    for row in MANY[:999]:
        db.insert("r", row)
    db.insert("r", MANY[:999])
    assert db.view("s").engine == "reference"
    threading.Timer(0.2, gate.set).start()
    db.insert("r", MANY[:1000])
    assert (db.view("s").engine, db._tiering.is_building) == ("native", False)
    assert "== engine\nnative\nsince a change of 1,000 rows" in db.view("s").explain()
    assert sum(total for _, total in db.view("s").rows()) == 2 * sum(range(2000)) + sum(
        sum(range(n)) for n in (999, 999, 1000)
    )


@pytest.mark.native
@pytest.mark.usefixtures("native", "empty_cache")
def test_few_rows_that_are_much_work_wait_for_the_compiler() -> None:
    """A view that compares all rows with all would keep Python busy for minutes."""
    db = freshview.connect()
    db.execute(STREAM + SUMS)
    db.execute(
        "CREATE VIEW pairs AS SELECT COUNT(*) AS n FROM r a, r b WHERE a.k * b.v < a.v * b.k;"
    )
    db.insert("r", MANY[:20])
    assert db.view("pairs").engine == "reference"
    db.insert("r", MANY[20:900])
    assert db.view("pairs").engine == "native"
    rows = MANY[:900]
    expected = sum(k * w < v * j for k, v in rows for j, w in rows)
    assert db.view("pairs").rows() == [(expected,)]


@pytest.mark.native
@pytest.mark.usefixtures("native", "empty_cache")
def test_a_kernel_is_built_early_for_rows_that_are_much_work() -> None:
    db = freshview.connect()
    db.execute(STREAM + SUMS)
    db.execute(
        "CREATE VIEW pairs AS SELECT COUNT(*) AS n FROM r a, r b WHERE a.k * b.v < a.v * b.k;"
    )
    rows = 0
    while not db._tiering.is_building and rows < 600:
        db.insert("r", [MANY[rows]])
        rows += 1
    assert 32 <= rows < 600


@pytest.mark.usefixtures("empty_cache")
def test_a_view_that_needs_python_stays_with_one_warning() -> None:
    db = freshview.connect()
    db.register_function("upper", str.upper, "string")
    db.execute(LOUD)
    rows = [("x",)] * TIER_UP_ROWS
    db.insert("t", rows)
    wait(db)
    with pytest.warns(FreshviewWarning, match="'u' stays with the reference engine: ") as warned:
        db.insert("t", rows)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        db.insert("t", rows)
        assert db.view("u").engine == "reference"
    assert db.view("u").statistics().note in db.view("u").explain()
    assert "== engine\nreference: " in db.view("u").explain()


@pytest.mark.usefixtures("empty_cache", "no_compiler")
def test_without_a_compiler_the_reference_engine_stays_with_one_warning() -> None:
    db = freshview.connect()
    db.execute(STREAM + SUMS + SUMS.replace(" s ", " z "))
    with pytest.warns(FreshviewWarning, match=r"there is no C\+\+ compiler") as warned:
        db.insert("r", MANY)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        db.insert("r", MANY)
    assert [v.engine for v in db.views] == ["reference"] * 2
    assert all("no C++ compiler" in v.statistics().note for v in db.views)


@pytest.mark.usefixtures("no_compiler")
def test_native_without_a_compiler_is_refused() -> None:
    db = freshview.connect(engine="native")
    with pytest.raises(BuildProblem, match=r"no C\+\+ compiler .*; install g\+\+"):
        db.execute(STREAM + SUMS)
    assert db.views == ()


def test_kernels_call_functions_of_the_user(native: None) -> None:
    db = freshview.connect(engine="native")
    db.register_function("half", lambda x: x / 2, "double")
    db.execute(STREAM + "CREATE VIEW h AS SELECT half(k) AS h FROM r")
    db.insert("r", [(1, 1), (4, 1)])
    assert sorted(db.view("h").rows()) == [(0.5,), (2.0,)]


def test_a_function_in_the_place_of_a_builtin_is_python_too(native: None) -> None:
    script = STREAM + "CREATE VIEW h AS SELECT abs(k) AS h FROM r"
    plain = freshview.connect(engine="native")
    plain.execute(script)
    db = freshview.connect(engine="native")
    db.register_function("abs", lambda x: 5, "int")
    with pytest.raises(NotNative, match="the function 'abs'"):
        db.execute(script)


@pytest.mark.parametrize("engine", ["reference", pytest.param("native", marks=pytest.mark.native)])
def test_without_kept_rows_views_come_first(engine: str, native: None) -> None:
    db = freshview.connect(engine=engine, keep_rows=False)  # type: ignore[arg-type]
    db.execute(STREAM + SUMS)
    db.delete("r", (1, 5))  # nobody knows that it is not there
    db.insert("r", [(1, 5), (2, 6)])
    assert db.view("s").rows() == [(2, 6)]
    with pytest.raises(
        FreshviewError, match=r"after rows of 'r', which are not kept; declare views"
    ):
        db.execute(SUMS.replace(" s ", " z "))
    db.execute(KEYED)
    db.insert("o", (1, 2))
    assert db.view("n").rows() == [(1, 2)]
    with pytest.raises(BadRow):
        db.apply({"o": [((2, 2), 1)], "r": [((1, "x"), 1)]})
    assert (db.view("n").rows(), db.version) == ([(1, 2)], 3)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("engine", ["reference", pytest.param("native", marks=pytest.mark.native)])
def test_static_tables_with_and_without_kept_rows(engine: str, keep: bool, native: None) -> None:
    db = freshview.connect(engine=engine, keep_rows=keep)  # type: ignore[arg-type]
    db.execute(
        STREAM + "CREATE TABLE names (k BIGINT PRIMARY KEY, name STRING NOT NULL);"
        "CREATE VIEW named AS SELECT n.name, SUM(r.v) AS v FROM r, names n WHERE r.k = n.k"
        " GROUP BY n.name"
    )
    assert db.load("names", [(1, "one")]) == 1
    assert db.load("names", {"k": [2, 3], "name": ["two", "three"]}) == 2
    with pytest.raises(BadRow, match=r"names\.name cannot hold 5"):
        db.load("names", [(4, 5)])
    db.insert("r", [(1, 10), (2, 20), (4, 40)])
    assert db.view("named").rows() == [("one", 10), ("two", 20)]
    with pytest.raises(BadRow, match="changes have arrived"):
        db.load("names", [(4, "four")])


WRITERS = [
    ("reference", True),
    ("reference", False),
    pytest.param("native", True, marks=pytest.mark.native),
    pytest.param("native", False, marks=pytest.mark.native),
]


@pytest.mark.parametrize(("engine", "keep"), WRITERS)
def test_a_writer_takes_single_rows(engine: str, keep: bool, native: None) -> None:
    db = freshview.connect(engine=engine, keep_rows=keep)  # type: ignore[arg-type]
    db.execute(STREAM + SUMS)
    writer = db.writer("R")
    insert, delete = writer.insert, writer.delete
    for i in range(10):
        insert(i % 2, i)
    delete(1, 9)
    assert (db.view("s").rows(), db.version) == ([(0, 20), (1, 16)], 11)
    for bad in [(1,), (1, "x"), (None, 1)]:
        with pytest.raises(BadRow):
            insert(*bad)
    assert db.view("s").read()[0] == db.version == 11


@pytest.mark.native
def test_functions_of_a_writer_that_were_kept_see_what_came_later(native: None) -> None:
    """They were one kernel's own; then there is a subscription, a hook, another view."""
    db = freshview.connect(engine="native", keep_rows=False)
    db.execute(STREAM + SUMS)
    insert = db.writer("r").insert
    insert(1, 1)
    heard: list[int] = []
    end = db.view("s").subscribe(lambda version, _: heard.append(version))
    insert(1, 2)
    end()
    away = db.on_event("r", lambda row, _: (row[0], row[1] * 100))
    insert(1, 3)
    away()
    insert(1, 4)
    assert (db.view("s").rows(), db.version, heard) == ([(1, 307)], 4, [2])
    with pytest.raises(FreshviewError, match="not kept"):
        db.execute(SUMS.replace(" s ", " z "))


@pytest.mark.native
def test_writers_of_one_kernel_are_diverted_each_by_itself(native: None) -> None:
    db = freshview.connect(engine="native", keep_rows=False)
    db.execute(
        "CREATE STREAM a (k BIGINT NOT NULL); CREATE STREAM b (k BIGINT NOT NULL);"
        "CREATE VIEW pairs AS SELECT a.k, COUNT(*) AS n FROM a, b WHERE a.k = b.k GROUP BY a.k"
    )
    insert_a, insert_b = db.writer("a").insert, db.writer("b").insert
    insert_a(1)
    db.on_event("a", lambda row, _: (row[0] + 1,))
    insert_a(0)
    insert_b(1)
    assert (db.view("pairs").rows(), db.version) == ([(1, 2)], 3)


@pytest.mark.native
def test_a_writer_checks_keys_and_deletions(native: None) -> None:
    db = freshview.connect(engine="native")
    db.execute(KEYED + KEYED.replace(" o ", " p ").replace("VIEW n", "VIEW m").replace("o;", "p;"))
    writer = db.writer("o")
    writer.insert(1, 5)
    with pytest.raises(BadRow, match=r"'o' would hold two rows with the key \(1\)"):
        writer.insert(1, 6)
    with pytest.raises(BadRow, match=r"'o' does not hold \(1, 6\)"):
        writer.delete(1, 6)
    writer.delete(1, 5)
    writer.insert(1, 6)
    assert (db.view("n").rows(), db.version) == ([(1, 6)], 3)


@pytest.mark.native
def test_a_row_that_one_view_cannot_take_is_taken_by_none(native: None) -> None:
    db = freshview.connect(engine="native")
    db.execute(STREAM + "CREATE VIEW c AS SELECT COUNT(*) AS n FROM r;" + SUMS)
    writer = db.writer("r")
    writer.insert(1, (1 << 63) - 1)
    with pytest.raises(freshview.FreshviewError, match="out of its range"):
        writer.insert(1, 1)
    assert (db.view("c").rows(), db.version) == ([(1,)], 1)
    db.delete("r", (1, (1 << 63) - 1))


@pytest.mark.native
def test_rows_that_come_before_the_views_are_in_kernels_too(native: None) -> None:
    db = freshview.connect(engine="native")
    db.execute(STREAM)
    db.insert("r", {"k": [1, 2], "v": [3, 4]})
    assert isinstance(db.state.bases["r"], StoredBase)
    db.execute(SUMS)
    assert db.view("s").rows() == [(1, 3), (2, 4)]


@pytest.mark.native
def test_statistics_tell_sizes_and_work(native: None) -> None:
    db = freshview.connect(engine="native", profile=True)
    db.execute(STREAM + SUMS)
    db.insert("r", MANY)
    statistics = db.view("s").statistics()
    assert statistics.engine == "native"
    assert set(statistics.rows.values()) == {7}
    assert statistics.bytes > 0
    # Rows are added up by key first, a block at a time, and every key is written once.
    assert 7 <= statistics.writes < TIER_UP_ROWS
    assert db.view("s").work == statistics.visits + statistics.writes


def test_statistics_of_the_reference_engine() -> None:
    db = freshview.connect(engine="reference")
    db.execute(STREAM + SUMS)
    db.insert("r", MANY)
    statistics = db.view("s").statistics()
    assert (statistics.engine, statistics.bytes, statistics.build_seconds) == ("reference", 0, 0.0)
    assert set(statistics.rows.values()) == {7}
    assert statistics.writes > 0


@pytest.mark.native
def test_the_reference_engine_stays_where_it_was_asked_for(native: None) -> None:
    db = freshview.connect(engine="reference")
    db.execute(STREAM + SUMS)
    for _ in range(2):
        db.insert("r", MANY)
        assert db._tiering.builds == {}
    assert db.view("s").engine == "reference"


@pytest.mark.native
def test_a_program_that_walks_through_the_data_takes_batches(native: None) -> None:
    db = freshview.connect(engine="native")
    db.execute(STREAM + "CREATE VIEW d AS SELECT a.k, b.v FROM r a, r b WHERE a.v + b.k = b.v + 2;")
    db.insert("r", [(1, 2), (3, 4)])
    reference = freshview.connect(engine="reference")
    reference.execute(STREAM + "SELECT a.k, b.v FROM r a, r b WHERE a.v + b.k = b.v + 2")
    reference.insert("r", [(1, 2), (3, 4)])
    assert db.view("d").rows() == reference.view("query").rows()


@pytest.mark.native
@pytest.mark.usefixtures("native")
def test_the_columns_of_a_wide_relation_keep_their_places() -> None:
    wide = range(12)  # kernels sort the keys of a map by name, and c10 comes before c2
    names = ", ".join(f"a{i} BIGINT" for i in wide)
    db = freshview.connect(engine="native")
    db.execute(f"CREATE STREAM r ({names}, PRIMARY KEY (a2, a11));")
    db.insert("r", [tuple(wide)])
    (later,) = db.execute("CREATE VIEW later AS SELECT * FROM r")
    assert later.rows() == [tuple(wide)]
    with pytest.raises(BadRow, match=r"two rows with the key \(2, 11\)"):
        db.insert("r", [tuple(i if i in (2, 11) else 0 for i in wide)])
    with pytest.raises(BadRow, match=r"does not hold \(0, 0, 0,"):
        db.delete("r", [(0,) * 12])
    assert later.rows() == [tuple(wide)]
