"""Rows of joiners in files: what is in memory, what is on disk, and what a full disk does."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freshview.errors import FreshviewWarning
from freshview.theta import Band, Source, ThetaJoin, prometheus
from freshview.theta.local.reserve import Spill

COLUMNS = {"k": "int", "v": "int", "w": "string"}
ENGINES = ["numpy", pytest.param("native", marks=pytest.mark.native)]


def a_join(**options: Any) -> ThetaJoin:
    return ThetaJoin(Source("r", COLUMNS), Source("s", COLUMNS), Band("k", "k", 0, 0), **options)


def rows(first: int, count: int) -> dict[str, Any]:
    keys = np.arange(first, first + count)
    return {"k": keys, "v": keys % 7, "w": [f"row {k}" for k in keys.tolist()]}


def files_of(folder: Path) -> int:
    """Mapped files of a folder; they have no name any more."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return sum(f"{folder}/" in line for line in maps)


def resident_of(folder: Path) -> int:
    """Bytes of the mapped files of a folder that are in the memory of this process."""
    held, is_ours = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first = line.split(" ", 1)[0]
        if "-" in first:
            is_ours = f"{folder}/" in line
        elif is_ours and first == "Rss:":
            held += int(line.split()[1]) * 1024
    return held


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system has no /proc")
@pytest.mark.parametrize("engine", ENGINES)
def test_rows_leave_the_memory(engine: Any, tmp_path: Path) -> None:
    join = a_join(joiners=2, engine=engine, spill_after=50_000, spill_folder=tmp_path)
    join.push({"r": rows(0, 500)})
    assert files_of(tmp_path) == 0
    assert join.metrics.spilled_bytes == 0
    join.push({"r": rows(500, 20_000)})
    assert files_of(tmp_path) > 0
    assert list(tmp_path.iterdir()) == []
    assert resident_of(tmp_path) == 0
    spilled = join.metrics.spilled_bytes
    assert spilled == sum(join.metrics.storage.values())
    assert f'spilled_bytes{{join="j"}} {spilled}\n' in prometheus(join.metrics, "j")
    assert len(join.push({"s": rows(0, 20_500)})) == 20_500
    assert resident_of(tmp_path) == 0
    assert "more than 50,000 bytes" in join.explain()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_full_disk_leaves_rows_in_memory(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    join = a_join(joiners=1, engine=engine, spill_after=1_000, spill_folder=tmp_path)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.warns(FreshviewWarning, match="the disk is full"):
        join.push({"r": rows(0, 2_000)})
    with pytest.warns(FreshviewWarning, match="stay in memory"):
        assert len(join.push({"s": rows(0, 2_000)})) == 2_000
    assert join.metrics.spilled_bytes == 0


def test_files_lie_where_temporary_ones_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert Spill.of(10, None) == Spill(10, tmp_path)
    assert Spill.of(None, tmp_path) is None
