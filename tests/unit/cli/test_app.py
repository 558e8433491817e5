"""The commands, called as a shell would: what is printed, where, and with which exit code."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from freshview.cli import main
from freshview.codegen.library.load import Kernel
from freshview.runtime.compile import kernels

HERE = ("--engine", "process")

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
        self.monkeypatch.setattr(sys, "argv", ["freshview", *map(str, words)])
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
    done = shell("run", *HERE, script, *options)
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
    path.write_text(
        "CREATE STREAM r (a INT) FROM FILE 'none.csv' LINE DELIMITED CSV;"
        "CREATE STREAM s (b INT); CREATE VIEW v AS SELECT b FROM s;"
    )
    done = shell("run", *HERE, path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("rows read: none\n")


def test_explain_prints_one_view_or_all(shell: Shell, script: Path) -> None:
    done = shell("explain", script)
    assert done.code == 0
    assert "== cost" in done.out
    assert "== program" not in done.out
    assert shell("explain", script, "TOTALS") == done
    assert "== program" in shell("explain", script, "--verbose").out


def test_explain_shows_the_way_to_the_workers(shell: Shell, script: Path) -> None:
    done = shell("explain", script, "--spark")
    assert done.code == 0
    for part in (
        "placement",
        "well-formed",
        "pushed",
        "shared",
        "a batch of sales: 1 job, 1 stage",
    ):
        assert f"== {part}" in done.out
    refused = shell("explain", script, "--spark", "--mode", "tuple")
    assert (refused.code, refused.out) == (2, "")
    assert "takes single rows" in refused.err


def test_explain_obeys_the_mode(shell: Shell, script: Path) -> None:
    assert "ON + sales(" in shell("explain", script, "--mode", "tuple", "--verbose").out


@pytest.mark.native
def test_compile_writes_program_diagram_and_kernel(
    shell: Shell, script: Path, tmp_path: Path
) -> None:
    if kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")
    out = tmp_path / "new" / "folder"
    done = shell("compile", script, "-o", out)
    files = ["totals.m3", "totals.mmd", "totals.cpp", "totals.so", "standalone", "python/sales"]
    *lines, command = done.out.splitlines()
    assert (done.code, done.err, lines) == (0, "", [str(out / f) for f in files])
    assert command.startswith("build: ")
    assert "ON + sales(" in (out / "totals.m3").read_text()
    assert (out / "totals.mmd").read_text().startswith("flowchart LR\n")
    assert [q.name for q in Kernel(out / "totals.so").queries] == ["totals"]


@pytest.mark.native
def test_compile_says_why_there_is_no_standalone_code(shell: Shell, tmp_path: Path) -> None:
    if kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")
    script, out = tmp_path / "upper.sql", tmp_path / "out"
    script.write_text("CREATE STREAM r (a STRING); CREATE VIEW v AS SELECT upper(a) AS b FROM r")
    done = shell("compile", script, "-o", out)
    files = ["v.m3", "v.mmd", "v.cpp", "v.so"]
    assert done.out.splitlines() == [str(out / f) for f in files]
    assert done.err.startswith("freshview: v cannot stand alone: upper runs in Python only")
    assert "ON + r(" in (out / "v.m3").read_text()


def test_compile_goes_on_without_a_compiler(
    shell: Shell, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "compiler", lambda: None)
    done = shell("compile", script, "-o", tmp_path)
    *lines, command = done.out.splitlines()
    assert [Path(p).suffix for p in lines] == [".m3", ".mmd", ".cpp", ""]
    assert command.startswith("build: c++ ")
    assert not (tmp_path / "python").exists()
    assert "there is no C++ compiler" in done.err


@pytest.mark.native
def test_the_printed_command_builds_a_program(shell: Shell, script: Path, tmp_path: Path) -> None:
    if kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")
    out = tmp_path / "out folder"
    command = shell("compile", script, "-o", out).out.splitlines()[-1].removeprefix("build: ")
    subprocess.run(["bash", "-c", command.replace("-O2", "-O0")], check=True)
    moved = out.rename(tmp_path / "moved")
    words = [moved / "standalone" / "views", "--data", tmp_path, "--view", "totals"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "kind,amount\n,4\ntool,8\n", "")


def test_compile_may_leave_standalone_code_out(shell: Shell, script: Path, tmp_path: Path) -> None:
    if kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")
    done = shell("compile", script, "-o", tmp_path, "--no-standalone")
    assert done.out.splitlines()[-1] == str(tmp_path / "totals.so")


def test_run_writes_views_as_csv(shell: Shell, script: Path, tmp_path: Path) -> None:
    done = shell("run", *HERE, script, "--out", tmp_path / "out")
    assert done.code == 0
    assert (tmp_path / "out" / "totals.csv").read_text() == "kind,amount\n,4\ntool,8\n"


def test_run_writes_every_change(shell: Shell, script: Path, tmp_path: Path) -> None:
    done = shell("run", *HERE, script, "--changes", tmp_path / "changes.csv", "--batch", 2)
    assert (done.code, done.out) == (0, "rows read: 2 of items, 3 of sales\n")
    lines = (tmp_path / "changes.csv").read_text().splitlines()
    assert sorted(lines[:2]) == ["totals,1,1,,4", "totals,1,1,tool,3"]
    assert sorted(lines[2:]) == ["totals,2,-1,tool,3", "totals,2,1,tool,8"]


def test_run_listens_and_sends(tmp_path: Path) -> None:
    """Rows come through a socket; what they change goes out through another."""
    script = tmp_path / "live.sql"
    script.write_text(
        "CREATE STREAM r (k INT NOT NULL, v INT NOT NULL)"
        " FROM SOCKET '127.0.0.1' PORT 0 LINE DELIMITED CSV;"
        "CREATE VIEW s AS SELECT k, SUM(v) AS total FROM r GROUP BY k"
    )
    command = [sys.executable, "-c", "from freshview.cli import main; main()"]
    words = [*command, "run", str(script), "--listen", "127.0.0.1:0", "--engine", "reference"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as run:
        assert run.stderr is not None
        with socket.create_connection(address(run.stderr.readline())) as reader:
            with socket.create_connection(address(run.stderr.readline())) as feeder:
                feeder.sendall(b"1,5\n2,6\n")
                feeder.sendall(b"1,7\n")
            lines = reader.makefile().read().splitlines()
        out, err = run.communicate(timeout=60)
    assert (run.returncode, err) == (0, "")
    assert out.startswith("rows read: 3 of r\n")
    total: Counter[tuple[str, str]] = Counter()
    for line in lines:
        name, _, count, k, v = line.split(",")
        assert name == "s"
        total[k, v] += int(count)
    assert +total == {("1", "12"): 1, ("2", "6"): 1}


def address(line: str) -> tuple[str, int]:
    host, port = line.split()[3].split(":")
    return host, int(port)


def test_a_port_in_use_is_one_line(shell: Shell, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        path = tmp_path / "busy.sql"
        path.write_text(
            f"CREATE STREAM r (a INT) FROM SOCKET '127.0.0.1' {port} LINE DELIMITED CSV;"
            "CREATE VIEW v AS SELECT a FROM r"
        )
        one_line(shell("run", *HERE, path), f"cannot listen on 127.0.0.1:{port} for 'r'")


def test_demo_agrees_with_recomputation(shell: Shell) -> None:
    done = shell("demo", *HERE, "--events", 60, "--seed", 3)
    assert done.code == 0
    assert done.out.count("equal to its recomputation") == 2
    assert done.out == shell("demo", *HERE, "--events", 60, "--seed", 3).out


def one_line(done: Done, said: str) -> None:
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("freshview: ")
    assert done.err.count("\n") == 1
    assert said in done.err


def test_a_missing_script_is_one_line(shell: Shell, tmp_path: Path) -> None:
    one_line(shell("run", *HERE, tmp_path / "none.sql"), "none.sql': No such file or directory")
    one_line(shell("explain", tmp_path), "Is a directory")


def test_a_missing_source_is_one_line(shell: Shell, script: Path) -> None:
    (script.parent / "sales.csv").unlink()
    one_line(shell("run", *HERE, script), "for 'sales': No such file or directory")


def test_a_bad_row_is_one_line(shell: Shell, script: Path) -> None:
    (script.parent / "sales.csv").write_text("pen,3\nink,many\n")
    one_line(
        shell("run", *HERE, script),
        "sales.csv:2:5: sales.amount cannot hold 'many'; expected an integer",
    )


def test_an_unknown_view_is_one_line(shell: Shell, script: Path) -> None:
    one_line(shell("explain", script, "nothing"), "there is no view 'nothing'")


def test_bad_sql_is_one_line(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "bad.sql"
    path.write_text("CREATE VIEW v AS\nSELECT FROM WHERE")
    one_line(shell("explain", path), "bad.sql:2")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("PARQUET 'folder'", "the source of 'r', PARQUET, is read by the pipeline on Spark"),
        ("FILE 'r.csv' LINE DELIMITED CSV (skip := 1)", "unknown option 'skip'"),
        ("FILE 'r.csv' LINE DELIMITED CSV (delimiter := '::')", "the delimiter of 'r' is '::'"),
    ],
)
def test_a_source_that_cannot_be_read_is_one_line(
    shell: Shell, tmp_path: Path, source: str, said: str
) -> None:
    path = tmp_path / "source.sql"
    path.write_text(f"CREATE STREAM r (a INT) FROM {source}; CREATE VIEW v AS SELECT a FROM r")
    one_line(shell("run", *HERE, path), said)


def test_a_folder_that_cannot_be_written_is_one_line(
    shell: Shell, script: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    one_line(shell("compile", script, "-o", tmp_path / "file"), "cannot write")


def test_switches_of_the_compiler_are_shown(shell: Shell, script: Path) -> None:
    switches = ("--switch", "depth=1", "--switch", "always-update=yes")
    for options in (switches, (*switches, "--engine", "native"), (*switches, "--spark")):
        assert "switches: depth=1 always_update=yes" in shell("explain", script, *options).out
    one_line(shell("explain", script, "--switch", "deep=1"), "no switch 'deep'; the switches are:")
    one_line(shell("explain", script, "--switch", "depth"), "write it as depth=1")


def test_an_unknown_strategy_is_refused(shell: Shell, script: Path) -> None:
    assert shell("explain", script, "--strategy", "fastest").code == 2


def test_views_go_to_files_of_parquet_or_csv(shell: Shell, script: Path, tmp_path: Path) -> None:
    done = shell("run", script, *HERE, "--out", f"parquet:{tmp_path / 'out'}")
    assert (done.code, done.err) == (0, "")
    assert parquet.read_table(tmp_path / "out" / "totals.parquet").to_pylist() == [
        {"kind": None, "amount": 4},
        {"kind": "tool", "amount": 8},
    ]
    for out in ("delta:x", "kafka:h:1/t"):
        done = shell("run", script, *HERE, "--out", out)
        assert done.code == 2
        assert "is for Spark; leave out --engine" in done.err


def test_a_script_without_views_says_so(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "none.sql"
    path.write_text("CREATE STREAM s (a INT);")
    done = shell("run", path, *HERE)
    assert (done.code, done.out) == (2, "")
    assert "declares no view" in done.err
