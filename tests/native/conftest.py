"""The kernel written by hand that the boundary is tested with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.codegen.library.load import Instance, Kernel
from freshview.codegen.library.toolchain import build

HERE = Path(__file__).parent
SANITIZED = "FRESHVIEW_TEST_SANITIZED"  # test_sanitizers.py sets it
CACHE = HERE.parent.parent / ".cache" / "kernels"


@pytest.fixture(scope="session")
def source() -> str:
    return (HERE / "everything.cpp").read_text(encoding="utf-8")


def library_of(source: str) -> Kernel:
    """The library of a text, with the sanitizers where they are asked for."""
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    flags = Flags(sanitize=("address", "undefined")) if SANITIZED in os.environ else Flags()
    return Kernel(build(source, compiler=compiler, flags=flags, cache=CACHE))


@pytest.fixture(scope="session")
def kernel(source: str) -> Kernel:
    return library_of(source)


@pytest.fixture
def running(kernel: Kernel) -> Instance:
    return kernel.open()
