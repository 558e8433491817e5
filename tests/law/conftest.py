"""What laws of signals have in common."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def shortest_runs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With odd seeds, batches of two events are searched for runs, and runs of one event count."""
    call = getattr(request.node, "callspec", None)
    seed = call.params.get("seed", 0) if call is not None else 0
    if "signals" in request.node.nodeid and isinstance(seed, int) and seed % 2:
        from freshview.signal.columns import runs

        monkeypatch.setattr(runs, "FEWEST", 2)
        monkeypatch.setattr(runs, "SHORTEST", 1)
