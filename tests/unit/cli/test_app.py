"""The commands, called as a shell would: what is printed, where, and with which exit code."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from freshet.cli import main

SCRIPT = """
CREATE STREAM sales (item STRING NOT NULL, amount INT NOT NULL)
  FROM FILE 'sales.csv' LINE DELIMITED CSV;
CREATE TABLE items (item STRING PRIMARY KEY, kind STRING)
  FROM FILE 'items.tbl' LINE DELIMITED CSV (delimiter := '|');
CREATE VIEW totals AS
  SELECT i.kind, SUM(s.amount) AS amount FROM sales s, items i WHERE s.item = i.item
  GROUP BY i.kind ORDER BY kind;
"""


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


class Shell:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch = monkeypatch
        self.capsys = capsys

    def __call__(self, *words: object) -> Done:
        self.monkeypatch.setattr(sys, "argv", ["freshet", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = self.capsys.readouterr()
        return Done(int(end.value.code or 0), out, err)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "sales.csv").write_text("pen,3\nink,4\npen,5\n")
    (tmp_path / "items.tbl").write_text("pen|tool|\nink||\n")
    path = tmp_path / "sales.sql"
    path.write_text(SCRIPT)
    return path


@pytest.mark.parametrize("options", [(), ("--batch", 1), ("--strategy", "reeval")])
def test_run_prints_the_views(shell: Shell, script: Path, options: tuple[object, ...]) -> None:
    done = shell("run", script, *options)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "rows read: 2 of items, 3 of sales",
        "",
        "totals",
        "kind  amount",
        "----  ------",
        "NULL       4",
        "tool       8",
    ]


def test_run_reads_only_what_a_view_needs(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "idle.sql"
    path.write_text("CREATE STREAM r (a INT) FROM FILE 'none.csv' LINE DELIMITED CSV;")
    assert shell("run", path) == Done(0, "rows read: none\n", "")


def test_explain_prints_one_view_or_all(shell: Shell, script: Path) -> None:
    done = shell("explain", script)
    assert done.code == 0
    assert "== program" in done.out
    assert shell("explain", script, "TOTALS") == done


def test_explain_obeys_the_mode(shell: Shell, script: Path) -> None:
    assert "ON + sales(" in shell("explain", script, "--mode", "tuple").out


def test_compile_writes_text_and_diagram(shell: Shell, script: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    done = shell("compile", script, "-o", out)
    assert done.out.splitlines() == [str(out / "totals.m3"), str(out / "totals.mmd")]
    assert "ON BATCH UPDATE OF sales" in (out / "totals.m3").read_text()
    assert (out / "totals.mmd").read_text().startswith("flowchart LR\n")


def test_demo_agrees_with_recomputation(shell: Shell) -> None:
    done = shell("demo", "--events", 60, "--seed", 3)
    assert done.code == 0
    assert done.out.count("equal to its recomputation") == 2
    assert done.out == shell("demo", "--events", 60, "--seed", 3).out


def one_line(done: Done, said: str) -> None:
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("freshet: ")
    assert done.err.count("\n") == 1
    assert said in done.err


def test_a_missing_script_is_one_line(shell: Shell, tmp_path: Path) -> None:
    one_line(shell("run", tmp_path / "none.sql"), "none.sql': No such file or directory")
    one_line(shell("explain", tmp_path), "Is a directory")


def test_a_missing_source_is_one_line(shell: Shell, script: Path) -> None:
    (script.parent / "sales.csv").unlink()
    one_line(shell("run", script), "for 'sales': No such file or directory")


def test_a_bad_row_is_one_line(shell: Shell, script: Path) -> None:
    (script.parent / "sales.csv").write_text("pen,3\nink,many\n")
    one_line(shell("run", script), "sales.csv:2:5: sales.amount cannot hold 'many'; expected a 64")


def test_an_unknown_view_is_one_line(shell: Shell, script: Path) -> None:
    one_line(shell("explain", script, "nothing"), "there is no view 'nothing'")


def test_bad_sql_is_one_line(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "bad.sql"
    path.write_text("CREATE VIEW v AS\nSELECT FROM WHERE")
    one_line(shell("explain", path), "bad.sql:2")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("KAFKA 'topic' JSON", "the source of 'r' cannot be read yet: KAFKA JSON"),
        ("FILE 'r.csv' LINE DELIMITED CSV (skip := 1)", "unknown option 'skip'"),
        ("FILE 'r.csv' LINE DELIMITED CSV (delimiter := '::')", "the delimiter of 'r' is '::'"),
    ],
)
def test_a_source_that_cannot_be_read_is_one_line(
    shell: Shell, tmp_path: Path, source: str, said: str
) -> None:
    path = tmp_path / "source.sql"
    path.write_text(f"CREATE STREAM r (a INT) FROM {source}; CREATE VIEW v AS SELECT a FROM r")
    one_line(shell("run", path), said)


def test_a_folder_that_cannot_be_written_is_one_line(
    shell: Shell, script: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    one_line(shell("compile", script, "-o", tmp_path / "file"), "cannot write")


def test_an_unknown_strategy_is_refused(shell: Shell, script: Path) -> None:
    assert shell("explain", script, "--strategy", "fastest").code == 2
