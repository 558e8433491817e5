"""Profiles for all the laws: no deadline, since machines differ.

The default one draws the same examples in every run, so that a change is judged by what it
changes; `make test-full` explores new ones.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile(
    "same", deadline=None, max_examples=40, derandomize=True, suppress_health_check=SLOW
)
settings.register_profile("explore", deadline=None, suppress_health_check=SLOW)
settings.load_profile("same")

TESTS_PER_FREEZE = 20


def pytest_configure(config: pytest.Config) -> None:
    """Tests run some rows through many kernels: most of their time is the compiler's.

    So all the tests of all the processes share one cache, apart from that of the user, and the
    default run does not optimize. The full run takes kernels as users get them.
    """
    os.environ["XDG_CACHE_HOME"] = str(config.rootpath / ".cache" / "tests")
    if leaves_out_full(config):
        os.environ.setdefault("FRESHVIEW_OPTIMIZE", "0")
    config.pluginmanager.register(Freezer())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """One process has the session of Spark, and each group is in one process.

    pytest-xdist tells the groups by the ids of tests, but writes them where pytest 9.2 no longer
    looks.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))
    yield
    for item in items:
        name = getattr(item, "_nodeid", item.nodeid)
        if name != item.nodeid:
            item._id = type(item._id).parse(name)  # type: ignore[attr-defined]


def leaves_out_full(config: pytest.Config) -> bool:
    """Whether this is the usual run, by `-m "not full"` or more."""
    return "not full" in (config.option.markexpr or "")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, obj: object
) -> list[pytest.Item] | None:
    """Tests of the full run have no cases in the usual one.

    They are most of all cases, and every process would make them all to leave them out.
    """
    if not leaves_out_full(collector.config):
        return None
    marks = [*getattr(obj, "pytestmark", ()), *collector.iter_markers()]
    return [] if any(mark.name == "full" for mark in marks) else None


class Freezer:
    """Sets aside what stays, so that a garbage collection walks through what is new.

    The caches of terms that all the plans of a run leave grow to millions of objects; modules
    and cases stay until the end.
    """

    def __init__(self) -> None:
        self.tests = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[None]:
        gc.disable()
        try:
            yield
        finally:
            gc.enable()
        gc.freeze()

    def pytest_runtest_logfinish(self) -> None:
        self.tests += 1
        if self.tests % TESTS_PER_FREEZE == 0:
            gc.collect()
            gc.freeze()

    def pytest_unconfigure(self) -> None:
        gc.unfreeze()  # modules look for what was not given back when Python ends


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of single suites: only the outermost conftest can declare them."""
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the files of tests/golden/queries"
    )
    parser.addoption(
        "--sanitize",
        action="store_true",
        help="build kernels with address and undefined sanitizers",
    )
    parser.addoption("--master", default="local[2]", help="where Spark runs in tests")


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The one Spark session of this process."""
    from freshview.errors import FreshviewError
    from freshview.spark.start_session import start_session

    try:
        few = {"spark.sql.shuffle.partitions": "2"}  # 200 tasks for some rows take seconds
        session = start_session(
            request.config.getoption("--master"), name="freshview tests", settings=few
        )
    except (FreshviewError, ImportError, RuntimeError) as e:
        pytest.skip(f"Spark does not start here: {e}")
    yield session
    session.stop()
