"""Several views of a database, as users get them, give DuckDB's rows after every batch.

`pytest -k world-7-` repeats seed 7, and `python -m tests.differential.test_worlds reference 0 5000`
runs many seeds and prints those that differ. A seed that failed goes into FAILED and stays there.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import freshview
from freshview.codegen.library.compiler import find_compiler
from freshview.errors import FreshviewError
from freshview.runtime.database import tiering
from freshview.runtime.database.database import Database
from tests.differential.worlds import World, follow, world
from tests.thin import full, only, thin

COMPILED = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]
STRATEGIES = ("auto", "auto", "higher-order", "first-order", "project", "reeval")
MODES = ("auto", "batch", "tuple")

FAILED = (702, 1771, 20031, 20083, 40017, 40424, 41148, 41834, 42159, 70012, 70036, 80001)
"""Seeds that once gave wrong rows, or were refused."""
LONG = (1771, 40017, 40424, 41148, 41834, 42159)
"""Those of them whose kernels take longest."""
LARGE = (10144, 20071)
"""The same of queries that take long to plan: their maps were recomputed from themselves."""
SLOW = (8, 48, 60, 68, 209, 215)
"""Queries that take longest to plan or to compile."""


def settings(seed: int) -> dict[str, Any]:
    """A strategy and a mode: neighbours differ; every other seed takes what users get."""
    if seed % 2:
        return {}
    return {"strategy": STRATEGIES[seed // 2 % 6], "mode": MODES[seed // 12 % 3]}


def on_reference(seed: int) -> None:
    """The reference engine alone."""
    follow(world(seed), lambda: freshview.connect(engine="reference", **settings(seed)))


def on_kernels(seed: int) -> None:
    """Kernels from the start."""
    follow(world(seed), lambda: freshview.connect(engine="native", **settings(seed)))


def by_default(seed: int) -> None:
    """As `connect()` does it: Python answers until a kernel is ready, and the kernel goes on."""
    rng = random.Random(seed)
    moment = rng.randrange(1, 6)

    def wait(db: Database, number: int) -> None:
        if number == moment:
            for job in db._tiering.jobs:
                job.wait()

    with early_kernels():
        follow(world(seed), freshview.connect, wait)


def with_restarts(seed: int) -> None:
    """A database that is written to a folder and read again between batches."""
    rng = random.Random(seed)
    with TemporaryDirectory() as folder:
        follow_with_restarts(world(seed), Path(folder), rng, settings(seed))


def follow_with_restarts(
    w: World, folder: Path, rng: random.Random, options: dict[str, Any]
) -> None:
    """Go on from a snapshot, now and then."""

    def restart(db: Database, number: int) -> Database | None:
        if rng.random() < 0.3:
            db.snapshot(folder / "snapshot")
            return freshview.restore(folder / "snapshot")
        return None

    follow(w, lambda: freshview.connect(**options), restart)


@contextmanager
def early_kernels() -> Iterator[None]:
    """Kernels are built after a few rows, not after thousands."""
    before, tiering.TIER_UP_ROWS = tiering.TIER_UP_ROWS, 3
    try:
        yield
    finally:
        tiering.TIER_UP_ROWS = before


def quick(seeds: Iterable[int], every: int) -> list[Any]:
    """One of so many, without the slow ones."""
    return [full(s) if s in SLOW else s for s in thin(seeds, every)]


@pytest.mark.parametrize(
    "seed", [*quick(range(80), 6), *FAILED, *map(full, LARGE)], ids="world-{}-".format
)
def test_reference(seed: int) -> None:
    on_reference(seed)


@pytest.mark.parametrize(
    "seed",
    [*quick(range(200, 220), 5), *only(FAILED, lambda seed: seed not in LONG), *map(full, LARGE)],
    ids="world-{}-".format,
)
class TestKernels:
    pytestmark = COMPILED

    def test_from_the_start(self, seed: int) -> None:
        on_kernels(seed)

    def test_that_take_over(self, seed: int) -> None:
        by_default(seed)


@pytest.mark.parametrize("seed", thin(range(200_000, 200_030), 6), ids="world-{}-".format)
def test_windows_and_statistics(seed: int) -> None:
    on_reference(seed)


@pytest.mark.parametrize("seed", thin(range(200_030, 200_040), 5), ids="world-{}-".format)
class TestWindowsOnKernels:
    pytestmark = COMPILED

    def test_windows_and_statistics(self, seed: int) -> None:
        on_kernels(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(201_000, 205_000), ids="world-{}-".format)
def test_windows_and_statistics_in_full(seed: int) -> None:
    on_reference(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(205_000, 206_000), ids="world-{}-".format)
class TestWindowsOnKernelsInFull:
    pytestmark = COMPILED

    def test_as_users_get_them(self, seed: int) -> None:
        (on_kernels if seed % 2 else by_default)(seed)


@pytest.mark.parametrize("seed", thin(range(300, 315), 2), ids="world-{}-".format)
def test_restarts(seed: int) -> None:
    with_restarts(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 6000), ids="world-{}-".format)
def test_reference_in_full(seed: int) -> None:
    on_reference(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6000, 7000), ids="world-{}-".format)
class TestKernelsInFull:
    pytestmark = COMPILED

    def test_as_users_get_them(self, seed: int) -> None:
        (on_kernels if seed % 2 else by_default)(seed)


WAYS: dict[str, Callable[[int], None]] = {
    "reference": on_reference,
    "kernels": on_kernels,
    "default": by_default,
    "restarts": with_restarts,
}


def main(way: str, first: str, end: str) -> None:
    """Run seeds and print what differs."""
    outcomes: Counter[str] = Counter()
    for seed in range(int(first), int(end)):
        try:
            WAYS[way](seed)
            outcomes["equal"] += 1
        except AssertionError as e:
            outcomes["different"] += 1
            print(f"seed {seed}: {e}", flush=True)
        except FreshviewError as e:
            outcomes["refused"] += 1
            print(f"seed {seed} is refused: {e}", flush=True)
        except Exception as e:
            outcomes[type(e).__name__] += 1
            print(f"seed {seed}: {type(e).__name__}: {e}", flush=True)
    print(dict(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
