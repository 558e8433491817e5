"""A file is the old one or the new one, and what was begun for it is never left behind."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from freshview import files
from freshview.files import draft_of, part_of, write_whole


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("one_writer", [True, False])
def test_a_draft_takes_the_place_of_the_file(tmp_path: Path, one_writer: bool) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"old")
    with draft_of(path, one_writer=one_writer) as draft:
        draft.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["rows"]


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("one_writer", [True, False])
def test_a_draft_that_fails_is_removed(tmp_path: Path, private: bool, one_writer: bool) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with draft_of(path, private=private, one_writer=one_writer) as draft:
            draft.write_bytes(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["rows"]


def test_a_new_file_replaces_none(tmp_path: Path) -> None:
    for data in (b"first", b"second"):
        try:
            with draft_of(tmp_path / "rows", new=True) as draft:
                draft.write_bytes(data)
        except FileExistsError:
            assert data == b"second"
    assert (tmp_path / "rows").read_bytes() == b"first"
    assert names(tmp_path) == ["rows"]


def test_a_private_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_whole(tmp_path / "mine", b"1", private=True)
        write_whole(tmp_path / "ours", b"1")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / n).stat().st_mode) for n in ("mine", "ours")]
    assert modes == [0o600, 0o666]


def test_what_a_crash_has_left_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    part_of(path).write_bytes(b"half of it and more")
    write_whole(path, b"all", b" of it", one_writer=True)
    assert path.read_bytes() == b"all of it"
    assert names(tmp_path) == ["rows"]


def test_synced_means_the_file_before_the_rename_and_the_folder_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    replace = os.replace

    def synced(fd: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file")

    def renamed(old: Path, new: Path) -> None:
        steps.append("rename")
        replace(old, new)

    monkeypatch.setattr(files.os, "fsync", synced)
    monkeypatch.setattr(files.os, "replace", renamed)
    write_whole(tmp_path / "rows", b"1", sync=True)
    assert steps == ["file", "rename", "folder"]
    write_whole(tmp_path / "rows", b"2")
    assert steps[3:] == ["rename"]
