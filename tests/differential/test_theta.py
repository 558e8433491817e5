"""Every pair of a theta join exactly once, against DuckDB after each batch."""

from __future__ import annotations

import pytest

from tests.differential.theta_worlds import World

FAILED: list[int] = []
"""Seeds that once failed."""


@pytest.mark.parametrize("seed", [*FAILED, *range(120)])
def test_every_pair_comes_once(seed: int) -> None:
    World(seed).run()


@pytest.mark.full
@pytest.mark.parametrize("block", range(20))
def test_every_pair_comes_once_in_many_worlds(block: int) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        World(seed).run()
