"""`freshview compile` and `explain` with view trees: files, the log, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from freshview.program.read_m3 import read_m3
from tests.golden.m3.test_m3 import FOLDER
from tests.unit.cli.test_app import Shell, one_line, shell

__all__ = ["shell"]

TREES = ("--strategy", "factorized")


@pytest.fixture
def thesis(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER / "thesis", tmp_path / "thesis"))


def test_compile_writes_m3_drawings_and_a_log(shell: Shell, thesis: Path) -> None:
    out = thesis / "out"
    done = shell(
        "compile", thesis / "query.sql", *TREES, "--dtree", thesis / "dtree.txt", "-o", out
    )
    assert done.code == 0
    assert done.err == ""
    files = [Path(line) for line in done.out.splitlines()]
    assert [p.suffix for p in files[:6]] == [".m3", ".svg", ".pdf", ".log", ".m3", ".mmd"]
    assert "struct Ring {" in files[6].read_text(), "the kernel has the header inside"
    assert files[0].read_text() == (FOLDER / "thesis" / "query.m3").read_text()
    assert files[2].read_bytes().startswith(b"%PDF-1.4")
    log = files[3].read_text()
    for said in (
        "types: Ring of ring.hpp",
        "6 variables, order A - {B - F, C - {D, E}}",
        "kept: S and T change beside it",
        "F in the view of B",
        "on batch of R: 3 statements",
        "read back: the same program",
        "query.pdf: ",
        "done in ",
    ):
        assert said in log


def test_every_run_has_a_log_of_its_own(shell: Shell, thesis: Path) -> None:
    for _ in range(2):
        assert shell("compile", thesis / "query.sql", *TREES, "-o", thesis / "out").code == 0
    assert len(list((thesis / "out").glob("*.log"))) == 2


def test_a_run_that_fails_says_so_in_its_log(shell: Shell, thesis: Path) -> None:
    (thesis / "dtree.txt").write_text("1 1\n0 A int -1 {} 0\nR 0 A\n")
    words = ("compile", thesis / "query.sql", *TREES, "--dtree", thesis / "dtree.txt")
    one_line(shell(*words, "-o", thesis / "out"), "dtree.txt:3:1: R has the variables A here, but")
    [log] = (thesis / "out").glob("*.log")
    assert "failed after " in log.read_text()


def test_passes_can_be_left_out(shell: Shell, thesis: Path) -> None:
    out = thesis / "out"
    options = ("--no-inline", "--no-compact", "--no-diagram", "--no-check-m3")
    words = ("compile", thesis / "query.sql", *TREES, "--dtree", thesis / "dtree.txt", *options)
    assert shell(*words, "-o", out).code == 0
    program = read_m3((out / "query.m3").read_text())
    assert "AGG_VIEW_A" in {m.name for m in program.maps}
    assert any(m.name == "DELTA_AGG_VIEW_A" for m in program.maps)
    assert not list(out.glob("*.svg"))


def test_the_engines_program_and_kernel_come_with_the_listing(shell: Shell, tmp_path: Path) -> None:
    folder = FOLDER / "figure"
    done = shell(
        "compile", folder / "query.sql", *TREES, "--dtree", folder / "dtree.txt", "-o", tmp_path
    )
    assert done.code == 0
    program = (tmp_path / "query.program.m3").read_text()
    assert "V_RS_at_" not in program, "not kept: only R changes"
    assert "V_S_at_s_d" in program
    assert "found by cost" not in program, "the order is that of the file"
    assert (tmp_path / "query.mmd").exists()


def test_a_view_that_is_no_join_has_a_program_alone(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "q.sql"
    script.write_text(
        "CREATE STREAM r (a INT NOT NULL, b INT NOT NULL);"
        "CREATE VIEW v AS SELECT a, SUM(b) AS n FROM r GROUP BY a HAVING SUM(b) > 3"
    )
    done = shell("compile", script, *TREES, "-o", tmp_path / "out")
    assert done.code == 0
    assert "no listing in M3: " in done.err
    assert "HAVING is not kept by a view tree" in done.err
    assert (tmp_path / "out" / "v.program.m3").exists()
    explained = shell("explain", script, *TREES)
    assert "no listing in M3: " in explained.err
    assert "strategy: factorized, as asked for" in explained.out


def test_a_relation_joined_with_itself(shell: Shell, tmp_path: Path) -> None:
    script, dtree = tmp_path / "q.sql", tmp_path / "q.dtree"
    script.write_text(
        "CREATE STREAM r (a INT, b INT); SELECT SUM(x.b * y.b) FROM r x JOIN r y ON x.a = y.a"
    )
    done = shell("compile", script, *TREES, "-o", tmp_path / "out")
    assert (done.code, done.err) == (0, "")
    text = (tmp_path / "out" / "query.m3").read_text()
    [trigger] = read_m3(text).triggers
    assert len(trigger.statements) == 6, "one way after the other"
    dtree.write_text(
        "3 2\n0 a int -1 {} 0\n1 x_b int 0 {0} 0\n2 y_b int 0 {0} 0\nr 1 a,x_b\nr 2 a,y_b\n"
    )
    done = shell("compile", script, *TREES, "--dtree", dtree, "-o", tmp_path / "given")
    assert done.code == 0
    assert (tmp_path / "given" / "query.m3").read_text() == text
    assert "no program for the engines: 'x_b' of the variable order is not a column" in done.err


def test_explain_shows_order_tree_maps_and_triggers(shell: Shell) -> None:
    folder = FOLDER / "figure"
    done = shell("explain", folder / "query.sql", *TREES, "--dtree", folder / "dtree.txt")
    assert (done.code, done.err) == (0, "")
    golden = (folder / "explain.txt").read_text()
    assert done.out.replace(f"{folder}/", "") == golden
    one_line(shell("explain", folder / "query.sql", "other", *TREES), "there is no view 'other'")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("R 5 A,B,F", "Q 5 A,B,F", "dtree.txt:8:1: the query has no relation Q; it joins R, S, T"),
        ("R 5 A,B,F", "R 5 A,F,B", "dtree.txt:8:1: R has the variables A,F,B here, but A,B,F"),
        ("1 B double", "1 B int", "dtree.txt:3:1: variable 'B' is int here, but R.B is double"),
        ("T 3 C,D", "T 3 C,D,E", "dtree.txt:10:1: "),
        ("3 D int 2 {2} 0", "3 D int 1 {0} 0", "dtree.txt:"),
    ],
)
def test_a_dtree_of_another_join_is_refused(
    shell: Shell, thesis: Path, old: str, new: str, said: str
) -> None:
    dtree = thesis / "dtree.txt"
    text = dtree.read_text()
    assert old in text
    dtree.write_text(text.replace(old, new))
    one_line(shell("explain", thesis / "query.sql", *TREES, "--dtree", dtree), said)


def test_a_relation_that_the_dtree_lacks_is_named(shell: Shell, thesis: Path) -> None:
    dtree = thesis / "dtree.txt"
    dtree.write_text(dtree.read_text().replace("6 3", "6 2").replace("T 3 C,D\n", ""))
    one_line(
        shell("explain", thesis / "query.sql", *TREES, "--dtree", dtree),
        "dtree.txt:1:1: the query joins T, which the dtree file does not list; add the line 'T id",
    )


def test_options_that_do_not_go_together_are_refused(shell: Shell, thesis: Path) -> None:
    dtree = ("--dtree", thesis / "dtree.txt")
    one_line(shell("explain", thesis / "query.sql", *dtree), "add --strategy factorized")
    one_line(shell("explain", thesis / "query.sql", *TREES, *dtree, "--spark"), "drop --spark")
    one_line(
        shell("compile", thesis / "query.sql", *TREES, "--dtree", thesis / "no", "-o", thesis),
        "no': No such file or directory; name a dtree file",
    )


def test_a_hint_keeps_a_view(shell: Shell, thesis: Path) -> None:
    script, dtree = thesis / "query.sql", thesis / "dtree.txt"
    script.write_text((FOLDER / "update_r" / "query.sql").read_text())
    dtree.write_text(dtree.read_text().replace("1 B double 0 {0} 0", "1 B double 0 {0} 1"))
    done = shell("explain", script, *TREES, "--dtree", dtree)
    assert "kept: the dtree file asks for it" in done.out
    assert "AGG_VIEW_B(Ring)[][A] += DELTA_AGG_VIEW_B(Ring)[][A];" in done.out
