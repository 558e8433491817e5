"""Disks that are full or read-only, and checkpoints that lack a file."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from freshview.codegen.library import private_files as private
from freshview.codegen.library.private_files import NotPrivate
from freshview.durable import task
from freshview.durable.batch_log import BatchLog
from freshview.durable.checkpoint import CheckpointProblem
from freshview.durable.epoch import DriverFenced
from freshview.durable.settings import FlowSettings
from freshview.durable.storage import files
from freshview.durable.storage import shared_memory as memory
from freshview.errors import FreshviewError
from freshview.pipelines.flow import Flow
from tests.fault.harm import full
from tests.unit.pipelines.shop import Shop


@pytest.mark.parametrize("first", range(1, 12))
def test_a_start_on_a_full_disk_can_be_made_again(tmp_path: Path, first: int) -> None:
    with full(first, 1) as disk:
        try:
            shop = Shop(tmp_path)
        except FreshviewError as e:
            why = str(e)
        else:
            assert disk.left == 1, "a failed write was not reported"
            shop.flow.close()
            return
    assert "No space left" in why
    if Flow.exists(tmp_path / "checkpoint"):  # its first version is logged
        shop = Shop(tmp_path, restart=True)
    else:
        shop = Shop(tmp_path)
    shop.apply(2)
    shop.check()


@pytest.mark.native
@pytest.mark.parametrize("first", range(1, 8))
def test_a_full_disk_at_the_same_snapshot_does_no_harm(tmp_path: Path, first: int) -> None:
    """The log before the snapshot is gone, so there is nothing else to restart from."""
    s = Shop(tmp_path, 2, native=True)
    s.apply(3)
    s.flow.checkpoint()
    s.flow.close()
    s.restart()
    s.check()
    with full(first, 1), suppress(FreshviewError):
        s.flow.checkpoint()
    task.forget(s.flow.work.place)
    shutil.rmtree(s.memory)
    s.restart()
    s.check()
    s.apply()
    s.check()
    s.flow.close()


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_a_restart_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    shop = Shop(tmp_path)
    shop.apply(2)
    shop.flow.close()

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as broken:
        broken.setattr(files, "write_out", refuse)
        with pytest.raises(CheckpointProblem, match=os.strerror(code)):
            shop.restart()
    shop.restart()
    shop.apply()
    shop.check()


def test_a_checkpoint_has_no_program_and_nothing_that_is_run(tmp_path: Path) -> None:
    shop = Shop(tmp_path, every=1)
    shop.apply(3)
    shop.rest()
    for path in (p for p in shop.place.rglob("*") if p.is_file()):
        data = path.read_bytes()
        assert b"\x80\x05" not in data[20:40], f"{path} looks like a pickle"
    assert not (shop.place / "program").exists()


def test_tables_that_are_gone_are_refused(tmp_path: Path) -> None:
    shop = Shop(tmp_path, every=100)
    shop.apply(2)
    shop.flow.close()
    [tables] = shop.place.glob("tables-*")
    tables.unlink()
    shop.restart()
    with pytest.raises(CheckpointProblem, match=r"static tables .* are missing"):
        shop.flow.read("many")


@pytest.mark.parametrize("gone", [["pipeline"], ["pipeline", "commit"]])
def test_a_checkpoint_without_its_description_is_not_started_over(
    tmp_path: Path, gone: list[str]
) -> None:
    shop = Shop(tmp_path)
    shop.apply(2)
    shop.flow.checkpoint()
    shop.flow.close()
    for name in gone:
        shutil.move(shop.place / name, tmp_path / name)
    with pytest.raises(CheckpointProblem, match="has lost its file 'pipeline'; restore"):
        Shop(tmp_path)
    for name in gone:
        shutil.move(tmp_path / name, shop.place / name)
    shop.restart()
    shop.check()


def test_a_log_that_cannot_be_shortened_does_not_fail_the_batch(tmp_path: Path) -> None:
    shop = Shop(tmp_path, every=1)
    shop.apply(3)
    shop.rest()
    broken = OSError(errno.EIO, os.strerror(errno.EIO))
    with mock.patch.object(BatchLog, "truncate", side_effect=broken) as truncate:
        shop.apply()
    assert truncate.called
    shop.check()
    shop.apply()
    assert min(BatchLog(shop.flow.work.folder).versions()) > 0


def test_an_old_commit_is_refused(tmp_path: Path) -> None:
    shop = Shop(tmp_path, every=2)
    shop.apply(1)
    [commit] = (shop.place / "commit").iterdir()
    shutil.copyfile(commit, tmp_path / "old")
    shop.apply(11)
    shop.rest()
    shop.flow.checkpoint()
    shop.flow.close()
    shutil.copyfile(tmp_path / "old", commit)
    with pytest.raises(CheckpointProblem, match="is missing or outdated"):
        shop.restart()


def test_a_driver_is_fenced_although_the_epochs_are_gone(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    for _ in range(3):
        shop.restart()
    shop.apply()
    old = shop.flow
    shutil.rmtree(shop.place / "epoch")
    shop.restart()
    with pytest.raises(DriverFenced):
        old.apply(shop.batch())
    shop.number -= 1
    shop.apply()
    shop.check()


def test_memory_is_of_one_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SHARED_MEMORY", tmp_path)
    assert memory.memory_root() == tmp_path / f"freshview-{os.geteuid()}"
    shop = Shop(tmp_path, settings=FlowSettings(native=False))
    shop.apply()
    root = memory.memory_root()
    (pipeline,) = root.iterdir()
    for folder in (root, pipeline, *pipeline.iterdir()):
        assert folder.stat().st_mode & 0o777 == 0o700, folder
    shop.flow.close()
    monkeypatch.setattr(private.os, "geteuid", lambda: root.stat().st_uid + 1)
    os.makedirs(memory.memory_root())  # of the one who was there first
    with pytest.raises(NotPrivate, match="belongs to another user"):
        shop.restart()


def test_a_root_in_which_anybody_may_rename(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    root.mkdir()
    root.chmod(0o777)
    with pytest.raises(NotPrivate, match="anybody may rename"):
        Shop(tmp_path)
    assert not Flow.exists(tmp_path / "checkpoint")
    root.chmod(0o1777)
    shop = Shop(tmp_path)
    shop.apply()
    shop.check()
