"""Hashes of source files: read again only when a file was written since."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from freshview.runtime.compile.source_hash import SETTLED, hash_of, python_files

FILES = ("a.py", "b/c.py")


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "sources"
    (folder / "b").mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text(f"'''{name}'''")
    return folder


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written now were written long ago."""
    now = os.stat(".").st_atime_ns
    monkeypatch.setattr("time.time_ns", lambda: now + (1 << 62))


def stored(folder: Path) -> list[Path]:
    return sorted((folder.parent / "cache" / "freshview" / "sources").glob("*.json"))


@pytest.mark.usefixtures("later")
def test_files_that_stay_are_not_read_again(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = hash_of(sources, FILES)
    assert len(stored(sources)) == 1
    with monkeypatch.context() as unreadable:
        unreadable.delattr(Path, "read_bytes")
        assert hash_of(sources, FILES) == first


@pytest.mark.usefixtures("later")
def test_another_content_of_the_same_size_and_time_is_another_hash(sources: Path) -> None:
    first, status = hash_of(sources, FILES), (sources / "a.py").stat()
    (sources / "a.py").write_text("'''A.py'''")
    os.utime(sources / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert hash_of(sources, FILES) != first


def test_what_is_being_written_is_hashed_each_time(sources: Path) -> None:
    hash_of(sources, FILES)
    assert SETTLED > 0
    assert stored(sources) == []


@pytest.mark.usefixtures("later")
def test_a_name_and_a_list_of_files_belong_to_the_hash(sources: Path) -> None:
    whole = hash_of(sources, FILES)
    assert hash_of(sources, FILES[:1]) != whole
    (sources / "a.py").rename(sources / "d.py")
    assert hash_of(sources, ("d.py", "b/c.py")) != whole


@pytest.mark.usefixtures("later")
def test_a_damaged_entry_is_made_again(sources: Path) -> None:
    first = hash_of(sources, FILES)
    (entry,) = stored(sources)
    for damaged in (b"", b"{}", b"[]", b"null", entry.read_bytes()[:-9]):
        entry.write_bytes(damaged)
        assert hash_of(sources, FILES) == first


def test_the_files_of_rooms_are_found_below_them(sources: Path) -> None:
    (sources / "b" / "__pycache__").mkdir()
    (sources / "b" / "__pycache__" / "c.py").write_text("")
    (sources / "b" / "deep").mkdir()
    (sources / "b" / "deep" / "d.py").write_text("")
    (sources / "b" / "notes.txt").write_text("")
    assert sorted(python_files(sources, "b", "not_there")) == ["b/c.py", "b/deep/d.py"]
