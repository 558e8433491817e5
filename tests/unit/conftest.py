"""Nodes in Python, and in kernels where there is a compiler."""

from __future__ import annotations

import pytest

from freshview.codegen.library.compiler import find_compiler


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.native)])
def native(request: pytest.FixtureRequest) -> bool:
    """Whether a flow has kernels."""
    if request.param and find_compiler() is None:
        pytest.skip("there is no compiler")
    return bool(request.param)
