"""Seeded fault runs: kills, full disks, two drivers, harmed files; every version is DuckDB's."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshview.codegen.library.compiler import find_compiler
from tests.fault.piped import Piped
from tests.fault.seeded import case, run
from tests.thin import thin

FEW = range(6)
MANY = range(6, 200)


def seeded(seed: int, folder: Path) -> None:
    if case(seed).nodes == "kernel" and find_compiler() is None:
        pytest.skip("there is no C++ compiler")
    run(seed, folder)


@pytest.mark.parametrize("seed", FEW)
def test_seeded(tmp_path: Path, seed: int) -> None:
    seeded(seed, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("seed", MANY)
def test_seeded_many(tmp_path: Path, seed: int) -> None:
    seeded(seed, tmp_path)


@pytest.mark.parametrize("seed", thin(range(4), 2))
def test_seeded_pipelines(tmp_path: Path, seed: int) -> None:
    Piped(seed, tmp_path, sinks=False).live()


@pytest.mark.parametrize("seed", thin(range(4), 2))
def test_seeded_sinks(tmp_path: Path, seed: int) -> None:
    Piped(seed, tmp_path, sinks=True).live()


@pytest.mark.full
@pytest.mark.parametrize("sinks", [False, True])
@pytest.mark.parametrize("seed", range(4, 40))
def test_seeded_pipelines_many(tmp_path: Path, seed: int, sinks: bool) -> None:
    Piped(seed, tmp_path, sinks).live()
