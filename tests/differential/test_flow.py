"""Workload queries as flows: after every batch each view has the reference's rows.

All of them run with the workers in this process; the default run takes a few of them to Spark, the
full run all of them, with kernels, on local threads and (`--master`) on executors of their own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from freshview.codegen.library.compiler import find_compiler
from freshview.distributed.options import LEVELS
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from tests.differential.flows import Beside
from tests.differential.harness import cases
from tests.thin import thin

WORKERS = (1, 2, 3, 5)
SLOW = {"mddb2", "d46", "d68"}
"""Queries whose placement takes seconds to choose."""

CASES = cases()
SAMPLE = [
    ("tpch", "q01", 3),  # one stage, the view on the driver
    ("tpch", "q03", 2),  # three stages
    ("tpch", "q16", 2),  # two jobs
    ("tpch", "q22", 5),  # a nested aggregate, texts
    ("finance", "vwap", 1),
    ("tpcds", "d34", 2),
]
COMPILED = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
INLINE = [c for i, c in enumerate(c for c in CASES if c[1] not in SLOW) if i % 6 == 0]


def draw(*words: object) -> int:
    return crc32("/".join(map(str, words)).encode())


def agree(
    folder: Path,
    runner: Any,
    workload: str,
    name: str,
    workers: int,
    level: str,
    batches: int,
    native: bool = False,
    size: int = 60,
) -> None:
    settings = FlowSettings(snapshot_every=3, memory=str(folder / "memory"), native=native)
    beside = Beside(workload, name, workers, folder / "checkpoint", runner, level, settings)
    beside.check("ready")
    for number, changes in enumerate(beside.stream(batches, size)):
        beside.apply(changes)
        beside.check(f"batch {number}")
    beside.flow.close()


@pytest.mark.parametrize(("workload", "name"), thin(INLINE, 2))
def test_in_this_process(tmp_path: Path, workload: str, name: str) -> None:
    level = list(LEVELS)[draw(workload, name, "level") % len(LEVELS)]
    workers = WORKERS[draw(workload, name) % len(WORKERS)]
    agree(tmp_path, InlineRunner(), workload, name, workers, level, 4)


@pytest.mark.full
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("workload", "name"), CASES)
def test_all_in_this_process(tmp_path: Path, workload: str, name: str, level: str) -> None:
    for workers in WORKERS:
        agree(tmp_path / str(workers), InlineRunner(), workload, name, workers, level, 8)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(("workload", "name", "workers"), SAMPLE)
def test_on_spark(tmp_path: Path, spark: Any, workload: str, name: str, workers: int) -> None:
    agree(tmp_path, spark, workload, name, workers, "shared", 4)


@pytest.mark.spark
@pytest.mark.native
@COMPILED
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(("workload", "name", "workers"), [("tpch", "q03", 3), ("tpch", "q16", 2)])
def test_kernels_on_spark(
    tmp_path: Path, spark: Any, workload: str, name: str, workers: int
) -> None:
    agree(tmp_path, spark, workload, name, workers, "shared", 4, native=True)


@pytest.mark.native
@COMPILED
@pytest.mark.parametrize(("name", "workers"), [("q04", 2), ("q17", 3), ("q18", 2), ("q22", 2)])
def test_kernels_of_delivered_batches(tmp_path: Path, name: str, workers: int) -> None:
    agree(tmp_path, InlineRunner(), "tpch", name, workers, "delivered", 6, native=True)


@pytest.mark.native
@COMPILED
@pytest.mark.parametrize(("workload", "name"), [("mddb", "mddb1"), ("tpch", "q11")])
def test_kernels_whose_share_of_a_batch_is_empty(tmp_path: Path, workload: str, name: str) -> None:
    """A statement may read other things beside the batch, of which this worker has no row."""
    agree(tmp_path, InlineRunner(), workload, name, 2, "shared", 7, native=True)


@pytest.mark.full
@pytest.mark.native
@COMPILED
@pytest.mark.parametrize(("workload", "name"), CASES)
def test_all_kernels_with_few_rows(tmp_path: Path, workload: str, name: str) -> None:
    for workers in WORKERS:
        folder = tmp_path / str(workers)
        agree(folder, InlineRunner(), workload, name, workers, "shared", 24, native=True, size=6)


@pytest.mark.full
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(("workload", "name"), CASES)
def test_all_on_spark(tmp_path: Path, spark: Any, workload: str, name: str) -> None:
    native = find_compiler() is not None
    for workers in WORKERS:
        folder = tmp_path / str(workers)
        agree(folder, spark, workload, name, workers, "shared", 6, native=native)
