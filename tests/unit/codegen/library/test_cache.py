"""The kernel cache is bounded: the libraries that were used least recently make room."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from freshview.codegen.library import cache
from freshview.codegen.library.cache import IN_USE, read_cached, store, user_cache

SIZE = 100
STORED = SIZE + 32


def name(number: int) -> str:
    return f"{number:064x}.so"


def put(folder: Path, number: int, idle: float = 0) -> Path:
    """A file of the cache whose last use was so many seconds ago."""
    built = folder.parent / "built.so"
    built.write_bytes(bytes([number]) * SIZE)
    store(built, folder / name(number))
    return used(folder / name(number), idle)


def used(path: Path, idle: float) -> Path:
    moment = time.time() - idle
    os.utime(path, (moment, moment))
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with room for three files."""
    monkeypatch.setattr(cache, "CACHE_BYTES", 3 * STORED)
    path = tmp_path / "kernels"
    path.mkdir(mode=0o700)
    return path


def test_the_least_recently_used_library_makes_room(folder: Path) -> None:
    old, older, new = (put(folder, i, IN_USE + idle) for i, idle in ((1, 20), (2, 30), (3, 10)))
    assert all(path.exists() for path in (old, older, new))
    last = put(folder, 4, IN_USE + 5)
    assert not older.exists()
    assert all(path.exists() for path in (old, new, last))


def test_a_use_counts(folder: Path) -> None:
    first, second = put(folder, 1, IN_USE + 30), put(folder, 2, IN_USE + 20)
    put(folder, 3, IN_USE + 10)
    assert read_cached(first) == bytes([1]) * SIZE
    put(folder, 4)
    assert first.exists()
    assert not second.exists()


def test_what_was_used_just_now_stays_whatever_its_size(folder: Path) -> None:
    paths = [put(folder, i) for i in range(6)]
    assert all(path.exists() for path in paths)
    for path in paths:
        used(path, IN_USE + 1)
    put(folder, 6)
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 3 * STORED


def test_other_files_are_left_alone(folder: Path) -> None:
    (folder / "shipped").mkdir()
    other = used_file(folder / "notes.so")
    put(folder, 1, IN_USE + 10)
    put(folder, 2)
    assert other.exists()
    assert (folder / "shipped").exists()


def used_file(path: Path) -> Path:
    path.write_bytes(b"x" * 10 * STORED)
    return used(path, IN_USE + 100)


def test_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache() == tmp_path / "freshview" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache() == tmp_path / ".cache" / "freshview" / "kernels"


def test_shipped_kernels_make_room_as_built_ones_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    from freshview.durable.storage.files import LocalFolder
    from freshview.spark.nodes.shipped_kernels import ShippedKernel, fetch_library

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "CACHE_BYTES", 2 * SIZE)
    checkpoint = LocalFolder(tmp_path / "checkpoint")

    def fetch(number: int) -> Path:
        data = bytes([number]) * SIZE
        shipped = ShippedKernel(None, hashlib.sha256(data).hexdigest())  # type: ignore[arg-type]
        checkpoint.write(f"kernel-{shipped.library}", data)
        return fetch_library(shipped.library, checkpoint)

    first, second = used(fetch(1), IN_USE + 20), used(fetch(2), IN_USE + 10)
    assert fetch(1) == first  # a use counts
    third = fetch(3)
    assert first.exists()
    assert third.exists()
    assert not second.exists()
    assert fetch(2) == second
