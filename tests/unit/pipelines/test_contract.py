"""Pipelines refuse what a database refuses: rows that are not there, and keys with two rows."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from decimal import Decimal as D
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import freshview as fv
from freshview.durable import task
from freshview.durable.commit_log import Interrupted
from freshview.durable.epoch import DriverFenced
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.errors import BadRow, FreshviewError, UnknownName
from freshview.pipelines.counted_table import counted_table, plain_table
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.pipeline import Pipeline
from freshview.spark.io.decode import DecodedBatch
from freshview.spark.io.keys import KeyStore
from freshview.spark.io.upsert import DELETED
from freshview.spark.nodes.violations import RefusedBatch
from tests.thin import thin

STREAMS = """
CREATE STREAM o (id BIGINT PRIMARY KEY, c BIGINT, name STRING, at DATE);
CREATE STREAM i (id BIGINT NOT NULL, p DECIMAL(8, 2), w DOUBLE);
"""
VIEWS = """
CREATE VIEW n AS SELECT o.c, COUNT(*) AS n, SUM(i.p) AS p FROM o, i WHERE o.id = i.id
  AND o.id < 100 GROUP BY o.c;
CREATE VIEW lone AS SELECT COUNT(*) AS n FROM i WHERE i.id > 2;
"""
SCRIPT = STREAMS + VIEWS


class Maker:
    """Makes pipelines over one folder, each as if its driver were new."""

    def __init__(self, folder: Path, native: bool) -> None:
        self.folder, self.native = folder, native

    def __call__(self, script: str = SCRIPT, **choices: Any) -> Pipeline:
        settings = FlowSettings(3, str(self.folder / "memory"), native=self.native)
        defaults = {"checkpoint": self.folder / "checkpoint", "workers": 3, "settings": settings}
        runner: Any = InlineRunner()
        flow = Pipeline(PipelineOptions(**{**defaults, **choices}), runner, self.folder)
        flow.declare(script)
        return flow


@pytest.fixture
def make(tmp_path: Path, native: bool) -> Maker:
    return Maker(tmp_path, native)


@pytest.fixture
def make_plain(tmp_path: Path) -> Maker:
    return Maker(tmp_path, False)


def rows(flow: Pipeline, view: str = "n") -> list[Any]:
    return sorted(flow.view(view).rows(), key=repr)


ORDER, ITEM = (1, 1, "a", None), (1, D("2.50"), 0.5)

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a row that never was": ({"i": [((9, D("1"), 1.0), -1)]}, r"'i' does not hold \(9, "),
    "the same with NULL": ({"i": [((1, None, None), -1)]}, r"'i' does not hold \(1, None, None\)"),
    "one copy too many": ({"i": [(ITEM, -3)]}, "'i' does not hold .* 3 times"),
    "two deletions of one": ({"o": [(ORDER, -1), (ORDER, -1)]}, "'o' does not hold .* 2 times"),
    "another row of a key": ({"o": [((1, 2, "a", None), -1)]}, r"'o' does not hold \(1, 2, 'a'"),
    "a second row of a key": ({"o": [((1, 2, "b", None), 1)]}, r"two rows with the key \(1\)"),
    "the same row of a key": ({"o": [(ORDER, 1)]}, r"two rows with the key \(1\)"),
    "two new rows of a key": (
        {"o": [((7, 2, "b", None), 1), ((7, 2, "c", None), 1)]},
        r"two rows with the key \(7\)",
    ),
    "twice the new row of a key": ({"o": [((7, 2, "b", None), 2)]}, r"the key \(7\)"),
    "a good row beside": (
        {"o": [((8, 1, "x", None), 1)], "i": [((9, D("1"), 1.0), -1)]},
        "'i' does",
    ),
    "a row that no view looks at": ({"o": [((999, 1, "x", None), -1)]}, "'o' does not hold"),
    "replaced by two": (
        {"o": [(ORDER, -1), ((1, 2, "b", None), 1), ((1, 3, "b", None), 1)]},
        r"the key \(1\)",
    ),
}


def test_what_cannot_be_is_refused_whole(make: Maker) -> None:
    flow = make()
    flow.push(
        {
            "o": [ORDER, (2, None, None, None)],
            "i": [ITEM, ITEM, (2, None, None), (5, D("1.00"), 0.0)],
        }
    )
    before = rows(flow), rows(flow, "lone")
    for batch, said in REFUSED.values():
        with pytest.raises(BadRow, match=said):
            flow.push(batch)
        assert flow.version == 1
        assert (rows(flow), rows(flow, "lone")) == before
    assert flow.push({"o": [(ORDER, -1), ((1, 4, "z", None), 1)], "i": [(ITEM, -1)]}) == 2
    assert flow.push({"i": [(ITEM, -1), ((2, None, None), -1), ((5, D("1.00"), 0.0), -1)]}) == 3
    assert (rows(flow), rows(flow, "lone")) == ([], [(0,)])
    flow.stop()


def test_databases_say_the_same() -> None:
    db = fv.connect(engine="reference")
    db.execute(SCRIPT)
    db.apply({"o": [(ORDER, 1)], "i": [(ITEM, 2)]})
    for batch, said in REFUSED.values():
        with pytest.raises(BadRow, match=said):
            db.apply(batch)


def test_what_is_kept_to_check_outlives_a_stop_and_the_loss_of_memory(make: Maker) -> None:
    flow = make()
    for k in range(1, 8):
        flow.push({"o": [(k, k % 2, "a", None)], "i": [(k, D("1.00"), 0.0)]})
        with pytest.raises(RefusedBatch):
            flow.push({"i": [((k, D("1.00"), 0.0), 1), ((k + 1, D("1.00"), 0.0), -1)]})
    wanted = rows(flow)
    task.forget(str(flow.home / "state"))
    with pytest.raises(RefusedBatch, match=r"the key \(3\)"):
        flow.push({"o": [(3, 1, "b", None)]})
    flow.stop()
    again = make()
    with pytest.raises(RefusedBatch, match=r"the key \(3\)"):
        again.push({"o": [(3, 1, "b", None)]})
    with pytest.raises(RefusedBatch, match="'i' does not hold"):
        again.push({"i": [((3, D("2.00"), 0.0), -1)]})
    assert rows(again) == wanted
    again.push({"o": [((3, 1, "a", None), -1), ((3, 0, "b", None), 1)]})
    again.stop()


def random_batch(rng: random.Random) -> dict[str, Any]:
    """Few keys and few rows, so that what comes and goes is often there, and often not."""
    batch = {}
    if rng.random() < 0.7:
        batch["o"] = [
            ((rng.randint(1, 4), rng.choice((1, 2, None)), "a", None), rng.choice((1, 1, -1)))
            for _ in range(rng.randint(1, 3))
        ]
    if rng.random() < 0.7 or not batch:
        batch["i"] = [
            ((rng.randint(1, 4), rng.choice((D("1.00"), None)), 0.5), rng.choice((1, 1, 2, -1)))
            for _ in range(rng.randint(1, 3))
        ]
    return batch


@pytest.mark.parametrize("seed", thin(range(3), 3))
def test_pipelines_and_databases_refuse_the_same(make: Maker, seed: int) -> None:
    rng = random.Random(seed)
    db = fv.connect(engine="reference")
    db.execute(SCRIPT)
    flow, refused = make().start(), 0
    for _ in range(40):
        batch, before = random_batch(rng), flow.version
        try:
            db.apply(batch)
        except BadRow:
            refused += 1
            with pytest.raises(BadRow):
                flow.push(batch)
            assert flow.version == before
        else:
            flow.push(batch)
        for view in ("n", "lone"):
            assert rows(flow, view) == sorted(db.view(view).rows(), key=repr), batch
    assert 5 < refused < 35
    flow.stop()


def test_a_load_that_cannot_be_stops_at_its_piece(make: Maker) -> None:
    flow = make()
    good = [(i, D("1.00"), 0.0) for i in range(30)]
    flow.push({"o": [ORDER]})
    bad = [(r, 1) for r in good]
    bad[25] = ((99, D("1.00"), 0.0), -1)
    with pytest.raises(BadRow, match=r"'i' does not hold \(99,"):
        flow.load({"i": bad}, rows=10)
    assert 1 <= flow.version <= 3
    assert flow.load({"i": good}, rows=10, anew=True) > 1
    flow.stop()


def test_rows_that_are_kept_by_key_are_checked_there(make_plain: Maker) -> None:
    flow = make_plain(upserts=("o",))
    assert not [
        g for g in flow.start()._running_flow().work.distributed.guards if g.relation.name == "o"
    ]
    flow.push({"o": [ORDER]})
    for batch, said in REFUSED.values():
        if set(batch) == {"o"}:
            with pytest.raises(BadRow, match=said):
                flow.push(batch)
    assert flow.version == 1
    flow.upsert("o", [(1, 5, "b", None)])
    with pytest.raises(BadRow, match="'o' does not hold"):
        flow.push({"o": [(ORDER, -1)]})
    flow.push({"o": [((1, 5, "b", None), -1), (ORDER, 1)]})
    flow.upsert("o", [ORDER], deleted=[True])
    flow.push({"o": [(ORDER, 1)]})
    flow.stop()
    again = make_plain(upserts=("o",))
    with pytest.raises(BadRow, match=r"two rows with the key \(1\)"):
        again.push({"o": [ORDER]})
    again.stop()


class TestTrusted:
    def test_it_is_not_checked_and_says_so(self, make_plain: Maker) -> None:
        flow = make_plain(trusted=("O",))
        flow.push({"o": [ORDER, (1, 2, "b", None)]})
        with pytest.raises(BadRow, match="'i' does not hold"):
            flow.push({"i": [(ITEM, -1)]})
        said = flow.view("n").explain()
        assert "o: trusted: a deletion of what is not there" in said
        assert "i: checked, its rows are kept on the workers" in said
        assert "held of" not in said
        flow.stop()

    def test_all_of_them(self, make_plain: Maker) -> None:
        flow = make_plain(trusted=True)
        flow.push({"i": [(ITEM, -1)]})
        assert not flow._running_flow().work.distributed.guards
        flow.stop()

    def test_a_name_that_is_none(self, make_plain: Maker) -> None:
        with pytest.raises(UnknownName, match="there is no stream 'x' to trust"):
            make_plain(trusted=("x",)).start()

    def test_a_checkpoint_stays_as_it_was(self, make_plain: Maker) -> None:
        flow = make_plain()
        flow.push({"o": [ORDER]})
        flow.stop()
        with pytest.raises(
            FreshviewError, match="keeps the rows of other streams to check them: i,"
        ):
            make_plain(trusted=("o",)).start()


def letters(folder: Path, name: str) -> list[dict[str, str]]:
    paths = sorted((folder / "checkpoint" / "dead_letters" / name).glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def test_sources_go_on_without_rows_that_cannot_be(make_plain: Maker, tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_text("1,1,a,\n2,1,b,\n2,2,c,\n3,1,d,\n1,7,e,\n4,1,f,\n")
    script = STREAMS.replace(";", " FROM FILE 'o.csv' LINE DELIMITED CSV;", 1) + VIEWS
    with make_plain(script, batch=3) as flow:
        assert flow.await_done(60)
        flow.push({"i": [(k, D("1.00"), 0.0) for k in range(1, 5)]})
        assert flow.view("n").rows()[0][:2] == (1, 3)
        assert flow.totals.last is not None
        assert flow.totals.last.rejected == 3
    rejected = letters(tmp_path, "o")
    assert [f["reason"] for f in rejected] == [
        "'o' would hold two rows with the key (2)",
        "'o' would hold two rows with the key (2)",
        "'o' would hold two rows with the key (1)",
    ]
    assert json.loads(rejected[-1]["row"]) == {
        "id": 1,
        "c": 7,
        "name": "e",
        "at": None,
        "__count": 1,
    }


def test_a_source_that_only_adds_rows_costs_nothing(make_plain: Maker, tmp_path: Path) -> None:
    (tmp_path / "i.csv").write_text("1,1,1\n1,1,1\n")
    script = STREAMS.replace("w DOUBLE);", "w DOUBLE) FROM FILE 'i.csv' LINE DELIMITED CSV;")
    with make_plain(script + VIEWS) as flow:
        assert flow.await_done(60)
        assert [g.relation.name for g in flow._running_flow().work.distributed.guards] == ["o"]
        assert "i: append-only and without a key: nothing to check" in flow.explain()
        flow.push({"i": [ITEM]})
        for give in (flow.push, flow.load):
            with pytest.raises(BadRow, match="'i' is read from a source that only adds rows"):
                give({"i": [(ITEM, -1)]})


def test_static_tables_have_one_row_a_key(make_plain: Maker, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,a\n2,b\n2,c\n3,d\n3,d\n")
    script = """CREATE STREAM s (k BIGINT NOT NULL);
    CREATE TABLE t (k BIGINT PRIMARY KEY, name STRING) FROM FILE 't.csv' LINE DELIMITED CSV;
    CREATE VIEW n AS SELECT t.name, COUNT(*) AS n FROM s, t WHERE s.k = t.k GROUP BY t.name;"""
    with make_plain(script) as flow:
        flow.push({"s": [(1,), (2,), (3,)]})
        assert rows(flow) == [("a", 1)]
    assert [f["reason"] for f in letters(tmp_path, "t")] == [
        f"'t' would hold two rows with the key ({k})" for k in (2, 2, 3, 3)
    ]


HOSTILE = 'CREATE STREAM `a b;--` (`c0` BIGINT, `n` STRING, `C 1"` DOUBLE, PRIMARY KEY (`n`));'


def test_names_do_not_matter(make: Maker) -> None:
    flow = make(f"{HOSTILE}CREATE VIEW v AS SELECT COUNT(*) AS n FROM `a b;--`;")
    flow.push({"a b;--": [(1, "x", 0.5)]})
    with pytest.raises(BadRow, match=r"two rows with the key \('x'\)"):
        flow.push({"a b;--": [(2, "x", 0.5)]})
    with pytest.raises(BadRow, match="does not hold"):
        flow.push({"a b;--": pa.table({"c0": [1], "n": ["x"], 'C 1"': [0.25], "__count": [-1]})})
    flow.stop()


def test_a_batch_that_was_refused_when_nobody_listened_does_not_stop_the_next_start(
    make_plain: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver died with a batch that is logged, and that cannot be."""
    flow = make_plain()
    flow.push({"i": [ITEM]})

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(flow._running_flow()._coordinator, "step", die)
        with pytest.raises(KeyboardInterrupt):
            flow.push({"i": [(ITEM, -2)]})
    again = make_plain()
    with pytest.warns(UserWarning, match="is refused: 'i' does not hold .* 2 times"):
        again.start()
    assert again.version == 1
    assert again.push({"i": [(ITEM, -1)]}) == 2
    again.stop()


NAMED = """CREATE STREAM s (id BIGINT PRIMARY KEY, name STRING, at TIMESTAMP);
CREATE VIEW v AS SELECT id, name FROM s;
CREATE VIEW n AS SELECT COUNT(*) AS n FROM s;"""


def table(name: Any = "a", at: Any = None, **columns: Any) -> pa.Table:
    at = pa.nulls(1, pa.timestamp("us")) if at is None else at
    return pa.table({"id": pa.array([1]), "name": name, "at": at, **columns})


DAMAGED = pa.DictionaryArray.from_arrays(pa.array([7], pa.int8()), pa.array(["q"]), safe=False)
TWICE = pa.Table.from_arrays([pa.array([n]) for n in (1, "a", None, 2)], ["id", "name", "at", "ID"])

MISGIVEN: dict[str, tuple[Any, str]] = {
    "a column too many": (table(["a"], names=["b"]), "'s' has no column 'names'"),
    "counts that are not counts": (table(["a"], __COUNT=[-1]), "'s' has no column '__COUNT'"),
    "what sources call a bad record": (
        table(["a"], __corrupt=["2,b,"]),
        "'s' has no column '__corrupt'",
    ),
    "a column twice": (TWICE, "two columns 'ID'"),
    "counts twice": (
        table(["a"], __count=[1]).append_column("__count", pa.array([1])),
        "several columns '__count'",
    ),
    "finer moments": (
        table(["a"], pa.array([1], pa.timestamp("ns"))),
        "s.at cannot hold 'a moment finer",
    ),
    "a damaged column": (table(DAMAGED), "a column of 's' cannot be read"),
    "too many counts": ((table(["a"]), [1, 1]), "1 rows of 's' come with 2 counts"),
    "counts that add up to too much": (
        [((1, "a", None), 2**62)] * 3,
        r"'s' would hold \(1, 'a', None\) more often than 64 bits count",
    ),
    "values of several types": (
        pd.DataFrame({"id": [1, "x"], "name": ["a", 5], "at": [None, None]}),
        "the table of rows of 's' cannot be read",
    ),
    "a series": (pd.Series([1, 2]), "cannot take a Series of pandas; give a DataFrame"),
}


@pytest.mark.parametrize("what", MISGIVEN)
def test_tables_that_do_not_fit_are_refused(make_plain: Maker, what: str) -> None:
    tables, said = MISGIVEN[what]
    flow = make_plain(NAMED)
    with pytest.raises(FreshviewError, match=said):
        flow.push({"s": tables})
    assert flow.version == 0
    flow.stop()


def test_all_that_is_given_counts(make_plain: Maker) -> None:
    """Whatever a stream is called, and whatever form its counts have."""
    flow = make_plain(NAMED)
    flow.push({"s": [(1, "a", None)], "S": [(2, "b", None)]})
    assert rows(flow, "v") == [(1, "a"), (2, "b")]
    flow.push({"s": {"id": [1], "name": ["a"], "at": [None], "__count": [-1]}})
    flow.push({"s": iter([((2, "b", None), -1), ((3, "c", None), 1)])})
    flow.load({"s": [(4, "d", None)], "S": [(5, "e", None)]})
    assert rows(flow, "v") == [(3, "c"), (4, "d"), (5, "e")]
    for size in (0, -1):
        with pytest.raises(BadRow, match=f"pieces of {size} rows"):
            flow.load({"s": [(6, "f", None)]}, rows=size)
    unlike: Any = [(7, "g", None)]
    with pytest.raises(BadRow, match="a batch cannot be list"):
        flow.push(unlike)
    with pytest.raises(BadRow, match="there is no stream 5"):
        flow.push({5: unlike})  # type: ignore[dict-item]
    flow.stop()


def test_of_the_events_of_a_key_the_last_one_counts(make_plain: Maker) -> None:
    flow = make_plain(NAMED, upserts=("s",))
    flow.upsert("s", [(1, "a", None), (1, "b", None), (1, "a", None), (2, "c", None)])
    assert rows(flow, "v") == [(1, "a"), (2, "c")]
    flow.upsert("s", [(2, "c", None), (2, "c", None)], deleted=[False, True])
    assert rows(flow, "v") == [(1, "a")]
    for deleted in ([True], ["false", "false"], "no"):
        with pytest.raises(BadRow, match="does not say which of the 2 rows of 's' are deleted"):
            flow.upsert("s", [(1, "a", None), (2, "b", None)], deleted=deleted)
    for counted in ([((1, "a", None), -1)], table(["a"], __count=[-1])):
        with pytest.raises(BadRow):
            flow.upsert("s", counted)
    flow.stop()


CANCELLING = {
    "no row": [(1, "a", 0)],
    "a row that comes and goes": [(1, "a", 1), (1, "a", -1)],
    "a row between two others": [(1, "c", 1), (1, "b", 1), (1, "b", -1)],
    "the same row twice": [(1, "a", 2), (1, "a", -1)],
}


@pytest.mark.parametrize("what", CANCELLING)
def test_rows_that_cancel_out_are_not_kept_by_key(make_plain: Maker, what: str) -> None:
    flow = make_plain(NAMED, upserts=("s",))
    ids, names, counts = zip(*CANCELLING[what], strict=True)
    flow.push({"s": {"id": ids, "name": names, "at": [None] * len(ids), "__count": counts}})
    flow.upsert("s", [(1, "d", None)])
    assert (rows(flow, "v"), rows(flow)) == ([(1, "d")], [(1,)])
    flow.stop()


def upserted(flow: Pipeline, name: str) -> list[Any]:
    flow.upsert("s", [(1, name, None)])
    rejected = rows(flow, "v")
    flow.stop()
    return rejected


@pytest.mark.parametrize("how", ["delete", "empty", "cut", "older", "other"])
def test_rows_by_key_that_were_lost_are_missed(make_plain: Maker, how: str) -> None:
    """Else the row that an upsert replaces would stay in the views."""
    place = make_plain.folder / "checkpoint" / "keys.sqlite"
    upserted(make_plain(NAMED, upserts=("s",)), "a")
    older = place.read_bytes()
    assert upserted(make_plain(NAMED, upserts=("s",)), "b") == [(1, "b")]
    data = place.read_bytes()
    place.write_bytes(
        {"cut": data[: len(data) // 2], "older": older, "other": b"x" * 5000}.get(how, b"")
    )
    if how == "delete":
        place.unlink()
    with pytest.raises(
        FreshviewError, match=r"the rows by key in .* (do not match|cannot be read)"
    ):
        make_plain(NAMED, upserts=("s",)).start()
    place.write_bytes(data)
    assert upserted(make_plain(NAMED, upserts=("s",)), "c") == [(1, "c")]


def test_a_checkpoint_keeps_the_rows_by_key_of_the_same_streams(make_plain: Maker) -> None:
    flow = make_plain(NAMED, trusted=True)
    flow.push({"s": [(1, "a", None)]})
    flow.stop()
    with pytest.raises(FreshviewError, match="keeps the rows of other streams by key: none"):
        make_plain(NAMED, trusted=True, upserts=("s",)).start()


def test_what_an_older_driver_expects_does_not_come_to_pass(make_plain: Maker) -> None:
    script = (
        f"{NAMED}CREATE STREAM other (id BIGINT);CREATE VIEW o AS SELECT COUNT(*) AS n FROM other;"
    )
    old = make_plain(script, upserts=("s",))
    old.upsert("s", [(1, "a", None)])
    new = make_plain(script, upserts=("s",))
    new.push({"other": [(1,)]})
    with pytest.raises(DriverFenced):
        old.upsert("s", [(1, "b", None)])
    new.push({"other": [(2,)]})
    assert upserted(new, "c") == [(1, "c")]


def test_a_full_disk_is_told_by_the_rows_by_key(
    make_plain: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = make_plain(NAMED, upserts=("s",))
    flow.push({"s": [(1, "a", None)]})

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(KeyStore, "_write", fail)
        with pytest.raises(FreshviewError, match="cannot be read or written: database or disk is"):
            flow.upsert("s", [(1, "b", None)])
    assert upserted(flow, "c") == [(1, "c")]


class Failing(InlineRunner):
    """Workers that are gone at times."""

    broken = False

    def run(self, orders: Any) -> Any:
        if self.broken:
            raise RuntimeError("the executors are lost")
        return super().run(orders)


@pytest.mark.parametrize("who", ["read", "push"])
def test_a_batch_of_a_source_that_was_interrupted_counts_once(tmp_path: Path, who: str) -> None:
    """Whoever ends it, the next batch tells that it was read."""
    (tmp_path / "i.csv").write_text("1,1,1\n2,2,2\n")
    script = STREAMS.replace("w DOUBLE);", "w DOUBLE) FROM FILE 'i.csv' LINE DELIMITED CSV;")
    runner = Failing()

    def flow() -> Pipeline:
        settings = FlowSettings(3, str(tmp_path / "memory"), native=False)
        choices = PipelineOptions(checkpoint=tmp_path / "checkpoint", workers=2, settings=settings)
        pipeline = Pipeline(choices, runner, tmp_path)  # type: ignore[arg-type]
        pipeline.declare(
            f"{script}CREATE VIEW n AS SELECT COUNT(*) AS n FROM i;"
            "CREATE VIEW m AS SELECT COUNT(*) AS n FROM o;"
        )
        return pipeline

    started = flow()
    begin = started._begin

    def begin_and_break(*arguments: Any) -> None:
        begin(*arguments)
        runner.broken = True

    started._begin = begin_and_break  # type: ignore[method-assign]
    started.start()
    with pytest.raises(Interrupted):
        started.await_done(60)
    runner.broken = False
    if who == "read":
        assert rows(started) == [(2,)]
    started.push({"o": [ORDER]})
    assert rows(started) == [(2,)]
    started.stop()
    again = flow().start()
    assert again.await_done(60)
    assert rows(again) == [(2,)]
    again.stop()


@pytest.mark.parametrize("name", ["__count", "__gone", "__AT"])
def test_columns_are_not_called_as_what_stands_beside_them(make_plain: Maker, name: str) -> None:
    flow = make_plain(
        f"CREATE STREAM s (`{name}` BIGINT);CREATE VIEW v AS SELECT COUNT(*) AS n FROM s;"
    )
    with pytest.raises(FreshviewError, match="is reserved for pipelines"):
        flow.start()


def test_columns_with_dots_are_no_paths(make_plain: Maker) -> None:
    script = """CREATE STREAM s (`.a.b` BIGINT PRIMARY KEY, `[0]` DOUBLE);
    CREATE VIEW v AS SELECT `.a.b`, `[0]` FROM s;"""
    flow = make_plain(script, upserts=("s",))
    flow.push({"s": [(1, 0.5), (2, -0.0)]})
    flow.upsert("s", [(1, 0.25)])
    flow.push({"s": [((2, 0.0), -1)]})
    assert rows(flow, "v") == [(1, 0.25)]
    flow.stop()


def test_there_is_one_zero(make_plain: Maker) -> None:
    script = """CREATE STREAM s (x DOUBLE PRIMARY KEY, n BIGINT);
    CREATE VIEW v AS SELECT x, n FROM s; CREATE VIEW n AS SELECT COUNT(*) AS n FROM s"""
    flow = make_plain(script, upserts=("s",))
    flow.upsert("s", {"x": [-0.0, 0.0], "n": [1, 2]})
    flow.upsert("s", {"x": [-0.0], "n": [3]})
    assert (str(rows(flow, "v")), rows(flow)) == ("[(0.0, 3)]", [(1,)])
    flow.stop()


@pytest.mark.parametrize("stops", [True, False])
def test_a_pipeline_begins_anew_where_another_one_was(make_plain: Maker, stops: bool) -> None:
    """Processes that worked for the one before do not take it for this one."""
    for number in range(3):
        flow = make_plain()
        flow.push({"i": [(number + 3, None, None)]})
        assert rows(flow, "lone") == [(1,)]
        if stops:
            flow.stop()
        shutil.rmtree(make_plain.folder / "checkpoint")


TWO = """CREATE STREAM a (id BIGINT PRIMARY KEY, item STRING NOT NULL);
CREATE STREAM b (id BIGINT PRIMARY KEY, item STRING NOT NULL);
CREATE VIEW v AS SELECT item, COUNT(*) AS n FROM a GROUP BY item;
CREATE VIEW w AS SELECT item, COUNT(*) AS n FROM b GROUP BY item;"""


class Sources:
    """Batches as sources give them: `a` by key, `b` as counted rows."""

    def __init__(self, flow: Pipeline) -> None:
        self.flow, self.number = flow, 0

    def apply(self, *, a: Any = (), b: Any = ()) -> int:
        batches = {}
        if a:
            table = plain_table(self.flow.catalog.relation("a"), a)
            flags = pa.array([False] * len(a), pa.bool_())
            batches["a"] = DecodedBatch(table.append_column(DELETED, flags), keyed=True)
        if b:
            batches["b"] = DecodedBatch(counted_table(self.flow.catalog.relation("b"), b))
        name = f"batch-{self.number:09}"
        self.number += 1
        return self.flow.apply(batches, {"batch": self.number}, name)


def test_the_token_of_a_refused_attempt_is_not_kept(make_plain: Maker) -> None:
    """Its second attempt has no events by key: the rows by key stay as they were."""
    flow = make_plain(TWO, upserts=("a",)).start()
    sources = Sources(flow)
    sources.apply(a=[(1, "x")], b=[(1, "x")])
    sources.apply(a=[(1, "x")], b=[(1, "y")])
    assert [sources.apply(b=[(k, "y")]) for k in (2, 3)] == [2, 3]
    flow.stop()
    again = make_plain(TWO, upserts=("a",)).start()
    assert rows(again, "w") == [("x", 1), ("y", 2)]
    again.stop()


def test_an_older_driver_does_not_touch_the_rows_by_key(
    make_plain: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes between what a newer one expects and its commit, where the newer one dies."""
    old = make_plain(TWO, upserts=("a",))
    old.upsert("a", [(1, "x")])
    new = make_plain(TWO, upserts=("a",)).start()

    def die(*_: object) -> None:
        for work in (
            lambda: old.upsert("a", [(5, "q")]),
            lambda: old._keys.expect({}),
            lambda: old._keys.resume(None),
        ):
            with pytest.raises(DriverFenced):
                work()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(new._keys, "commit", die)
        with pytest.raises(KeyboardInterrupt):
            new.upsert("a", [(2, "y")])
    last = make_plain(TWO, upserts=("a",)).start()
    assert rows(last, "v") == [("x", 1), ("y", 1)]
    last.upsert("a", [(2, "x")])
    assert rows(last, "v") == [("x", 2)]
    last.stop()


def test_rows_that_are_applied_after_all_are_no_dead_letters(
    make_plain: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver died before the batch was logged, and the row that clashed is deleted since."""
    flow, clash = make_plain(TWO), [(1, "y"), (2, "y")]
    flow.push({"b": [(1, "x")]})
    calls = iter(range(9))
    apply = flow._running_flow().apply

    def die(*arguments: Any) -> int:
        if next(calls):
            raise KeyboardInterrupt
        return apply(*arguments)

    monkeypatch.setattr(flow._running_flow(), "apply", die)
    with pytest.raises(KeyboardInterrupt):
        Sources(flow).apply(b=clash)
    assert letters(tmp_path, "b")
    again = make_plain(TWO)
    again.push({"b": [((1, "x"), -1)]})
    Sources(again).apply(b=clash)
    assert (rows(again, "w"), letters(tmp_path, "b")) == ([("y", 2)], [])
    again.stop()


NEXT: dict[str, tuple[Callable[[Pipeline], int], int]] = {
    "source": (lambda flow: Sources(flow).apply(b=[(2, "z")]), 2),
    "push": (lambda flow: flow.push({"b": [(2, "z")]}), 2),
    "read": (lambda flow: flow.read("w")[0], 1),
}


@pytest.mark.parametrize("who", NEXT)
def test_an_interrupted_batch_is_not_blamed_on_the_next_caller(tmp_path: Path, who: str) -> None:
    runner: Any = Failing()
    settings = FlowSettings(3, str(tmp_path / "memory"), native=False)
    options = PipelineOptions(checkpoint=tmp_path / "c", workers=2, settings=settings)
    flow = Pipeline(options, runner, tmp_path)
    flow.declare(TWO)
    flow.push({"b": [(1, "x")]})
    runner.broken = True
    with pytest.raises(Interrupted):
        flow.push({"b": [(1, "y")]})
    runner.broken = False
    with pytest.warns(UserWarning, match=r"is in no view, since it is refused: .* the key \(1\)"):
        version = NEXT[who][0](flow)
    assert version == NEXT[who][1]
    flow.stop()


@pytest.mark.parametrize("how", ["read", "rows", "still"])
def test_a_read_names_the_version_that_it_finished(tmp_path: Path, how: str) -> None:
    runner: Any = Failing()
    settings = FlowSettings(3, str(tmp_path / "memory"), native=False)
    flow = Pipeline(PipelineOptions(workers=2, settings=settings), runner, tmp_path)
    flow.declare(TWO)
    flow.push({"b": [(1, "x")]})
    runner.broken = True
    with pytest.raises(Interrupted):
        flow.push({"b": [(2, "x")]})
    runner.broken = False
    if how == "still":
        with flow.still() as version:
            assert (version, flow.rows("w")) == (2, (2, [("x", 2)]))
    elif how == "rows":
        assert flow.rows("w") == (2, [("x", 2)])
    else:
        version, table = flow.read("w")
        assert (version, table.to_pylist()) == (2, [{"item": "x", "n": 2}])
    flow.stop()
