"""Pipelines refuse what a database refuses: rows that are not there, and keys with two rows."""

from __future__ import annotations

import json
import random
from decimal import Decimal as D
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import freshview as fv
from freshview.durable import task
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.errors import BadRow, FreshviewError, UnknownName
from freshview.pipeline.options import PipelineOptions
from freshview.pipeline.pipeline import Pipeline
from freshview.spark.nodes.violations import RefusedBatch

STREAMS = """
CREATE STREAM o (id INT PRIMARY KEY, c INT, name STRING, at DATE);
CREATE STREAM i (id INT NOT NULL, p DECIMAL(8, 2), w DOUBLE);
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
    made = {}
    if rng.random() < 0.7:
        made["o"] = [
            ((rng.randint(1, 4), rng.choice((1, 2, None)), "a", None), rng.choice((1, 1, -1)))
            for _ in range(rng.randint(1, 3))
        ]
    if rng.random() < 0.7 or not made:
        made["i"] = [
            ((rng.randint(1, 4), rng.choice((D("1.00"), None)), 0.5), rng.choice((1, 1, 2, -1)))
            for _ in range(rng.randint(1, 3))
        ]
    return made


@pytest.mark.parametrize("seed", range(3))
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
        g
        for g in flow.start()._running_flow().pipeline.distributed.guards
        if g.relation.name == "o"
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
        assert not flow._running_flow().pipeline.distributed.guards
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
        assert [g.relation.name for g in flow._running_flow().pipeline.distributed.guards] == ["o"]
        assert "i: append-only and without a key: nothing to check" in flow.explain()
        flow.push({"i": [ITEM]})
        for give in (flow.push, flow.load):
            with pytest.raises(BadRow, match="'i' is read from a source that only adds rows"):
                give({"i": [(ITEM, -1)]})


def test_static_tables_have_one_row_a_key(make_plain: Maker, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,a\n2,b\n2,c\n3,d\n3,d\n")
    script = """CREATE STREAM s (k INT NOT NULL);
    CREATE TABLE t (k INT PRIMARY KEY, name STRING) FROM FILE 't.csv' LINE DELIMITED CSV;
    CREATE VIEW n AS SELECT t.name, COUNT(*) AS n FROM s, t WHERE s.k = t.k GROUP BY t.name;"""
    with make_plain(script) as flow:
        flow.push({"s": [(1,), (2,), (3,)]})
        assert rows(flow) == [("a", 1)]
    assert [f["reason"] for f in letters(tmp_path, "t")] == [
        f"'t' would hold two rows with the key ({k})" for k in (2, 2, 3, 3)
    ]


HOSTILE = 'CREATE STREAM `a b;--` (`c0` INT, `n` STRING, `C 1"` DOUBLE, PRIMARY KEY (`n`));'


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
