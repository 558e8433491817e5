"""Windows of time, sessions and the clock: every view equals DuckDB's after every change."""

from __future__ import annotations

from typing import Any

import pytest

import freshview
from tests.differential.time_worlds import PAIRS, FollowedDatabase, World

REFERENCE: dict[str, Any] = {"engine": "reference"}
NATIVE: dict[str, Any] = {"engine": "native"}


def run(seed: int, names: list[str], batches: int, **options: Any) -> None:
    World(seed, FollowedDatabase(freshview.connect(**options), names), names).run(batches)


@pytest.mark.parametrize("name", PAIRS)
def test_on_the_reference_engine(name: str) -> None:
    run(1, [name], 25, **REFERENCE)


@pytest.mark.native
@pytest.mark.parametrize("name", PAIRS)
def test_on_kernels(name: str) -> None:
    run(2, [name], 25, **NATIVE)


@pytest.mark.native
def test_on_kernels_that_keep_no_rows() -> None:
    run(3, ["recent", "recent_groups", "hopping"], 40, keep_rows=False, **NATIVE)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10, 40))
def test_in_many_worlds(seed: int) -> None:
    run(seed, list(PAIRS), 40, **REFERENCE)


@pytest.mark.full
@pytest.mark.native
@pytest.mark.parametrize("seed", range(40, 44))
def test_in_many_worlds_on_kernels(seed: int) -> None:
    run(seed, list(PAIRS), 60, mode="batch" if seed % 2 else "tuple", **NATIVE)
