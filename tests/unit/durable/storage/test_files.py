from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.fs as pa_fs
import pytest

from freshview.durable.epoch import DriverFenced, claim, current, fence
from freshview.durable.storage import files
from freshview.durable.storage.files import AlreadyExists, LocalFolder, TornFile
from freshview.durable.storage.folders import folder_at
from freshview.durable.storage.remote_files import RemoteFolder
from freshview.spark.java import launcher
from tests.fault.harm import full


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


def test_a_file_that_cannot_be_replaced_stays(tmp_path: Path) -> None:
    """Whichever write fails, what was there before is still whole."""
    folder = LocalFolder(tmp_path / "checkpoint")
    source, back = tmp_path / "source", tmp_path / "back"
    source.write_bytes(b"old maps")
    folder.put("p/snapshot", source)
    source.write_bytes(b"the new maps")
    for first in range(1, 10):
        with full(first, 1) as disk:
            try:
                folder.put("p/snapshot", source)
            except OSError:
                assert folder.get("p/snapshot", back)
                assert back.read_bytes() == b"old maps"
        if disk.left:
            break
    assert folder.get("p/snapshot", back)
    assert back.read_bytes() == b"the new maps"
    assert folder.names("p") == ["snapshot"]


def test_a_new_name_that_may_not_last_is_taken_back(tmp_path: Path) -> None:
    folder, broken = LocalFolder(tmp_path, sync=True), OSError(errno.EIO, os.strerror(errno.EIO))
    with (
        mock.patch.object(files, "sync_folder", side_effect=broken),
        pytest.raises(OSError, match="error"),
    ):
        folder.write("log/entry", b"rows", new=True)
    assert folder.names("log") == []
    folder.write("log/entry", b"rows", new=True)


class Dead(BaseException):
    """The process died."""


class Dying:
    """A file system on which the process dies at some call that changes it."""

    def __init__(self, calls: int) -> None:
        self.system, self.calls = pa_fs.LocalFileSystem(), calls

    def __getattr__(self, name: str) -> Any:
        if name not in ("open_output_stream", "move", "delete_file"):
            return getattr(self.system, name)
        self.calls -= 1
        if self.calls < 0:
            raise Dead
        return getattr(self.system, name)


def test_a_remote_file_is_never_gone(tmp_path: Path) -> None:
    """Where a rename does not overwrite, some content is there at every moment."""
    folder = RemoteFolder(pa_fs.LocalFileSystem(), str(tmp_path))
    folder.write("p/snapshot", b"0")
    before = b"0"
    for calls in range(12):
        content = b"%d" % (calls + 1)
        try:
            RemoteFolder(Dying(calls), str(tmp_path)).write("p/snapshot", content)
            done = True
        except Dead:
            done = False
        assert folder.read("p/snapshot") in ([content] if done else [before, content])
        assert folder.names("p") == ["snapshot"]
        with pytest.raises(AlreadyExists):
            folder.write("p/snapshot", b"", new=True)
        before = folder.read("p/snapshot") or b""
    assert done
    folder.delete(["p/snapshot"])
    assert folder.read("p/snapshot") is None
    assert folder.names("p") == []


def test_a_remote_file_that_cannot_be_written_leaves_no_draft(tmp_path: Path) -> None:
    system = mock.Mock(wraps=pa_fs.LocalFileSystem(), type_name="hdfs")
    system.move.side_effect = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(OSError, match="No space left"):
        RemoteFolder(system, str(tmp_path)).write("p/one", b"rows")
    assert os.listdir(tmp_path / "p") == []


def test_a_url_of_this_machine_is_a_path(tmp_path: Path) -> None:
    folder_at(f"file://{tmp_path}").write("one", b"rows")
    assert folder_at(tmp_path).read("one") == b"rows"


def test_epochs(folder: Any) -> None:
    assert current(folder) == 0
    first, second = claim(folder), claim(folder)
    assert first < second == current(folder)
    fence(folder, second)
    with pytest.raises(DriverFenced):
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
