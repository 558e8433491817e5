"""Pipelines from their sources to their sinks, on Spark in local mode."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections import Counter
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freshview.durable.settings import FlowSettings
from freshview.errors import FreshviewError
from freshview.pipelines.flow import Flow
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.pipeline import Pipeline
from freshview.pipelines.progress import Progress
from freshview.spark.io.sinks import Parquet, TempView

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

VIEWS = """
CREATE VIEW totals AS SELECT item, COUNT(*) AS n, SUM(amount) AS amount FROM sales GROUP BY item
  ORDER BY item;
"""
SALES = "CREATE STREAM sales (id INT, item STRING NOT NULL, amount DECIMAL(8, 2), PRIMARY KEY (id))"


class Crash(Exception):
    """The driver dies here."""


class Mortal(Flow):
    """A flow that can die with a batch that is logged: before it is done, or after."""

    crash = ""

    def _finish(self, own: int | None = None) -> None:
        if self.crash == "before" and self._commit_log.next_pending is not None:
            raise Crash
        began = self.version
        super()._finish(own)
        if self.crash == "after" and 0 <= began < self.version:
            raise Crash


class Maker:
    """Makes pipelines over one folder, each as if its driver were new."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.folder = spark, folder

    def __call__(self, script: str, **choices: Any) -> Pipeline:
        class Mine(Mortal):
            pass

        settings = FlowSettings(memory=str(self.folder / "memory"), native=False)
        emitted = {"checkpoint": self.folder / "checkpoint", "workers": 2, "settings": settings}
        flow = Pipeline(PipelineOptions(**{**emitted, **choices}), self.spark, self.folder, Mine)
        flow.declare(script)
        return flow


@pytest.fixture
def make(spark: Any, tmp_path: Path) -> Maker:
    return Maker(spark, tmp_path)


def run(flow: Pipeline) -> list[tuple[Any, ...]]:
    with flow:
        assert flow.await_done(60)
        return [tuple(map(str, r)) for r in flow.view("totals").rows()]


def jsonl(path: Path, *records: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    path.write_text("\n".join(lines) + "\n")


def sale(number: int, item: str, amount: float) -> dict[str, Any]:
    return {"id": number, "item": item, "amount": amount}


def test_folders_of_csv_json_and_parquet_are_one_change(make: Maker, tmp_path: Path) -> None:
    for name in ("csv", "json", "parquet"):
        (tmp_path / name).mkdir()
    (tmp_path / "csv" / "a.csv").write_text('id|item\n1|"a|b"\n2|c|\n3\n')
    jsonl(tmp_path / "json" / "a.json", {"id": 1, "amount": 1.25}, "{", {"id": 2, "amount": 2})
    pq.write_table(
        pa.table({"x": [1], "id": pa.array([2], pa.int32())}), tmp_path / "parquet" / "p.parquet"
    )
    script = """
    CREATE STREAM a (id INT, item STRING) FROM CSV 'csv' (header := true, delimiter := '|');
    CREATE STREAM b (id INT, amount DECIMAL(8, 2)) FROM JSON 'json';
    CREATE STREAM c (id INT) FROM PARQUET 'parquet';
    CREATE VIEW totals AS SELECT a.item, SUM(b.amount) AS s FROM a, b WHERE a.id = b.id
      GROUP BY a.item ORDER BY item;
    CREATE VIEW both AS SELECT a.id, c.id AS d FROM a, c;
    """
    flow = make(script)
    seen: list[Progress] = []
    flow.on_progress(seen.append)
    assert run(flow) == [("a|b", "1.25"), ("c", "2.00")]
    [progress] = seen
    assert (progress.version, progress.rows, progress.rejected) == (1, 5, 2)
    letters = {
        p.parent.name: [json.loads(line) for line in p.read_text().splitlines()]
        for p in (tmp_path / "checkpoint" / "dead_letters").glob("*/*.jsonl")
    }
    assert letters["a"] == [
        {"reason": "a row of 'a' has 1 values; expected 2: id, item", "row": "3"}
    ]
    assert letters["b"][0]["row"] == "{"
    assert "is not JSON" in letters["b"][0]["reason"]


def test_static_tables_come_first(make: Maker, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("1,x,2.5\n2,y,1\n")
    (tmp_path / "n").mkdir()
    jsonl(tmp_path / "n" / "a.json", {"item": "x", "name": "pen"}, {"name": "none"})
    script = f"""{SALES} FROM FILE 's.csv' LINE DELIMITED CSV;
    CREATE TABLE names (item STRING PRIMARY KEY, name STRING) FROM JSON 'n';
    CREATE VIEW totals AS SELECT n.name, SUM(s.amount) AS s FROM sales s, names n
      WHERE s.item = n.item GROUP BY n.name;"""
    assert run(make(script)) == [("pen", "2.50")]
    assert (tmp_path / "checkpoint" / "dead_letters" / "names" / "tables.jsonl").exists()


FILE = f"{SALES} FROM FILE 's.csv' LINE DELIMITED CSV;{VIEWS}"
FOLDER = f"{SALES} FROM JSON 'in' (files_per_batch := 1);{VIEWS}"


def test_a_file_is_read_in_batches_and_from_where_it_was(make: Maker, tmp_path: Path) -> None:
    lines = [f"{i},{'ab'[i % 2]},{i}" for i in range(10)]
    (tmp_path / "s.csv").write_text("\n".join(lines[:5]) + "\n")
    flow = make(FILE, batch=2)
    assert run(flow) == [("a", "3", "6.00"), ("b", "2", "4.00")]
    assert flow.totals.batches == 3
    (tmp_path / "s.csv").write_text("\n".join(lines) + "\n")
    again = make(FILE, batch=100)
    assert run(again) == [("a", "5", "20.00"), ("b", "5", "25.00")]
    assert (again.totals.batches, again.totals.rows) == (1, 5)
    (tmp_path / "s.csv").write_text("1,a,1\n")
    with pytest.raises(FreshviewError, match="is shorter than what was read from it"):
        run(make(FILE))


@pytest.mark.parametrize("crash", ["before", "after"])
@pytest.mark.parametrize("script", [FILE, FOLDER], ids=["file", "folder"])
def test_a_crash_loses_no_batch_and_repeats_none(
    make: Maker, tmp_path: Path, crash: str, script: str
) -> None:
    (tmp_path / "s.csv").write_text("".join(f"{i},a,1\n" for i in range(6)))
    for i in range(3):
        jsonl(tmp_path / "in" / f"{i}.json", sale(2 * i, "a", 1), sale(2 * i + 1, "a", 1))
    flow = make(script, batch=2)
    seen: list[Progress] = []

    def second(p: Progress) -> None:
        seen.append(p)
        flow._flows.crash = crash if len(seen) == 1 else ""  # type: ignore[attr-defined]

    flow.on_progress(second)
    with pytest.raises((Crash, FreshviewError)), flow:
        flow.await_done(60)
    assert len(seen) == 1
    again = make(script, batch=2)
    assert run(again) == [("a", "6", "6.00")]
    assert again.totals.batches == 1


def test_rows_are_replaced_and_deleted_by_key(make: Maker, tmp_path: Path) -> None:
    script = f"{SALES} FROM JSON 'in' (changes := 'upsert', deleted := 'gone');{VIEWS}"
    jsonl(tmp_path / "in" / "0.json", sale(1, "a", 1), sale(2, "a", 2), sale(1, "b", 5))
    assert run(make(script)) == [("a", "1", "2.00"), ("b", "1", "5.00")]
    jsonl(
        tmp_path / "in" / "1.json",
        {**sale(2, "a", 2), "gone": True},
        sale(1, "b", 6),
        sale(3, "a", 9),
    )
    assert run(make(script)) == [("a", "1", "9.00"), ("b", "1", "6.00")]
    jsonl(tmp_path / "in" / "2.json", sale(3, "a", 9))
    assert run(make(script)) == [("a", "1", "9.00"), ("b", "1", "6.00")]


def test_where_sources_stand_is_missed(make: Maker, tmp_path: Path) -> None:
    """Else Spark would count batches from 0, and new ones would be taken for old ones."""
    script = f"{SALES} FROM JSON 'in';{VIEWS}"
    for number in range(2):
        jsonl(tmp_path / "in" / f"{number}.json", sale(number, "a", 1))
        flow = make(script)
        run(flow)
    offsets = flow.home / "offsets"
    offsets.rename(tmp_path / "kept")
    jsonl(tmp_path / "in" / "2.json", sale(2, "a", 1))
    for _ in range(2):
        with pytest.raises(FreshviewError, match=r"has lost .*offsets', its offsets"):
            make(script).start()
        offsets.mkdir(exist_ok=True)
    offsets.rmdir()
    (tmp_path / "kept").rename(offsets)
    assert run(make(script)) == [("a", "3", "3.00")]


@pytest.mark.parametrize("crash", ["before", "after"])
def test_a_crash_leaves_the_rows_by_key_right(make: Maker, tmp_path: Path, crash: str) -> None:
    script = f"{SALES} FROM JSON 'in' (changes := 'upsert');{VIEWS}"
    jsonl(tmp_path / "in" / "0.json", sale(1, "a", 1))
    assert run(make(script)) == [("a", "1", "1.00")]
    jsonl(tmp_path / "in" / "1.json", sale(1, "a", 2))
    flow = make(script)
    flow._flows.crash = crash  # type: ignore[attr-defined]
    with pytest.raises((Crash, FreshviewError)), flow:
        flow.await_done(60)
    jsonl(tmp_path / "in" / "2.json", sale(1, "b", 3))
    assert run(make(script)) == [("b", "1", "3.00")]


@pytest.mark.parametrize("old", ["store", "envelope"])
def test_debezium_envelopes(make: Maker, tmp_path: Path, old: str) -> None:
    script = f"{SALES} FROM JSON 'in' (changes := 'debezium', old := '{old}');{VIEWS}"
    a, b, c = sale(1, "a", 1), sale(1, "a", 2.5), sale(2, "b", 3)
    jsonl(
        tmp_path / "in" / "0.json",
        {"op": "c", "before": None, "after": a},
        {"op": "c", "before": None, "after": c},
        {"op": "u", "before": a, "after": b},
        {"op": "?", "before": None, "after": b},
    )
    flow = make(script)
    assert run(flow) == [("a", "1", "2.50"), ("b", "1", "3.00")]
    assert flow.totals.last is not None
    assert flow.totals.last.rejected == 1
    jsonl(tmp_path / "in" / "1.json", {"op": "d", "before": c, "after": None})
    assert run(make(script)) == [("a", "1", "2.50")]


def test_sinks_are_told_every_version(make: Maker, tmp_path: Path) -> None:
    for i in range(3):
        jsonl(tmp_path / "in" / f"{i}.json", sale(i, "a", 1))
    flow = make(FOLDER)
    emitted: list[tuple[int, list[Any]]] = []
    flow.on_version("TOTALS", lambda v, t: emitted.append((v, t.to_pylist())), changes=True)
    flow.add_sink(Parquet("totals", tmp_path / "out", keep=2))
    flow.add_sink(TempView("totals", flow, "totals_now"))
    run(flow)
    assert [v for v, _ in emitted] == [1, 2, 3]
    assert [Counter((r["n"], r["__count"]) for r in rows) for _, rows in emitted] == [
        {(1, 1): 1},
        {(1, -1): 1, (2, 1): 1},
        {(2, -1): 1, (3, 1): 1},
    ]
    versions = sorted((tmp_path / "out" / "totals").iterdir())
    assert [p.name for p in versions] == ["version=2", "version=3"]
    assert pq.read_table(versions[1] / "part-0.parquet").column("n").to_pylist() == [3]
    assert flow.spark.sql("SELECT n FROM totals_now").collect()[0].n == 3
    jsonl(tmp_path / "in" / "9.json", sale(9, "a", 1))
    again = make(FOLDER)
    again.on_version("totals", lambda v, t: emitted.append((v, t.to_pylist())), changes=True)
    run(again)
    assert emitted[-1][0] == 4
    assert Counter((r["n"], r["__count"]) for r in emitted[-1][1]) == {(3, -1): 1, (4, 1): 1}


def test_rows_are_pushed_by_hand(make: Maker) -> None:
    flow = make(f"{SALES};{VIEWS}", upserts=("sales",))
    with flow:
        assert flow.push({"sales": [(1, "a", 1), (2, "b", 2)]}) == 1
        table = pa.table({"id": [1], "item": ["a"], "amount": ["1.00"], "__count": [-1]})
        assert flow.push({"sales": table}) == 2
        frame = flow.spark.createDataFrame([(3, "c", "3")], "id INT, item STRING, amount STRING")
        flow.push({"SALES": frame})
        flow.upsert("sales", [(2, "b", 5), (3, "c", 3)], deleted=[False, True])
        assert flow.view("totals").to_pylist() == [{"item": "b", "n": 1, "amount": Decimal("5.00")}]
        assert flow.view("totals").to_df().collect()[0].n == 1
        with pytest.raises(FreshviewError, match="cannot hold 'many'"):
            flow.push({"sales": pa.table({"id": ["many"], "item": ["a"], "amount": [None]})})
        assert flow.version == 4
    with pytest.raises(FreshviewError, match="the pipeline does not run"):
        flow.view("totals").rows()


def test_what_cannot_be_is_refused_or_set_aside(make: Maker, tmp_path: Path) -> None:
    """Pushes are refused whole; a source goes on without the rows."""
    jsonl(tmp_path / "in" / "0.json", sale(1, "a", 1), sale(2, "a", 2))
    os.utime(tmp_path / "in" / "0.json", (1, 1))  # it is read first
    jsonl(tmp_path / "in" / "1.json", sale(3, "b", 1), sale(2, "b", 5), sale(4, "b", 1))
    flow = make(FOLDER)
    assert run(flow) == [("a", "2", "3.00"), ("b", "2", "2.00")]
    [letters] = (tmp_path / "checkpoint" / "dead_letters" / "sales").glob("*.jsonl")
    assert "two rows with the key (2)" in letters.read_text()
    with make(FOLDER) as again:
        assert again.await_done(60)
        for batch, said in (
            ([((9, "a", Decimal(1)), -1)], "does not hold"),
            ([(5, "c", Decimal(1)), (1, "z", Decimal(1))], r"the key \(1\)"),
        ):
            with pytest.raises(FreshviewError, match=said):
                again.push({"sales": batch})
            assert again.version == 2
        again.push({"sales": [((1, "a", Decimal(1)), -1)]})
        assert [tuple(map(str, r)) for r in again.view("totals").rows()] == [
            ("a", "1", "2.00"),
            ("b", "2", "2.00"),
        ]


def test_much_data_is_loaded_in_pieces(make: Maker) -> None:
    rows = [(i, "ab"[i % 2], 1) for i in range(10)]
    read: list[int] = []
    with make(f"{SALES};{VIEWS}") as flow:
        flow.on_progress(lambda p: read.append(p.rows))
        assert flow.load({"sales": rows}, rows=4) == 3
        assert flow.push({"sales": [(rows[0], -1)]}) == 4
        assert [(r["item"], r["n"]) for r in flow.view("totals").to_pylist()] == [
            ("a", 4),
            ("b", 5),
        ]
        assert read == [10, 1]


def test_what_is_kept_by_key_is_not_loaded(make: Maker) -> None:
    with make(f"{SALES};{VIEWS}", upserts=("sales",)) as flow:
        with pytest.raises(FreshviewError, match="'sales' is kept by key; push or upsert its rows"):
            flow.load({"sales": [(1, "a", 1)]})
        assert flow.version == 0


def test_a_socket_is_followed_until_the_stop(make: Maker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        flow = make(f"{SALES} FROM SOCKET '127.0.0.1:{port}' LINE DELIMITED CSV;{VIEWS}")
        with pytest.raises(FreshviewError, match="SOCKET, has no end; follow it"):
            flow.start()

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                peer.sendall(b"1,a,1\n2,a,nothing\n")
                time.sleep(20)

        threading.Thread(target=serve, daemon=True).start()
        flow.start(follow=True)
        try:
            end = time.monotonic() + 60
            while flow.version < 1 and time.monotonic() < end:
                time.sleep(0.05)
            assert flow.view("totals").rows()[0][:2] == ("a", 1)
            assert flow.totals.last is not None
            assert flow.totals.last.rejected == 1
        finally:
            flow.stop()
    assert not flow.running


def test_a_rate_makes_rows(make: Maker) -> None:
    flow = make(
        "CREATE STREAM ticks (value INT) FROM RATE (rows_per_second := 50);"
        "CREATE VIEW totals AS SELECT COUNT(*) AS n FROM ticks",
        trigger="200 milliseconds",
    )
    flow.start(follow=True)
    try:
        end = time.monotonic() + 60
        while flow.version < 2 and time.monotonic() < end:
            time.sleep(0.05)
        assert flow.view("totals").rows()[0][0] > 0
    finally:
        flow.stop()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (f"{SALES} FROM JSON 'nowhere';{VIEWS}", "there is no folder '.*nowhere' for 'sales'"),
        (f"{SALES} FROM FILE 'no.csv' LINE DELIMITED CSV;{VIEWS}", "cannot read '.*no.csv'"),
        (f"{SALES} FROM PARQUET 'p';{VIEWS}", "have no column 'item' for 'sales'; they have id"),
        (f"{SALES} FROM KAFKA 't' (bootstrap := 'h:1');{VIEWS}", "Spark has no Kafka here"),
        (f"{SALES} FROM DELTA 'p';{VIEWS}", "Spark has no Delta here|is not a Delta table"),
        (f"{SALES};", "the pipeline has no views"),
    ],
)
def test_a_source_that_is_not_there_is_one_sentence(
    make: Maker, tmp_path: Path, script: str, said: str
) -> None:
    (tmp_path / "p").mkdir()
    pq.write_table(pa.table({"id": [1]}), tmp_path / "p" / "a.parquet")
    with pytest.raises(FreshviewError, match=said) as e, make(script) as flow:
        flow.await_done(60)
    assert "\n" not in str(e.value)


def test_a_file_with_other_types_stops_the_run_with_one_sentence(
    make: Maker, tmp_path: Path
) -> None:
    (tmp_path / "p").mkdir()
    rows = {"id": [1], "item": ["a"], "amount": [1.0]}
    pq.write_table(pa.table(rows), tmp_path / "p" / "a.parquet")
    script = "CREATE STREAM sales (id INT, item STRING, amount DOUBLE) FROM PARQUET 'p';" + VIEWS
    assert run(make(script)) == [("a", "1", "1.0")]
    pq.write_table(pa.table({**rows, "amount": ["many"]}), tmp_path / "p" / "b.parquet")
    with pytest.raises(FreshviewError, match="other columns or types than before"):
        run(make(script))


def test_a_checkpoint_of_another_program_is_refused(make: Maker, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("1,a,1\n")
    run(make(FILE))
    with pytest.raises(
        FreshviewError, match="belongs to other views, streams or sources; choose another"
    ):
        run(make(FILE.replace("COUNT(*)", "MAX(id)")))
    name = tmp_path / "checkpoint" / "pipeline.json"
    name.write_text(name.read_text().replace('"format": 4', '"format": 0'))
    with pytest.raises(FreshviewError, match="was written by another version of Freshview"):
        run(make(FILE))
    name.write_text("oops")
    with pytest.raises(FreshviewError, match="is damaged"):
        run(make(FILE))
    name.unlink()
    with pytest.raises(FreshviewError, match="is not empty, and has no checkpoint"):
        run(make(FILE))


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_data_frames_of_views_can_be_pushed(make: Maker, zone: str) -> None:
    """Their timestamps are the moments at which a clock in Greenwich shows what is kept."""
    script = "CREATE STREAM s (k INT, t TIMESTAMP);CREATE VIEW v AS SELECT k, t FROM s;"
    with make(script) as flow:
        before = flow.spark.conf.get("spark.sql.session.timeZone")
        flow.spark.conf.set("spark.sql.session.timeZone", zone)
        try:
            view, row = flow.view("v"), (1, datetime(2024, 6, 1, 12))
            empty = view.to_df().schema
            flow.push({"s": [row]})
            assert view.to_df().schema == empty
            flow.push({"s": view.to_df()})
            assert view.rows() == [row, row]
        finally:
            flow.spark.conf.set("spark.sql.session.timeZone", before)
