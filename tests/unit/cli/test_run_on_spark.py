"""`freshview run` as a job on Spark: what it prints, how it stops, and that it goes on later."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from freshview.errors import FreshviewError
from freshview.spark.java import provide_java
from tests.thin import full

pytestmark = pytest.mark.spark

COMMAND = [sys.executable, "-c", "from freshview.cli import main; main()", "run"]


@pytest.fixture(autouse=True)
def _java() -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    try:
        provide_java()
    except FreshviewError as e:
        pytest.skip(str(e))


def started(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
    )


def run(*words: object) -> tuple[int, str, str]:
    with started(*words, "--master", "local[2]") as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


SCRIPT = """
CREATE STREAM sales (item STRING NOT NULL, amount INT NOT NULL)
  FROM FILE 'sales.csv' LINE DELIMITED CSV;
CREATE TABLE items (item STRING PRIMARY KEY, kind STRING)
  FROM FILE 'items.tbl' LINE DELIMITED CSV (delimiter := '|');
CREATE VIEW totals AS
  SELECT i.kind, SUM(s.amount) AS amount FROM sales s, items i WHERE s.item = i.item
  GROUP BY i.kind ORDER BY kind;
"""


def test_a_run_prints_progress_and_views_and_a_later_one_goes_on(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("pen,3\nink,4\npen,many\npen,5\n")
    (tmp_path / "items.tbl").write_text("pen|tool|\nink||\n")
    script, checkpoint = tmp_path / "sales.sql", tmp_path / "checkpoint"
    script.write_text(SCRIPT)
    options = ("--checkpoint", checkpoint, "--metrics", tmp_path / "figures.prom")
    code, out, err = run(script, "--batch", 2, *options)
    assert code == 0, err
    assert out.splitlines() == [
        "rows read: 2 of items, 3 of sales",
        f"rows that do not fit: 1, in {checkpoint / 'dead_letters'}",
        "",
        "totals",
        "kind  amount",
        "----  ------",
        "NULL       4",
        "tool       8",
    ]
    lines = err.splitlines()
    assert [line.split(":")[1] for line in lines] == [" version 1", " version 2"]
    assert ", 1 malformed" in lines[1]
    assert "freshview_rows_total 3\n" in (tmp_path / "figures.prom").read_text()
    [letters] = (checkpoint / "dead_letters" / "sales").iterdir()
    assert "cannot hold 'many'" in json.loads(letters.read_text())["reason"]
    with (tmp_path / "sales.csv").open("a") as file:
        file.write("ink,1\n")
    code, out, err = run(script, *options, "--out", tmp_path / "views")
    assert (code, len(err.splitlines())) == (0, 1), err
    assert (tmp_path / "views" / "totals.csv").read_text() == "kind,amount\n,5\ntool,8\n"
    script.write_text(SCRIPT.replace("SUM(s.amount)", "COUNT(*)"))
    code, out, err = run(script, *options)
    assert (code, out) == (2, "")
    assert "belongs to other views, streams or sources; choose another --checkpoint" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "goes_on"),
    [full((signal.SIGTERM, False)), full((signal.SIGTERM, True)), full((signal.SIGINT, True))],
)
def test_a_signal_is_a_clean_stop(tmp_path: Path, name: signal.Signals, goes_on: bool) -> None:
    (tmp_path / "in").mkdir()
    script, checkpoint = tmp_path / "live.sql", tmp_path / "checkpoint"
    script.write_text(
        "CREATE STREAM r (k INT NOT NULL, v INT NOT NULL) FROM JSON 'in';"
        "CREATE VIEW s AS SELECT k, SUM(v) AS total FROM r GROUP BY k ORDER BY k"
    )
    (tmp_path / "in" / "0.json").write_text('{"k": 1, "v": 5}\n')
    words = (script, "--follow", "--checkpoint", checkpoint, "--master", "local[2]")
    with started(*words, "--trigger", "100 milliseconds") as process:
        assert process.stderr is not None
        assert "version 1: 1 rows" in process.stderr.readline()
        (tmp_path / ".1").write_text('{"k": 1, "v": 6}\n{"k": 2, "v": 1}\n')
        (tmp_path / ".1").rename(tmp_path / "in" / "1.json")
        assert "version 2: 2 rows" in process.stderr.readline()
        time.sleep(0.2)
        process.send_signal(name)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.splitlines() == [
        "rows read: 3 of r",
        "",
        "s",
        "k  total",
        "-  -----",
        "1     11",
        "2      1",
    ]
    if not goes_on:
        return
    (tmp_path / "in" / "2.json").write_text('{"k": 2, "v": 1}\n')
    code, out, err = run(script, "--checkpoint", checkpoint)
    assert code == 0, err
    assert out.splitlines()[0] == "rows read: 1 of r"
    assert out.splitlines()[-1] == "2      2"


def test_what_is_wrong_is_one_line(tmp_path: Path) -> None:
    script = tmp_path / "bad.sql"
    script.write_text("CREATE STREAM r (a INT) FROM JSON 'none'; CREATE VIEW v AS SELECT a FROM r")
    code, out, err = run(script)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "there is no folder" in err


def test_the_demo_agrees_with_spark_sql() -> None:
    words = [*COMMAND[:-1], "demo", "--events", "400", "--batches", "2", "--master", "local[2]"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("equal to Spark SQL") == 2
    assert done.stdout.splitlines()[-1].endswith("times as long")
