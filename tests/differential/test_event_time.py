"""Windows over event time: views equal DuckDB's, though they forget what watermarks pass."""

from __future__ import annotations

from typing import Any

import pytest

from freshview.program import expiry
from freshview.runtime.database import expiry as telling
from tests.differential.event_times import KINDS, World

REFERENCE: dict[str, Any] = {"engine": "reference"}
NATIVE: dict[str, Any] = {"engine": "native"}
WORLDS = [
    *(pytest.param(kind, REFERENCE, id=f"{kind}-reference") for kind in KINDS),
    *(
        pytest.param(kind, {**NATIVE, **options}, id=f"{kind}-native-{name}", marks=marks)
        for kind, name, options, marks in (
            ("int", "no_rows", {"keep_rows": False}, pytest.mark.native),
            ("timestamp", "rows", {}, pytest.mark.native),
            ("double", "batches", {"mode": "batch", "share": False}, pytest.mark.native),
            ("date", "auto", {"engine": "auto"}, pytest.mark.native),
        )
    ),
]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views forget as soon as there is anything."""
    monkeypatch.setattr(telling, "FEWEST", 8)


@pytest.mark.parametrize(("kind", "options"), WORLDS)
def test_views_are_those_of_the_rows_in_time(kind: str, options: dict[str, Any]) -> None:
    world = World(1, kind, **options)
    world.run(25)
    assert sum(world.late.values()) > 10
    kept = world.kept()
    rows = min(map(len, world.held.values()))
    assert len(kept) > 8
    assert max(kept.values()) < rows * 0.6, (kept, rows)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 300))
def test_views_are_those_of_the_rows_in_time_in_many_worlds(seed: int) -> None:
    kind = list(KINDS)[seed % len(KINDS)]
    World(seed, kind, engine="reference").run(60)


# --- each part is needed --------------------------------------------------------------------------


def fails() -> bool:
    """Whether some world notices."""
    for seed in range(6):
        try:
            World(seed, "int", engine="reference").run(25)
        except AssertionError:
            return True
    return False


def test_what_still_counts_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    turned = {**expiry.NEGATED, "<=": "<=", "<": "<"}
    monkeypatch.setattr(expiry, "NEGATED", turned)
    monkeypatch.setattr(expiry, "_raised", lambda test, floors, exact: ("", None))
    assert fails()


def test_watermarks_of_the_batch_itself_come_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    due = telling.Expiry.due

    def after(self: Any, changes: Any, times: Any, bases: Any) -> Any:
        ahead = type(times)()
        ahead.by_stream.update(times.by_stream)
        for change in changes:
            if change.relation.time is not None and change.size:
                latest = max(row[0] for row in change.python_rows())
                ahead.advance(change.relation, latest)
        return due(self, changes, ahead, bases)

    monkeypatch.setattr(telling.Expiry, "due", after)
    assert fails()
