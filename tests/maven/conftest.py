"""Tests against Delta and Kafka themselves, whose jars Spark fetches from Maven.

Each runs in a process of its own: a session gets its jars when it starts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from freshet.spark.run.java import NoJava, provide_java

CENTRAL = "https://repo1.maven.org/maven2"
ROOT = Path(__file__).resolve().parents[2]


def need(*coordinates: str) -> None:
    """Skip, with the reason, where Maven cannot give these."""
    for coordinate in coordinates:
        group, name, version = coordinate.split(":")
        path = f"{group.replace('.', '/')}/{name}/{version}/{name}-{version}.pom"
        try:
            asked = urllib.request.Request(f"{CENTRAL}/{path}", method="HEAD")
            urllib.request.urlopen(asked, timeout=20).close()
        except urllib.error.HTTPError as e:
            pytest.skip(f"Maven has no {coordinate} (HTTP {e.code})")
        except OSError as e:
            pytest.skip(f"Maven cannot be reached: {e}")


@pytest.fixture(scope="session")
def version() -> str:
    """The version of Spark."""
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
    try:
        provide_java()
    except NoJava as e:
        pytest.skip(str(e))
    return str(pyspark.__version__)


@pytest.fixture
def alone(tmp_path: Path) -> Callable[..., None]:
    """Runs a Python text in a process of its own, in a folder of its own."""

    def run(text: str, **given: object) -> None:
        head = "".join(f"{name} = {value!r}\n" for name, value in given.items())
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, "-c", head + text],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return run
