"""Sinks receive every version at least once, in order, whatever fails or dies."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

from freshview.durable import commit_log
from freshview.durable.commit_log import Interrupted
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.durable.storage.files import LocalFolder
from freshview.durable.task import StageOrder, WorkerReport
from freshview.errors import FreshviewError
from freshview.pipelines import ingest
from freshview.pipelines.open import pipeline
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.pipeline import Pipeline
from freshview.pipelines.progress import Progress
from freshview.spark.io import sinks
from freshview.spark.io.emitter import SinkProblem, UnreadableView
from freshview.spark.io.sinks import Parquet

SCRIPT = """
CREATE STREAM sales (id BIGINT NOT NULL, item STRING NOT NULL);
CREATE VIEW totals AS SELECT item, COUNT(*) AS n FROM sales GROUP BY item;
CREATE VIEW many AS SELECT COUNT(*) AS n FROM sales;
"""
FILE = SCRIPT.replace(";", " FROM FILE 's.csv' LINE DELIMITED CSV;", 1)


class Failing(InlineRunner):
    """Workers that are gone at times."""

    broken = False

    def run(self, orders: Sequence[StageOrder]) -> list[WorkerReport]:
        if self.broken:
            raise RuntimeError("the executors are lost")
        return super().run(orders)


class RecordingSink:
    """A function that receives versions, and fails at one of them so many times."""

    def __init__(self, fails_at: int = -1, times: int = 1) -> None:
        self.versions: list[int] = []
        self.tables: list[pa.Table] = []
        self.fails_at, self.times = fails_at, times

    def __call__(self, version: int, table: pa.Table) -> None:
        if version == self.fails_at and self.times:
            self.times -= 1
            raise ValueError("the disk of the sink is full\nand there is more to say")
        self.versions.append(version)
        self.tables.append(table)

    def total(self) -> Counter[Any]:
        """All the changes that were emitted, added up; each version counts once."""
        last = dict(zip(self.versions, self.tables, strict=True))
        net: Counter[Any] = Counter()
        for table in last.values():
            for row in table.to_pylist():
                count = row.pop("__count")
                net[tuple(row.values())] += count
        return +net


class Maker:
    """Makes pipelines over one folder, each as if its driver were new."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runner: Any = Failing()

    def __call__(self, script: str = SCRIPT, **choices: Any) -> Pipeline:
        settings = FlowSettings(memory=str(self.folder / "memory"), native=False)
        sink = {"checkpoint": self.folder / "checkpoint", "workers": 2, "settings": settings}
        flow = Pipeline(PipelineOptions(**{**sink, **choices}), self.runner, self.folder)
        flow.declare(script)
        return flow


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    return Maker(tmp_path)


def push(flow: Pipeline, number: int) -> int:
    return flow.push({"sales": [(number, "ab"[number % 2])]})


@pytest.mark.parametrize("changes", [False, True])
def test_a_version_that_a_sink_did_not_take_is_told_before_the_next(
    make: Maker, changes: bool
) -> None:
    sink, flow = RecordingSink(fails_at=3, times=2), make()
    flow.on_version("totals", sink, changes=changes)
    push(flow, 1), push(flow, 2)
    with pytest.raises(
        SinkProblem,
        match="a sink of 'totals' failed at version 3: ValueError: the disk of the sink is full; "
        "fix the sink: version 3 is in the views, and is sent again before the next one",
    ):
        push(flow, 3)
    assert flow.version == 3
    with pytest.raises(SinkProblem, match="version 3"):
        push(flow, 4)
    assert flow.version == 3  # nothing new is taken until the sink has what there is
    assert push(flow, 4) == 4
    assert sink.versions == [1, 2, 3, 4]
    if changes:
        assert sink.total() == {("a", 2): 1, ("b", 2): 1}
    flow.stop()


@pytest.mark.parametrize("changes", [False, True])
def test_a_version_that_a_sink_did_not_take_is_told_at_the_next_start(
    make: Maker, changes: bool
) -> None:
    sink, flow = RecordingSink(fails_at=3), make()
    flow.on_version("totals", sink, changes=changes)
    push(flow, 1), push(flow, 2)
    with pytest.raises(SinkProblem):
        push(flow, 3)
    flow.stop()
    again = make()
    again.on_version("totals", sink, changes=changes)
    again.start()
    assert sink.versions == [1, 2, 3]
    push(again, 4)
    again.stop()
    assert sink.versions == [1, 2, 3, 4]
    if changes:
        assert sink.total() == {("a", 2): 1, ("b", 2): 1}


def test_a_sink_that_fails_at_the_start_stops_it(make: Maker) -> None:
    sink, flow = RecordingSink(fails_at=1, times=2), make()
    flow.on_version("many", sink)
    with pytest.raises(SinkProblem):
        push(flow, 1)
    flow.stop()
    again = make()
    again.on_version("many", sink)
    with pytest.raises(SinkProblem, match="at version 1"):
        again.start()
    again.stop()
    last = make()
    last.on_version("many", sink)
    last.start()
    assert sink.versions == [1]
    last.stop()


def test_sinks_that_took_a_version_keep_what_they_were_told(make: Maker, tmp_path: Path) -> None:
    """The other view of the version is sent again, and not as if nothing had changed in it."""
    first, second, out = RecordingSink(), RecordingSink(fails_at=2), tmp_path / "out"
    flow = make()
    flow.on_version("totals", first, changes=True)
    flow.add_sink(Parquet("totals", out, changes=True))
    flow.on_version("many", second, changes=True)
    push(flow, 1)
    with pytest.raises(SinkProblem, match="a sink of 'many'"):
        push(flow, 2)
    flow.stop()
    again = make()
    again.on_version("totals", first, changes=True)
    again.add_sink(Parquet("totals", out, changes=True))
    again.on_version("many", second, changes=True)
    push(again, 3)
    again.stop()
    assert first.total() == {("a", 1): 1, ("b", 2): 1}
    assert second.total() == {(3,): 1}
    assert second.versions == [1, 2, 3]
    written = pa.concat_tables(
        [pa.parquet.read_table(p) for p in sorted(out.glob("totals/version=*/*.parquet"))]
    )
    assert sum(written.column("__count").to_pylist()) == 2


@pytest.mark.parametrize("changes", [False, True])
def test_a_version_that_was_interrupted_is_told_when_it_is_done(make: Maker, changes: bool) -> None:
    sink, flow = RecordingSink(), make()
    flow.on_version("totals", sink, changes=changes)
    push(flow, 1)
    make.runner.broken = True
    with pytest.raises(Interrupted):
        push(flow, 2)
    make.runner.broken = False
    push(flow, 3)
    assert sink.versions == [1, 2, 3]
    make.runner.broken = True
    with pytest.raises(Interrupted):
        push(flow, 4)
    with pytest.warns(UserWarning, match="no snapshot"):
        flow.stop()
    make.runner.broken = False
    again = make()
    again.on_version("totals", sink, changes=changes)
    again.start()
    assert sink.versions == [1, 2, 3, 4]
    again.stop()


def test_a_load_tells_its_last_version(make: Maker) -> None:
    sink, flow = RecordingSink(fails_at=2), make()
    flow.on_version("many", sink)
    push(flow, 1)
    with pytest.raises(SinkProblem):
        push(flow, 2)
    flow.load({"sales": [(i, "a") for i in range(10)]}, rows=4)
    flow.stop()
    assert sink.versions == [1, 2, 5]


def test_a_sink_is_told_what_comes_from_now_on(make: Maker) -> None:
    flow, early, late = make(), RecordingSink(), RecordingSink()
    flow.on_version("many", early)
    push(flow, 1)
    flow.on_version("many", late)
    flow.on_version("totals", late)
    assert late.versions == []
    push(flow, 2)
    assert (early.versions, late.versions) == ([1, 2], [2, 2])
    flow.stop()


DYING = """
    import os, signal, sys
    from pathlib import Path
    from tests.unit.spark.test_sinks import Maker, push
    flow = Maker(Path(sys.argv[1]))()
    def on_version(version, table):
        if version == 3:
            os.kill(os.getpid(), signal.SIGKILL)
    flow.on_version("totals", on_version, changes=sys.argv[2] == "True")
    for number in range(1, 5):
        push(flow, number)
"""


@pytest.mark.parametrize("changes", [False, True])
def test_a_process_that_dies_in_a_sink_loses_no_version(
    make: Maker, tmp_path: Path, changes: bool
) -> None:
    root = Path(__file__).parents[3]
    path = os.pathsep.join([str(root / "src"), str(root)])
    sink = [sys.executable, "-c", textwrap.dedent(DYING), str(tmp_path), str(changes)]
    ended = subprocess.run(sink, env={**os.environ, "PYTHONPATH": path}, timeout=100, check=False)
    assert ended.returncode == -9
    seen, flow = RecordingSink(), make()
    flow.on_version("totals", seen, changes=changes)
    assert push(flow, 4) == 4
    flow.stop()
    assert seen.versions == [3, 4]
    n = [r["n"] for r in seen.tables[0].to_pylist() if r["item"] == "b"]
    assert sorted(n) == ([1, 2] if changes else [2])


def test_a_sink_is_not_taken_for_a_source(make: Maker, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("".join(f"{i},a\n" for i in range(6)))
    sink = RecordingSink(fails_at=2)

    def run() -> None:
        flow = make(FILE, batch=2)
        flow.on_version("totals", sink)
        with flow:
            flow.await_done(60)

    with pytest.raises(FreshviewError, match="a sink of 'totals' failed at version 2") as e:
        run()
    assert "sources" not in str(e.value)
    run()
    assert sink.versions == [1, 2, 3]


@pytest.mark.parametrize("where", ["listener", "batch"])
def test_what_fails_behind_the_sources_is_not_blamed_on_them(
    make: Maker, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.csv").write_text("1,a\n")

    def fail(*_: object) -> None:
        raise ValueError("oops")

    flow = make(FILE)
    if where == "listener":
        flow.on_progress(fail)
    else:
        monkeypatch.setattr(flow._flows, "apply", fail)
    with flow, pytest.raises(FreshviewError, match="ValueError: oops") as e:
        flow.await_done(60)
    assert "sources" not in str(e.value)


def test_views_with_odd_names_have_sinks(make: Maker) -> None:
    sink: list[Callable[..., Any]] = []
    flow = make(f"{SCRIPT}CREATE VIEW `../a b/c` AS SELECT COUNT(*) AS n FROM sales;")
    flow.on_version("../a b/c", lambda *_: sink.append(print), changes=True)
    push(flow, 1)
    flow.stop()
    assert len(sink) == 1


@pytest.mark.parametrize("name", ["../out", "..", "a/b", "é" * 100, "x" * 300])
def test_names_of_views_and_streams_lead_to_no_other_folder(
    make: Maker, tmp_path: Path, name: str
) -> None:
    (tmp_path / "s.csv").write_text("1,a\nwrong\n")
    file = FILE.replace("sales", f"`{name}`")
    flow = make(f"{file}CREATE VIEW `{name} of` AS SELECT COUNT(*) AS n FROM `{name}`;")
    flow.declare(f"CREATE VIEW `{name}.` AS SELECT COUNT(*) AS n FROM `{name}`")
    sink = RecordingSink()
    flow.on_version(f"{name}.", sink, changes=True)
    flow.add_sink(Parquet(f"{name}.", tmp_path / "files" / "of views"))
    with flow:
        assert flow.await_done(60)
    assert sink.versions == [1]
    [letter] = (tmp_path / "checkpoint" / "dead_letters").glob("*/*.jsonl")
    [written] = (tmp_path / "files" / "of views").glob("*/version=1/*.parquet")
    assert "wrong" in letter.read_text()
    assert pa.parquet.read_table(written).num_rows == 1


def test_batches_have_records() -> None:
    for size in (0, -1):
        with pytest.raises(FreshviewError, match=f"a batch cannot have {size} records"):
            pipeline(SCRIPT, batch=size)


class FailingReads(InlineRunner):
    """Workers that are gone whenever a view is read."""

    broken = False

    def run(self, orders: Sequence[StageOrder]) -> list[WorkerReport]:
        if self.broken and orders[0].kind == "read":
            raise RuntimeError("the executors are lost")
        return super().run(orders)


JOINED = """
CREATE STREAM a (id BIGINT PRIMARY KEY, item STRING NOT NULL);
CREATE STREAM b (id BIGINT NOT NULL, x BIGINT NOT NULL);
CREATE VIEW k AS SELECT a.id, SUM(b.x) AS n FROM a, b WHERE a.id = b.id GROUP BY a.id;
"""


def test_a_view_that_cannot_be_read_for_a_sink_does_not_undo_the_version(make: Maker) -> None:
    """Who were told to try again would apply the batch twice."""
    make.runner = FailingReads()
    flow, sink = make(JOINED), RecordingSink()
    flow.on_version("k", sink)
    flow.start()
    make.runner.broken = True
    with pytest.raises(
        SinkProblem,
        match=r"'k' cannot be read for its sinks at version 1: the workers failed: .*; "
        "fix the cause: version 1 is in the views, and is sent again before the next one",
    ):
        flow.push({"b": [(1, 1)]})
    assert flow.version == 1
    make.runner.broken = False
    assert flow.push({"a": [(1, "x")]}) == 2
    assert (sink.versions, flow.view("k").rows()) == ([1, 2], [(1, 1)])
    flow.stop()


SQUARES = """
CREATE STREAM a (id BIGINT NOT NULL, x BIGINT NOT NULL);
CREATE VIEW v AS SELECT id, SUM(x) * SUM(x) AS s FROM a GROUP BY id;
CREATE VIEW w AS SELECT COUNT(*) AS n FROM a;
"""


def test_a_view_without_a_value_does_not_block_what_repairs_it(make: Maker) -> None:
    sink, other = RecordingSink(), RecordingSink()

    def started() -> Pipeline:
        flow = make(SQUARES)
        flow.on_version("v", sink, changes=True)
        flow.on_version("w", other)
        return flow.start()

    flow, large = started(), (1, 2**62)
    flow.push({"a": [(1, 3)]})
    with pytest.raises(
        UnreadableView, match=r"version 2 is in the views, but 'v' cannot be read at it: .* range"
    ) as e:
        flow.push({"a": [large]})
    assert "nothing was changed" not in str(e.value)
    assert (flow.version, other.versions) == (2, [1, 2])
    flow.stop()
    with pytest.warns(UserWarning, match="'v' cannot be read at it"):
        flow = started()
    assert flow.push({"a": [(large, -1)]}) == 3
    flow.stop()
    assert (sink.versions, other.versions) == ([1, 3], [1, 2, 3])
    assert sink.total() == {(1, 9): 1}


def test_names_of_views_are_as_in_sql_for_sinks(make: Maker, tmp_path: Path) -> None:
    flow = make()
    flow.add_sink(Parquet("Totals", tmp_path / "out"))
    push(flow, 1)
    flow.stop()
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["totals"]


def test_a_folder_of_another_life_is_refused(make: Maker, tmp_path: Path) -> None:
    """Else its versions are taken for the newest, and those of this one for the oldest."""
    out = tmp_path / "out"
    for life in range(2):
        flow = make(checkpoint=None)
        flow.add_sink(Parquet("many", out, keep=2))
        if life:
            with pytest.raises(SinkProblem, match=r"many' has version 3 .*; delete that folder"):
                push(flow, 1)
            shutil.rmtree(out / "many")
        for number in range(life, 3):
            push(flow, number)
        flow.stop()
        assert sorted(p.name for p in (out / "many").iterdir()) == ["version=2", "version=3"]


def test_delta_tables_know_the_state_of_their_versions(
    make: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else Delta skips the versions of another state as repetitions."""
    frame = mock.MagicMock()
    writer = frame.write.format.return_value.mode.return_value
    writer.option.return_value = writer
    monkeypatch.setattr(sinks, "frame", lambda *_: frame)
    for checkpoint in ("a", "a", "b"):
        flow = make(checkpoint=tmp_path / checkpoint)
        flow.add_sink(sinks.Delta("many", flow, "table"))
        push(flow, 1)
        flow.stop()
    options = [call.args for call in writer.option.call_args_list]
    first, again, other = [value for name, value in options if name == "txnAppId"]
    assert first == again != other
    assert [value for name, value in options if name == "txnVersion"] == ["1", "2", "1"]


ROWS = "totals.arrow"
"""The last rows that were sent, of a view that is compared: its sinks came behind the start."""


@pytest.mark.parametrize("file", ["versions", ROWS])
def test_rows_that_could_not_be_stored_are_sent_again(
    make: Maker, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    sink, flow = RecordingSink(), make()
    if file == ROWS:
        flow.start()
    flow.on_version("totals", sink, changes=True)
    push(flow, 1)
    write = LocalFolder.write

    def fail(folder: LocalFolder, name: str, *data: bytes, new: bool = False) -> None:
        if name == file:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(folder, name, *data, new=new)

    with monkeypatch.context() as patch:
        patch.setattr(LocalFolder, "write", fail)
        with pytest.raises(SinkProblem, match=rf"{file}': No space left .* may be sent again"):
            push(flow, 2)
    push(flow, 3)
    flow.stop()
    assert sink.versions == ([1, 2, 3] if file == "versions" else [1, 2, 2, 3])
    assert sink.total() == {("a", 1): 1, ("b", 2): 1}


@pytest.mark.parametrize("file", ["versions", ROWS])
@pytest.mark.parametrize("how", ["deleted", "a bit", "older", "newer"])
def test_changed_files_of_sinks_are_refused(make: Maker, file: str, how: str) -> None:
    def started() -> Pipeline:
        flow = make()
        if file == ROWS:
            flow.start()
        flow.on_version("totals", lambda *_: None, changes=True)
        return flow.start()

    path, data = make.folder / "checkpoint" / "sinks" / file, []
    for life in range(2):
        flow = started()
        push(flow, life)
        flow.stop()
        data.append(path.read_bytes())
    if how == "deleted":
        path.unlink()
    elif how == "a bit":
        flipped = bytearray(data[1])
        flipped[-20] ^= 1
        path.write_bytes(flipped)
    elif how == "older":
        path.write_bytes(data[0])
    else:  # the state is an older one
        shutil.rmtree(path.parent.parent)
        flow = started()
        flow.stop()
        path.write_bytes(data[1])
    if (how, file) == ("older", "versions"):
        started().stop()  # the rows that are stored tell their version
        return
    with pytest.raises(
        FreshviewError,
        match=rf"sinks/{file}' .* (missing|damaged|outdated|is at).*; restore it, or",
    ):
        started()
    shutil.rmtree(path.parent)
    flow = started()
    push(flow, 2)
    flow.stop()


def test_changes_of_a_view_are_kept_for_whoever_asks(make: Maker) -> None:
    flow = make(changes=("Totals",))
    for number in range(1, 4):
        push(flow, number)
    totals = flow.view("totals")
    assert totals.changes(2).sort_by("n").to_pylist() == [
        {"item": "b", "n": 1, "__count": -1},
        {"item": "b", "n": 2, "__count": 1},
    ]
    assert totals.changes(0).sort_by("item").to_pylist() == [
        {"item": "a", "n": 1, "__count": 1},
        {"item": "b", "n": 2, "__count": 1},
    ]
    assert totals.changes(3).num_rows == 0
    flow.stop()
    again = make(changes=("totals",)).start()
    assert again.view("totals").changes(1).num_rows == 3
    with pytest.raises(FreshviewError, match=r"since version 9 are not known; .* version 0 to 3"):
        again.view("totals").changes(9)
    with pytest.raises(FreshviewError, match=r"changes of 'many' are not kept; .*'many'"):
        again.view("many").changes(1)
    again.stop()


def test_old_changes_are_dropped(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "KEPT_VERSIONS", 2)
    flow = make(changes=("totals",))
    for number in range(6):
        push(flow, number)
    with pytest.raises(FreshviewError, match="they are kept from version 4 to 6"):
        flow.view("totals").changes(2)
    assert flow.view("totals").changes(4).num_rows == 4
    assert len(list((make.folder / "checkpoint" / "state" / "changes").iterdir())) == 3
    flow.stop()


def test_one_who_stays_away_gets_the_net_change(
    make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept for it does not grow with the versions, but with what changed."""
    monkeypatch.setattr(commit_log, "MOST", 3)
    sink, flow = RecordingSink(), make()
    flow.on_version("totals", sink, changes=True)
    push(flow, 1)
    flow.stop()
    away = make()
    for number in range(2, 14):
        push(away, number)
        kept = list((make.folder / "checkpoint" / "state" / "changes").iterdir())
        assert len(kept) <= 6
    away.stop()
    back = make()
    back.on_version("totals", sink, changes=True)
    push(back, 14)
    back.stop()
    assert sink.versions == [1, 13, 14]
    assert sink.total() == {("a", 7): 1, ("b", 7): 1}
    assert sink.tables[1].num_rows == 3


def test_a_subscriber_hears_of_changes_until_it_ends(make: Maker) -> None:
    heard: list[tuple[int, int]] = []
    flow = make()
    end = flow.view("totals").subscribe(lambda version, table: heard.append((version, len(table))))
    push(flow, 1)
    flow.push({"sales": [((1, "b"), -1), ((5, "b"), 1)]})
    push(flow, 3)
    end()
    push(flow, 5)
    assert heard == [(1, 1), (3, 2)]
    assert "totals: collected on the driver, by sales_item" in flow.explain()
    flow.stop()


def test_a_link_leads_to_the_last_version(make: Maker, tmp_path: Path) -> None:
    flow, out = make(), tmp_path / "out"
    flow.add_sink(Parquet("many", out, keep=1, latest=True))
    for number in range(3):
        push(flow, number)
        [row] = pa.parquet.read_table(out / "many" / sinks.LATEST / "part-0.parquet").to_pylist()
        assert row == {"n": number + 1}
    assert sorted(p.name for p in (out / "many").iterdir()) == ["_latest", "version=3"]
    flow.stop()


def test_a_late_sink_is_served_by_comparing(make: Maker) -> None:
    sink, flow = RecordingSink(), make()
    push(flow, 1)
    flow.on_version("totals", sink, changes=True)
    push(flow, 2), push(flow, 3)
    assert sink.total() == {("a", 1): 1, ("b", 2): 1}
    assert "totals: two reads are compared: nobody asked" in flow.explain()
    flow.stop()


ASKED: dict[str, Callable[[Pipeline], object]] = {
    "push": lambda flow: push(flow, 9),
    "load": lambda flow: flow.load({"sales": [(9, "b")]}),
    "add a sink": lambda flow: flow.on_version("totals", print),
    "stop": lambda flow: flow.stop(),
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_sink_changes_nothing_while_it_receives_a_version(make: Maker, asked: str) -> None:
    flow, sink, refused = make(), RecordingSink(), []

    def receive(version: int, table: pa.Table) -> None:
        sink(version, table)
        if version == 1:
            with pytest.raises(FreshviewError, match=r"a sink cannot .* while it receives") as e:
                ASKED[asked](flow)
            refused.append(e)
            assert flow.view("many").rows() == [(1,)]

    flow.on_version("totals", receive, changes=True)
    assert push(flow, 1) == 1
    assert push(flow, 2) == 2
    flow.stop()
    assert (sink.versions, len(refused)) == ([1, 2], 1)


@pytest.mark.parametrize("asked", ["finish", "stop"])
@pytest.mark.parametrize("who", ["listener", "sink"])
def test_who_is_called_by_a_batch_may_end_the_reading(
    make: Maker, tmp_path: Path, asked: str, who: str
) -> None:
    """The feed does not wait for its own thread."""
    (tmp_path / "s.csv").write_text("".join(f"{i},a\n" for i in range(10)))
    flow = make(FILE, batch=2)

    def end(version: int) -> None:
        if version == 2:
            with pytest.raises(FreshviewError, match="cannot wait for the sources"):
                flow.await_done(1)
            getattr(flow, asked)()

    if who == "listener":
        flow.on_progress(lambda p: end(p.version))
    else:
        flow.on_version("many", lambda version, _: end(version))
    feed = flow.start()._feed
    if (who, asked) == ("sink", "stop"):
        with pytest.raises(SinkProblem, match="a sink cannot stop the pipeline"):
            feed.wait(60)
        return
    assert feed.wait(60)
    flow.stop()
    again = make(FILE).start()
    assert again.version == 2
    again.stop()


@pytest.mark.parametrize("asked", ["finish", "stop"])
def test_a_push_may_end_the_reading(make: Maker, tmp_path: Path, asked: str) -> None:
    """The batch of the source waits for the push, and its listener not for that batch."""
    (tmp_path / "s.csv").write_text("".join(f"{i},a\n" for i in range(3000)))
    flow = make(FILE, batch=1)

    def end(_: Progress) -> None:
        if threading.current_thread() is threading.main_thread():
            while not flow._feed._busy.locked():
                time.sleep(0.01)
            getattr(flow, asked)()

    flow.on_progress(end)
    feed = flow.start()._feed
    push(flow, 1)
    while feed.running:
        time.sleep(0.01)
    flow.stop()


def test_files_of_sinks_are_on_disk(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: set[str] = set()
    fsync, unsynced = os.fsync, []
    replace = os.replace

    def watched(fd: int) -> None:
        synced.add(os.readlink(f"/proc/self/fd/{fd}"))
        fsync(fd)

    def renamed(old: Path, new: Path) -> None:
        if str(old) not in synced and "checkpoint" in str(new):
            unsynced.append(new)
        replace(old, new)

    monkeypatch.setattr(os, "fsync", watched)
    monkeypatch.setattr(os, "replace", renamed)
    settings = FlowSettings(memory=str(make.folder / "memory"), native=False, sync=True)
    flow = make(settings=settings)
    flow.on_version("totals", lambda *_: None, changes=True)
    push(flow, 1)
    flow.stop()
    home = make.folder / "checkpoint"
    assert not unsynced
    assert {str(make.folder), str(home), str(home / "sinks")} <= synced
