"""Fixtures of databases on both engines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import freshview
from freshview.runtime.compile import kernels
from freshview.runtime.database.database import Database

ENGINES = ["reference", pytest.param("native", marks=pytest.mark.native)]

Connect = Callable[..., Database]


@pytest.fixture
def native() -> None:
    """Skips where there is no compiler."""
    if kernels.compiler() is None:
        pytest.skip("there is no C++ compiler")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "native":
        request.getfixturevalue("native")
    return str(request.param)


@pytest.fixture
def connect(engine: str) -> Connect:
    def make(**options: object) -> Database:
        return freshview.connect(**{"engine": engine, **options})  # type: ignore[arg-type]

    return make
