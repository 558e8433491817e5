"""Fixtures of databases on both engines; their kernels are kept apart from those of the user."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import freshet
from freshet.runtime import kernels
from freshet.runtime.database import Database

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ["reference", pytest.param("native", marks=pytest.mark.native)]

Connect = Callable[..., Database]


@pytest.fixture(autouse=True, scope="session")
def cache() -> Iterator[None]:
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(ROOT / ".cache" / "runtime")
    yield
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


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
        return freshet.connect(**{"engine": engine, **options})  # type: ignore[arg-type]

    return make
