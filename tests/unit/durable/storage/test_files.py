from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.fs as pa_fs
import pytest

from freshview.durable.epoch import TakenOver, claim, current, fence
from freshview.durable.storage.files import AlreadyExists, LocalFolder, TornFile
from freshview.durable.storage.folders import folder_at
from freshview.durable.storage.remote_files import RemoteFolder
from freshview.spark.java import launcher


@pytest.fixture(params=["local", "synced", "remote"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    if request.param == "remote":
        return RemoteFolder(pa_fs.LocalFileSystem(), str(tmp_path))
    return LocalFolder(tmp_path, sync=request.param == "synced")


def test_what_was_written_is_read(folder: Any) -> None:
    assert folder.read("p/one") is None
    folder.write("p/one", b"rows")
    folder.write("p/one", b"other rows")
    folder.write("p/two", b"")
    assert (folder.read("p/one"), folder.read("p/two")) == (b"other rows", b"")
    assert (bytes(folder.map("p/one")), bytes(folder.map("p/two"))) == (b"other rows", b"")
    assert folder.map("p/three") is None
    assert folder.names("p") == ["one", "two"]
    assert folder.names("q") == []
    folder.delete(["p/one", "p/none"])
    assert folder.names("p") == ["two"]


def test_a_name_is_taken_once(folder: Any) -> None:
    folder.write("one", b"rows", new=True)
    with pytest.raises(AlreadyExists):
        folder.write("one", b"rows", new=True)


def test_a_torn_file_is_seen(folder: Any, tmp_path: Path) -> None:
    folder.write("one", b"rows and rows")
    (tmp_path / "one").write_bytes((tmp_path / "one").read_bytes()[:-1])
    with pytest.raises(TornFile):
        folder.read("one")
    with pytest.raises(TornFile):
        folder.map("one")
    (tmp_path / "one").write_bytes(b"f")
    with pytest.raises(TornFile):
        folder.map("one")


def test_files_are_carried_there_and_back(folder: Any, tmp_path: Path) -> None:
    source, back = tmp_path / "source", tmp_path / "back"
    source.write_bytes(b"maps" * 1000)
    folder.put("p/snapshot", source)
    assert folder.get("p/snapshot", back)
    assert back.read_bytes() == source.read_bytes()
    assert not folder.get("p/none", back)
    (tmp_path / "p" / "snapshot").write_bytes(b"maps")
    assert not folder.get("p/snapshot", back)


def test_a_url_of_this_machine_is_a_path(tmp_path: Path) -> None:
    folder_at(f"file://{tmp_path}").write("one", b"rows")
    assert folder_at(tmp_path).read("one") == b"rows"


def test_epochs(folder: Any) -> None:
    assert current(folder) == 0
    first, second = claim(folder), claim(folder)
    assert first < second == current(folder)
    fence(folder, second)
    with pytest.raises(TakenOver):
        fence(folder, first)


def test_the_launcher_leaves_out_what_a_small_java_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import subprocess

    monkeypatch.setattr("freshview.spark.java.trusted", list)

    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    java.chmod(0o755)
    home = launcher(tmp_path, tmp_path / "cache")
    words = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b", "Main"]
    done = subprocess.run([home / "bin" / "java", *words], capture_output=True, text=True)
    assert done.stdout == "-Xmx1g|-cp|a b|Main|"
