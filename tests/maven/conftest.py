"""Tests against Delta and Kafka themselves, in an environment whose Spark has connectors.

`make` sets that environment up, and fetches the jars; what is missing is fetched here. What goes
wrong in that is a failure. Only where nothing at all can be reached are these tests skipped, and
the reason says so.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from tests.maven.broker import Broker
from tests.maven.jars import fetched

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".venv-connectors"
PYTHON = HOME / "bin" / "python"
SETUP = ["bash", ".ci/setup", sys.executable, str(HOME), "requirements-connectors.lock"]

Alone = Callable[..., str]


@functools.cache
def network() -> bool:
    """Whether pip reaches its index, wherever this machine says that it is."""
    words = [sys.executable, "-m", "pip", "index", "versions", "pip", "--retries", "1"]
    return subprocess.run(words, capture_output=True, timeout=300, check=False).returncode == 0


def give_up(what: str, said: str) -> NoReturn:
    """Fail; skip where there is no network."""
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "nothing is said")
    if network():
        pytest.fail(f"{what}: {said[-4000:]}", pytrace=False)
    pytest.skip(f"there is no network, and {what}: {last.strip()}")


def call(*words: str, cwd: Path = ROOT, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end, with this Freshview in the path of Python."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path}
    environment.pop("PYSPARK_PYTHON", None)  # of the environment that the tests run in
    return subprocess.run(
        words,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.fixture(scope="session")
def jars() -> list[str]:
    """The jars of the connectors and the broker, in an environment that is ready."""
    if not PYTHON.exists() or call(str(PYTHON), "-c", "import pyspark, freshview.cli").returncode:
        done = call(*SETUP)
        if done.returncode:
            give_up("the environment of the connectors cannot be made", done.stderr)
    jar_files = fetched(HOME)
    if jar_files is None:
        done = call(str(PYTHON), "-m", "tests.maven.jars")
        jar_files = fetched(HOME)
        if done.returncode or jar_files is None:
            give_up("the jars of the connectors cannot be fetched", done.stderr)
    return jar_files


@pytest.fixture
def alone(jars: list[str], tmp_path: Path) -> Alone:
    """Runs Python in the environment, in a folder of its own: a session gets its jars at birth."""

    def run(*words: str) -> str:
        done = call(str(PYTHON), *words, cwd=tmp_path)
        assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
        return done.stdout

    return run


@pytest.fixture(scope="session")
def broker(jars: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker of Kafka."""
    with Broker(jars, tmp_path_factory.mktemp("broker")) as one:
        yield one
