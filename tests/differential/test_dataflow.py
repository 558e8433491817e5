"""Plans beside DuckDB after every batch, as they are written and after all the rules."""

from __future__ import annotations

import pytest

from tests.differential.dataflow_worlds import SHAPES, World
from tests.thin import thin


@pytest.mark.parametrize("seed", thin(range(12), 6))
@pytest.mark.parametrize("name", SHAPES)
def test_plans(name: str, seed: int) -> None:
    world = World(SHAPES[name], seed)
    for _ in range(10):
        world.batch()


@pytest.mark.parametrize("seed", thin(range(4), 4))
@pytest.mark.parametrize("name", SHAPES)
def test_plans_as_written(name: str, seed: int) -> None:
    world = World(SHAPES[name], 100 + seed, optimized=False)
    for _ in range(8):
        world.batch()
