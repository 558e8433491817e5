"""The plan of a view's kernel, compiled or cached."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshview.runtime.compile import plan_cache
from freshview.runtime.compile.compile_view import (
    COMPILER_ROOMS,
    PACKAGE,
    cached_plan,
    compile_view,
    compiler_sources,
)
from freshview.runtime.settings import DatabaseSettings
from freshview.sql.load import load

SCRIPT = """
CREATE STREAM r (a INT NOT NULL, b INT NOT NULL);
CREATE STREAM s (a INT NOT NULL, c INT NOT NULL);
CREATE VIEW v AS SELECT b, SUM(c) AS c FROM r JOIN s USING (a) GROUP BY b;
CREATE VIEW w AS SELECT COUNT(*) AS n FROM r;
"""


def test_the_sources_of_the_compiler_are_those_of_every_room() -> None:
    files = compiler_sources()
    for room in COMPILER_ROOMS:
        assert any((PACKAGE / name).is_relative_to(PACKAGE / room) for name in files), room


def test_an_evicted_plan_is_compiled_to_the_same_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    catalog, queries = load(SCRIPT, "test.sql")
    settings = DatabaseSettings()
    used = {
        q.name: [r for r in catalog.relations.values() if q.name == "v" or r.name == "r"]
        for q in queries
    }
    first = [compile_view(q, used[q.name], settings, catalog.functions) for q in queries]
    assert [cached_plan(q, used[q.name], settings, catalog.functions) for q in queries] == first
    cache = plan_cache.user_plans()
    largest = max(path.stat().st_size for path in cache.folder.iterdir())
    monkeypatch.setattr(
        "freshview.runtime.compile.compile_view.user_plans",
        lambda: plan_cache.PlanCache(cache.folder, largest),
    )
    for path in cache.folder.iterdir():
        path.unlink()
    for _ in range(2):  # each plan evicts the other
        again = [compile_view(q, used[q.name], settings, catalog.functions) for q in queries]
        assert again == first
        assert len(list(cache.folder.iterdir())) == 1
