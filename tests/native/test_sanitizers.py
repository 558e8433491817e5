"""The boundary under the compiler's sanitizers: every other test of it, once more."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from freshview.codegen.library.compiler import find_compiler
from tests.native.conftest import HERE, SANITIZED

pytestmark = [pytest.mark.native, pytest.mark.full]

FILES = [
    "test_boundary.py",
    "test_arrow.py",
    "test_snapshots.py",
    "test_collected.py",
    "test_row_store.py",
    "../unit/runtime/relations/test_stored_rows.py",
    "../unit/runtime/relations/test_sorted_rows.py",
]


def runtime(name: str) -> str:
    """Where the compiler keeps a sanitizer's library, which must be there before Python is."""
    compiler = find_compiler()
    if compiler is None or compiler.kind != "gcc":
        pytest.skip("needs g++")
    command = [*compiler.command, f"-print-file-name={name}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(path):
        pytest.skip(f"the compiler has no {name}")
    return path


@pytest.mark.parametrize("file", FILES)
def test_nothing_is_found(file: str) -> None:
    env = os.environ | {
        SANITIZED: "1",
        "LD_PRELOAD": f"{runtime('libasan.so')} {runtime('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps what it likes; test_leaks.py looks at it
        "PYTHONMALLOC": "malloc",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, str(HERE / file)],
        env=env,
        capture_output=True,
        text=True,
        cwd=HERE.parent.parent,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
