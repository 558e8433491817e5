"""The compiler that was found last is known as long as it is the same file, found the same way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from freshview.codegen.library.compiler import CppCompiler
from freshview.codegen.library.last_compiler import last_compiler, remember_compiler


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CppCompiler:
    """A compiler by a link, as those of distributions are."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "g++-13").write_text("one")
    (tmp_path / "c++").symlink_to(tmp_path / "g++-13")
    return CppCompiler((str(tmp_path / "c++"), "-x"), "g++ 13", "gcc", halves=True)


def test_a_compiler_is_known_once_it_was_found(compiler: CppCompiler) -> None:
    assert last_compiler() is None
    remember_compiler(compiler)
    assert last_compiler() == compiler


def test_another_file_is_another_compiler(compiler: CppCompiler, tmp_path: Path) -> None:
    remember_compiler(compiler)
    status = (tmp_path / "g++-13").stat()
    (tmp_path / "g++-13").write_text("two")
    os.utime(tmp_path / "g++-13", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert last_compiler() is None
    (tmp_path / "g++-13").unlink()
    assert last_compiler() is None


def test_another_path_to_search_is_searched(
    compiler: CppCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_compiler(compiler)
    monkeypatch.setenv("PATH", "/elsewhere")
    assert last_compiler() is None


@pytest.mark.parametrize("damaged", [b"", b"{}", b"[]", b'{"compiler": {}}', b'{"compiler": 1}'])
def test_a_damaged_file_is_no_answer(compiler: CppCompiler, tmp_path: Path, damaged: bytes) -> None:
    remember_compiler(compiler)
    (tmp_path / "cache" / "freshview" / "compiler" / "last.json").write_bytes(damaged)
    assert last_compiler() is None
