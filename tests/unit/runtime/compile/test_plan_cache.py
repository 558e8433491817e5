"""Compiled plans in files of bounded size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from freshview.codegen import private
from freshview.runtime.compile.compiled_plan import CompiledPlan
from freshview.runtime.compile.plan_cache import PlanCache, user_plans


def plan(number: int) -> CompiledPlan:
    return CompiledPlan(f"int x = {number};", "text", ("note",), (), ("q",))


def use(cache: PlanCache, key: str, at: int) -> None:
    """Let a plan have been used at a time."""
    os.utime(cache.path(key), (at, at))


def test_a_damaged_plan_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = user_plans()
    cache.put("key", plan(1))
    assert cache.get("key") == plan(1)
    path = cache.path("key")
    assert path.parent == tmp_path / "freshview" / "plans"
    assert path.parent.stat().st_mode & 0o777 == 0o700
    whole = path.read_bytes()
    for damaged in (
        whole.replace(b"x = 1", b"x = 2"),
        whole[:-9],
        b"",
        b"[]",
        b'{"plan": 1, "sha256": 2}',
    ):
        path.write_bytes(damaged)
        assert cache.get("key") is None
    path.write_bytes(whole)
    monkeypatch.setattr(private.os, "geteuid", lambda: path.stat().st_uid + 1)
    assert cache.get("key") is None


def test_the_least_recently_used_plan_is_evicted(tmp_path: Path) -> None:
    cache = PlanCache(tmp_path)
    for number in (1, 2, 3):
        cache.put(f"k{number}", plan(number))
        use(cache, f"k{number}", number)
    size = cache.path("k1").stat().st_size
    assert cache.get("k1") == plan(1)  # now it is the one used last
    small = PlanCache(tmp_path, max_bytes=3 * size)
    small.put("k4", plan(4))
    assert [small.get(f"k{n}") for n in (1, 2, 3, 4)] == [plan(1), None, plan(3), plan(4)]


def test_plans_used_at_the_same_time_are_evicted_by_name(tmp_path: Path) -> None:
    cache = PlanCache(tmp_path)
    for key in ("b", "a", "c"):
        cache.put(key, plan(1))
    for key in ("b", "a", "c"):
        use(cache, key, 1)
    small = PlanCache(tmp_path, max_bytes=2 * cache.path("a").stat().st_size)
    small.put("d", plan(1))
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["c", "d"]


def test_what_a_process_left_half_written_is_evicted_too(tmp_path: Path) -> None:
    (tmp_path / ".plan-half").write_bytes(bytes(1000))
    os.utime(tmp_path / ".plan-half", (1, 1))
    PlanCache(tmp_path, max_bytes=600).put("k", plan(1))
    assert [path.name for path in tmp_path.iterdir()] == ["k.json"]


def test_a_plan_larger_than_the_cache_is_not_stored(tmp_path: Path) -> None:
    cache = PlanCache(tmp_path, max_bytes=10)
    cache.put("k", plan(1))
    assert cache.get("k") is None
    assert list(tmp_path.iterdir()) == []
