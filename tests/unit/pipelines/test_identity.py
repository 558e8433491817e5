"""Whose checkpoint a folder is: also after a disk was full."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from freshview import files
from freshview.errors import FreshviewError
from freshview.files import part_of
from freshview.pipelines import identity
from freshview.pipelines.identity import claim

MINE: dict[str, str | int] = {"format": 1, "program": "a"}


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("fails", ["write", "half", "replace"])
def test_a_full_disk_leaves_a_folder_that_can_be_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    def half(path: Path, data: bytes, **_: Any) -> None:
        path.write_bytes(data[:5])
        full()

    with monkeypatch.context() as broken:
        if fails == "replace":
            broken.setattr(files.os, "replace", full)
        else:
            broken.setattr(files, "write_out", half if fails == "half" else full)
        with pytest.raises(FreshviewError, match="No space left"):
            claim(tmp_path / "place", MINE)
    claim(tmp_path / "place", MINE)
    claim(tmp_path / "place", MINE)
    assert [p.name for p in (tmp_path / "place").iterdir()] == [identity.NAME]


def test_a_claim_that_was_killed_is_made_again(tmp_path: Path) -> None:
    part_of(tmp_path / identity.NAME).write_text('{"form')
    claim(tmp_path, MINE)
    with pytest.raises(FreshviewError, match="to other views"):
        claim(tmp_path, {**MINE, "program": "b"})


def test_other_things_are_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("")
    with pytest.raises(FreshviewError, match="is not empty"):
        claim(tmp_path, MINE)
