"""What is loaded and run comes from folders of this user alone."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from freshview.codegen.library import private_files as private
from freshview.codegen.library.compiler import USUAL_FLAGS, CppCompiler
from freshview.codegen.library.private_files import NotPrivate, private_folder, read_own
from freshview.codegen.library.toolchain import build, cached
from freshview.errors import BuildProblem


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture
def another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is there belongs to somebody else from now on."""
    number = os.geteuid() + 1
    monkeypatch.setattr(private.os, "geteuid", lambda: number)


def test_a_folder_is_made_for_one_user(tmp_path: Path) -> None:
    folder = private_folder(tmp_path / "a" / "b")
    assert mode(folder) == 0o700
    folder.chmod(0o777)
    assert mode(private_folder(folder)) == 0o700


def test_a_link_of_this_user_is_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far")
    private_folder(tmp_path / "near")
    assert mode(tmp_path / "far") == 0o700


@pytest.mark.usefixtures("another_user")
@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_folder_of_another_user_is_refused(tmp_path: Path, kind: str) -> None:
    if kind == "folder":
        (tmp_path / "a").mkdir()
    else:
        (tmp_path / "a").symlink_to(tmp_path)
    with pytest.raises(NotPrivate, match="belongs to another user"):
        private_folder(tmp_path / "a")


def test_the_folder_behind_a_link_must_be_ours_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far")
    fstat = os.fstat

    def of_another(fd: int) -> os.stat_result:
        fields = list(fstat(fd))
        fields[4] += 1
        return os.stat_result(fields)

    monkeypatch.setattr(private.os, "fstat", of_another)
    with pytest.raises(NotPrivate):
        private_folder(tmp_path / "near")


def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(FileExistsError):
        private_folder(tmp_path / "a")


def test_only_plain_files_of_this_user_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    assert read_own(path) is None
    path.write_bytes(b"code")
    assert read_own(path) == b"code"
    (tmp_path / "link").symlink_to(path)
    assert read_own(tmp_path / "link") is None
    assert read_own(tmp_path) is None
    os.mkfifo(tmp_path / "pipe")
    assert read_own(tmp_path / "pipe") is None
    monkeypatch.setattr(private.os, "geteuid", lambda: path.stat().st_uid + 1)
    assert read_own(path) is None


COMPILER = CppCompiler(("c++",), "a compiler that is never called", "gcc")


@pytest.mark.usefixtures("another_user")
def test_a_cache_of_another_user_is_not_used(tmp_path: Path) -> None:
    cache = tmp_path / "kernels"
    cache.mkdir()
    assert cached("text", compiler=COMPILER, flags=USUAL_FLAGS, cache=cache) is None
    with pytest.raises(BuildProblem, match="belongs to another user"):
        build("text", compiler=COMPILER, cache=cache)


def test_a_shipped_library_is_checked_whenever_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    from freshview.durable.storage.files import LocalFolder
    from freshview.spark.nodes.shipped_kernels import ShippedKernel, fetch_library

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    library = b"a library"
    shipped = ShippedKernel(None, hashlib.sha256(library).hexdigest())  # type: ignore[arg-type]
    folder = LocalFolder(tmp_path / "checkpoint")
    folder.write(f"kernel-{shipped.library}", library)
    path = fetch_library(shipped.library, folder)
    assert path.read_bytes() == library
    assert mode(path.parent) == 0o700
    for spoiled in (b"a librarz", b"a lib", b""):
        path.write_bytes(spoiled)
        assert fetch_library(shipped.library, folder).read_bytes() == library
    folder.write(f"kernel-{shipped.library}", b"another library")
    assert fetch_library(shipped.library, folder).read_bytes() == library
    path.unlink()
    with pytest.raises(BuildProblem, match="lost its kernels"):
        fetch_library(shipped.library, folder)
