"""Every pair of a theta join exactly once, against DuckDB after each batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from freshview.errors import BuildProblem
from freshview.theta import Ranged
from freshview.theta.local import store
from freshview.theta.migration import Moves, Transfers
from freshview.theta.operator.exchange import Exchange
from freshview.theta.operator.joiner import Retiring
from tests.differential.theta_worlds import FIRST_OF_RANGES, World
from tests.thin import thin

FAILED: list[int] = [4294]
"""Seeds that once failed."""


@pytest.mark.parametrize("seed", [*FAILED, *range(40)])
def test_every_pair_comes_once(seed: int) -> None:
    World(seed).run()


@pytest.mark.parametrize("engine", ["numpy", pytest.param("auto", marks=pytest.mark.native)])
def test_every_pair_comes_once_by_ranges(engine: str) -> None:
    worlds = (World(seed, engine=engine) for seed in range(FIRST_OF_RANGES, FIRST_OF_RANGES + 120))
    ranged = [world for world in worlds if isinstance(world.scheme, Ranged)]
    assert len(ranged) > 10
    for world in ranged:
        world.run()


@pytest.mark.full
@pytest.mark.parametrize("block", range(20))
def test_every_pair_comes_once_in_many_worlds(block: int) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        World(seed).run()


@pytest.mark.parametrize("seed", thin(range(40), 4))
@pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=pytest.mark.native)])
def test_rows_in_files_are_joined_as_those_in_memory(seed: int, engine: str) -> None:
    try:
        world = World(seed, engine=engine, spill_after=300)
    except BuildProblem:
        return  # C++ has no index for it
    world.run()
    metrics = world.join.metrics
    assert metrics.spilled_bytes or metrics.load <= 300


# --- each part of the operator is needed --------------------------------------------------------


def fails(worlds: int = 60) -> bool:
    """Whether some world notices."""
    for seed in range(worlds):
        try:
            World(seed).run()
        except AssertionError:
            return True
    return False


def test_tuples_on_their_way_are_joined_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Exchange, "_join_retiring", lambda self, host, sides: [])
    assert fails()


def test_tuples_that_have_gone_are_joined_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    belong = Retiring.belong

    def always(self: Retiring, slots: Any, to: int) -> Any:
        passed, self.passed = self.passed, 0
        answer = belong(self, slots, to)
        self.passed = passed
        return answer

    monkeypatch.setattr(Retiring, "belong", always)
    assert fails()


def test_tuples_to_be_dropped_are_joined_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    belong = Retiring.belong

    def everything(self: Retiring, slots: Any, to: int) -> Any:
        return np.ones(len(slots), np.bool_) if to == self.host else belong(self, slots, to)

    monkeypatch.setattr(Retiring, "belong", everything)
    assert fails()


def test_equal_rows_of_two_epochs_wait_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store.ArrayStore, "pin", lambda self: None)
    assert fails()


def test_tuples_that_a_host_does_not_need_are_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    moves = Transfers.moves

    def hoard(*args: Any) -> Moves:
        plan = moves(*args)
        return Moves(np.ones_like(plan.keep), plan.row, plan.to)

    monkeypatch.setattr(Transfers, "moves", hoard)
    assert fails()


def test_visitors_of_a_group_are_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    routed = Exchange._routed

    def keep_all(self: Exchange, batch: Any) -> Any:
        parts, received = routed(self, batch)
        for sides in parts.values():
            for side, (tuples, kept) in sides.items():
                sides[side] = tuples, np.ones_like(kept)
        return parts, received

    monkeypatch.setattr(Exchange, "_routed", keep_all)
    assert fails()


def test_windows_keep_what_can_still_join(monkeypatch: pytest.MonkeyPatch) -> None:
    def eager(window: Any, side: Any, stamps: Any, horizon: Any) -> Any:
        return np.ones(len(stamps), np.bool_)

    monkeypatch.setattr(store, "expired", eager)
    assert fails()
