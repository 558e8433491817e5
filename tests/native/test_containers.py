"""The containers of `freshview/native` do what the standard library's do, under sanitizers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.native, pytest.mark.xdist_group("containers")]  # compiled once

SOURCE = Path(__file__).with_name("containers.cpp")
HEADERS = Path(__file__).parents[2] / "src" / "freshview" / "native"
CASES = re.findall(r"CASE\((\w+)\)", SOURCE.read_text().split("> cases = {")[1])
# Vectors are wider than what this target passes by registers: nothing is linked that would mind.
FLAGS = ["-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Wno-psabi", "-Werror"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("needs a C++ compiler: install g++ or clang, or set CXX")
    out = tmp_path_factory.mktemp("native") / "containers"
    command = [compiler, *FLAGS, *SANITIZERS, f"-I{HEADERS}", str(SOURCE), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("case", CASES)
def test_case(driver: Path, case: str) -> None:
    done = subprocess.run([driver, case], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
