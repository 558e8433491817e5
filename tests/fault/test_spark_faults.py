"""Executors and drivers of Spark are killed: every view is still the oracle's."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from freshview.spark.java import NoJava, provide_java

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _java() -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed")
    try:
        provide_java()
    except NoJava as e:
        pytest.skip(f"Spark does not start here: {e}")


def start(
    what: str, folder: Path, seed: int, batches: int, program: str = "on_spark"
) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", f"tests.fault.{program}", what, str(folder), f"{seed}"]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    log = (folder / "errors").open("a")
    return subprocess.Popen(
        [*words, f"{batches}"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        start_new_session=True,  # so that all of it can be killed at once
    )


def ends_well(process: subprocess.Popen[str], folder: Path) -> None:
    out, _ = process.communicate(timeout=600)
    words = (folder / "errors").read_text()[-3000:]
    assert process.returncode == 0, f"{out}\n{words}"
    assert "all the same" in out


@pytest.mark.full
def test_executors_die(tmp_path: Path) -> None:
    ends_well(start("executors", tmp_path, seed=1, batches=5), tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2, 12))
def test_executors_die_seeded(tmp_path: Path, seed: int) -> None:
    ends_well(start("executors", tmp_path, seed, batches=14), tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["powers", "descent"])
def test_executors_with_matrices_die(tmp_path: Path, name: str, seed: int) -> None:
    ends_well(start(name, tmp_path, seed, batches=6, program="matrices_on_spark"), tmp_path)


def drivers_die(
    folder: Path,
    seed: int,
    kills: int,
    batches: int,
    what: str = "driver",
    steps: int = 3,
    program: str = "on_spark",
) -> None:
    rng = random.Random(seed)
    for _ in range(kills):
        process = start(what, folder, seed, batches, program)
        assert process.stdout is not None
        waited = rng.randint(1, steps)
        for line in process.stdout:
            waited -= line.startswith("version")
            if not waited:
                break
        time.sleep(0.3 * rng.random())
        # The driver alone, or with its JVM and its workers, as when the machine is gone.
        if rng.random() < 0.5:
            process.kill()
        elif process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    ends_well(start(what, folder, seed, batches, program), folder)


def test_the_driver_dies(tmp_path: Path) -> None:
    drivers_die(tmp_path, seed=1, kills=1, batches=4)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_the_driver_dies_in_a_load_seeded(tmp_path: Path, seed: int) -> None:
    drivers_die(tmp_path, seed, kills=3, batches=40, what="loading", steps=1)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2, 12))
def test_the_driver_dies_seeded(tmp_path: Path, seed: int) -> None:
    drivers_die(tmp_path, seed, kills=4, batches=12)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10))
def test_executors_with_joiners_die(tmp_path: Path, seed: int) -> None:
    ends_well(start("executors", tmp_path, seed, batches=8, program="theta_on_spark"), tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10))
def test_the_driver_of_a_join_dies(tmp_path: Path, seed: int) -> None:
    drivers_die(tmp_path, seed, kills=3, batches=9, program="theta_on_spark")


@pytest.mark.full
@pytest.mark.parametrize("seed", range(5))
def test_executors_with_signals_die(tmp_path: Path, seed: int) -> None:
    ends_well(start("executors", tmp_path, seed, batches=8, program="signals_on_spark"), tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(5))
def test_the_driver_of_a_signal_query_dies(tmp_path: Path, seed: int) -> None:
    drivers_die(tmp_path, seed, kills=3, batches=9, program="signals_on_spark")
