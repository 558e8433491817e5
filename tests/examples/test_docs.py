"""The README and the pages of docs/ do what they say.

The blocks of a page run in order, in one empty folder and one Python namespace. A `python` block
with `>>>` is a doctest. An `sql` block is executed, and saved if its first line is `-- NAME.sql`.
A `c` block is saved as `app.c`. The commands of a `bash` block run here, except `make` and `git`,
whose targets must exist; a `text` block right after it is what they print, with `...` for what may
differ.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import freshview
from freshview.runtime.compile import kernels
from freshview.spark.java import NoJava, provide_java

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SAFE = {"freshview", "printf", "cat", "ls", "mkdir", "c++", "cc", "./app"}
ON_SPARK = re.compile(
    r"fv\.pipeline\(|fv\.Spark(Program|ThetaJoin|SignalQuery)\(|"
    r"^freshview (run|demo)(?!.*--engine)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(m.group(1), m.group(2), text.count("\n", 0, m.start()) + 2)
        for m in FENCE.finditer(text)
    ]


def run_python(block: Block, page: Path, names: dict[str, object]) -> None:
    if ">>>" not in block.text:
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(
        block.text, names, page.name, str(page), block.line - 1
    )
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)
    names.update(test.globs)


def run_sql(block: Block, folder: Path, db: freshview.Database) -> None:
    name = re.match(r"-- (\S+\.sql)$", block.text.splitlines()[0])
    if name:
        (folder / name.group(1)).write_text(block.text, encoding="utf-8")
    db.execute(block.text)


def run_bash(block: Block, folder: Path) -> str:
    lines = [line for line in block.text.splitlines() if line and not line.startswith("#")]
    commands = [shlex.split(line, comments=True) for line in lines]
    if any(words[0] in ("make", "git") for words in commands):
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert {w for words in commands if words[0] == "make" for w in words[1:]} <= set(targets)
        return ""
    assert {words[0] for words in commands} <= SAFE, block.text
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def needs_spark(page: Path) -> bool:
    texts = [b.text for b in blocks(page) if b.language in ("python", "bash")]
    return any(ON_SPARK.search(text) for text in texts)


def marked(page: Path) -> Any:
    name = str(page.relative_to(ROOT))
    shared = [pytest.mark.spark, pytest.mark.xdist_group("spark")]
    return pytest.param(page, id=name, marks=shared if needs_spark(page) else [])


def need_spark() -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    try:
        provide_java()
    except NoJava as e:
        pytest.skip(str(e))


@pytest.mark.parametrize("page", [marked(p) for p in PAGES])
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    if 'engine="native"' in text and kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")
    if "\nc++ -" in text and not (shutil.which("c++") and shutil.which("cc")):
        pytest.skip("there is no c++ or no cc")
    if needs_spark(page):
        need_spark()
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    db = freshview.connect()
    printed: str | None = None
    for block in blocks(page):
        match block.language:
            case "python":
                run_python(block, page, names)
            case "sql":
                run_sql(block, tmp_path, db)
            case "c":
                (tmp_path / "app.c").write_text(block.text, encoding="utf-8")
            case "bash":
                printed = run_bash(block, tmp_path)
                continue
            case "text" if printed:
                got, want = (
                    "\n".join(s.rstrip() for s in t.splitlines()) for t in (printed, block.text)
                )
                assert doctest.OutputChecker().check_output(want, got, FLAGS), (
                    f"{page.name}:{block.line} is not what was printed:\n{printed}"
                )
        printed = None


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose)
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not missing
