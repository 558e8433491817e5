"""Theta joins whose processes die while state moves: no pair is lost, and none comes twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fault.theta_seeded import Lives
from tests.thin import thin


@pytest.mark.parametrize("seed", thin(range(20), 10))
def test_seeded(tmp_path: Path, seed: int) -> None:
    Lives(seed, tmp_path).live()
