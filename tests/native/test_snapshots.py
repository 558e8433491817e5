"""A snapshot brings everything back, or is refused and changes nothing."""

from __future__ import annotations

import os
import resource
from decimal import Decimal
from pathlib import Path

import pytest

from freshview.codegen.library.compiler import find_compiler
from freshview.codegen.library.load import Instance, Kernel
from freshview.codegen.library.toolchain import build
from freshview.errors import SnapshotProblem
from tests.native.conftest import CACHE

pytestmark = pytest.mark.native

T, N, H, S = range(4)
ROWS, SUMS = range(2)
NOTHING = (None,) * 6


def row(i: int) -> tuple[object, ...]:
    return (i, Decimal(i), *NOTHING[:5], f"a text that is longer than a word {i}")


@pytest.fixture
def saved(running: Instance, tmp_path: Path) -> Path:
    running.load_static(S, [(5,)])
    running.apply_rows(T, [row(i) for i in range(100)])
    path = tmp_path / "saved"
    running.save(path)
    return path


def test_everything_comes_back(running: Instance, saved: Path, kernel: Kernel) -> None:
    other = kernel.open()
    other.restore(saved)
    assert other.read_rows(ROWS) == running.read_rows(ROWS)
    assert other.read_rows(SUMS) == running.read_rows(SUMS) == [((4950, 5, 1), 1)]
    insert = other.insert_row(T)
    for instance in (other, running):
        instance.apply_rows(T, [row(i) for i in range(50, 150)])
    insert(*row(0))
    running.insert_row(T)(*row(0))
    assert other.read_rows(ROWS) == running.read_rows(ROWS)


def test_a_running_kernel_goes_back(running: Instance, saved: Path) -> None:
    insert = running.insert_row(T)
    before = running.read_rows(ROWS)
    insert(*row(1000))
    running.restore(saved)
    assert running.read_rows(ROWS) == before
    insert(*row(1000))
    assert len(running.read_rows(ROWS)) == 101


def test_a_snapshot_knows_whether_static_tables_are_complete(
    kernel: Kernel, tmp_path: Path
) -> None:
    loading = kernel.open()
    loading.load_static(S, [(5,)])
    loading.save(tmp_path / "loading")
    other = kernel.open()
    other.restore(tmp_path / "loading")
    other.load_static(S, [(6,)])
    assert other.read_rows(SUMS) == [((0, 11, 1), 1)]


def test_any_damage_is_noticed(running: Instance, saved: Path, kernel: Kernel) -> None:
    whole = saved.read_bytes()
    places = [*range(120), *range(120, len(whole), 997), len(whole) - 1]
    other = kernel.open()
    other.insert_row(T)(*row(1))
    for at in places:
        saved.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with pytest.raises(SnapshotProblem):
            other.restore(saved)
    for cut in (b"", whole[:10], whole[:60], whole[:-1], whole + b"x"):
        saved.write_bytes(cut)
        with pytest.raises(SnapshotProblem, match="damaged"):
            other.restore(saved)
    assert other.read_rows(ROWS) == [(row(1), 1)]
    saved.write_bytes(whole)
    other.restore(saved)
    assert other.read_rows(ROWS) == running.read_rows(ROWS)


def test_a_snapshot_of_another_program_is_refused(source: str, saved: Path) -> None:
    other = source.replace("i64 total, fixed, readied;", "i64 readied, total, fixed;")
    changed = Kernel(build(other, compiler=find_compiler(), cache=CACHE)).open()
    with pytest.raises(SnapshotProblem, match="is a snapshot of another program; restore it with"):
        changed.restore(saved)


def test_a_missing_snapshot_is_told(running: Instance, tmp_path: Path) -> None:
    with pytest.raises(SnapshotProblem, match="none cannot be read: No such file"):
        running.restore(tmp_path / "none")
    with pytest.raises(SnapshotProblem, match=r"cannot be written to .*: No such file"):
        running.save(tmp_path / "no" / "folder")


@pytest.mark.parametrize("room", [0, 20, 4096])
def test_a_full_disk_leaves_the_old_snapshot(running: Instance, saved: Path, room: int) -> None:
    before = saved.read_bytes()
    running.apply_rows(T, [row(i) for i in range(200)])
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limit[1]))
    try:
        with pytest.raises(SnapshotProblem, match=r"cannot be written to .*; what was there"):
            running.save(saved)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == ["saved"]
