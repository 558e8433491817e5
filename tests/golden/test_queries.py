"""Every stage of a few queries side by side: SQL, calculus, trigger program.

    queries/NAME/query.sql       the SQL; that of WORKLOAD_QUERY is a copy of the workload's
    queries/NAME/calculus.txt    what it means
    queries/NAME/program.txt     the maps and triggers that keep it fresh
    queries/NAME/layout.txt      the tables of the kernel that a user gets (of some)
    queries/NAME/loops.txt       what its functions do
    queries/NAME/kernel.cpp      their C++; with _batch, those of triggers for batches
    queries/NAME/spark.txt       the blocks that run them on many workers (of some)

A refactoring changes none of these files; another change shows in them what it does. To make
them anew: pytest tests/golden --update-golden
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from freshview.program.text import read_program
from tests.golden.conftest import Golden
from tests.golden.stages import FOLDER, NAMES, stages


@pytest.mark.parametrize("name", NAMES)
def test_stages(name: str, golden: Golden) -> None:
    for file, text in stages(name).texts().items():
        golden(FOLDER / name / file, text)


@pytest.mark.parametrize("name", NAMES)
def test_texts_can_be_read(name: str) -> None:
    """The files say all: reading them gives the very query and program."""
    query_stages = stages(name)
    texts = query_stages.texts()
    assert read_program(texts["program.txt"]) == query_stages.program
    assert read_program(texts["calculus.txt"]).queries == (query_stages.query,)


PRINT = """
from tests.golden.stages import NAMES, stages
for name in NAMES:
    print(*stages(name).texts().values())
"""


def test_texts_do_not_depend_on_hashing() -> None:
    """Sets of names iterate in another order in every process; no text may follow them."""
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), str(root / "src")])

    def run(seed: str) -> bytes:
        env = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PRINT]
        return subprocess.run(command, env=env, cwd=root, check=True, capture_output=True).stdout

    first = run("0")
    assert first
    assert all(run(seed) == first for seed in ("1", "2"))
