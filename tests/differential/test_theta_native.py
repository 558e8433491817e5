"""Local joins in C++: every pair exactly once, against DuckDB after each batch.

Batch by batch, from a batch on that finds NumPy's stores filled, and by single rows.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from freshview.errors import BuildProblem
from freshview.theta.local.native.store import NativeStore
from freshview.theta.migration import exchanges_of
from freshview.theta.operator import direct
from freshview.theta.operator.output import Output
from tests.differential.theta_worlds import Row, World
from tests.thin import thin

pytestmark = pytest.mark.native

FAILED: list[int] = [82]
"""Worlds that once failed: a store without rows, as all were out of the window, became native."""

FAILED_SINGLY: list[int] = [36, 62, 99]
"""Migrations that were asked for while C++ joined single rows alone; rows that went meanwhile."""

EVERY = 10
"""Of so many worlds the usual run has one: most have a kernel of their own."""


class Adopting(World):
    """A world whose joiners begin in NumPy."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.from_batch = 1 + self.seed % 9
        self.join._engine._is_open = False

    def after(self, output: Output) -> None:
        self.from_batch -= 1
        if self.from_batch == 0:
            self.join._engine._is_open = True


class Singly(World):
    """A world whose rows come one by one; deletions are batches of their own."""

    def run(self, batches: int = 10) -> None:
        if self.timed and self.delay is not None:
            return  # each row moves the watermark: other rows are late than in batches
        total: Counter[Row] = Counter()
        writers = {name: self.join.writer(name) for name in "rs"}
        for _ in range(batches):
            if self.random.random() < 0.35 and not self.join.is_migrating:
                self.join.migrate(self._placement(self.join.placement))
            for name, changes in self._changes().items():
                for row, n in changes:
                    if n > 0:
                        total.update(writers[name].insert(*row))
                    else:
                        total.update(self.join.apply({name: [(row, n)]}).net())
            pairs = Counter({row: n for row, n in total.items() if n})
            assert pairs == self.oracle.pairs(), (self.seed, self.words)
            if self.random.random() < 0.5:
                assert self.join.metrics.pairs >= 0  # counts what C++ has joined alone


def run(seed: int, kind: type[World]) -> None:
    """A world whose local joins are in C++; nothing where C++ has no index."""
    try:
        world = kind(seed, engine="native")
    except BuildProblem:
        return
    world.run()
    if kind is World:
        assert "C++" in world.join.explain()


@pytest.mark.parametrize("kind", [World, Adopting, Singly])
@pytest.mark.parametrize("seed", [*FAILED, *thin(range(100), EVERY)])
def test_every_pair_comes_once(seed: int, kind: type[World]) -> None:
    run(seed, kind)


@pytest.mark.parametrize("seed", FAILED_SINGLY)
def test_single_rows_while_state_moves(seed: int) -> None:
    run(seed, Singly)


@pytest.mark.full
@pytest.mark.parametrize("block", range(10))
def test_every_pair_comes_once_in_many_worlds(block: int) -> None:
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        run(seed, (World, Adopting, Singly)[seed % 3])


# --- each part is needed ------------------------------------------------------------------------


def fails(worlds: int = 40) -> bool:
    """Whether some world notices."""
    for seed in range(worlds):
        try:
            run(seed, World)
        except AssertionError:
            return True
    return False


def test_rows_that_are_forgotten_are_joined_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NativeStore, "drop", lambda self, slots: None)
    monkeypatch.setattr(NativeStore, "pin", lambda self: None)
    assert fails()


def test_what_python_must_ask_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of_them(self: NativeStore, probes: Any, row: Any, slot: Any) -> Any:
        return row, slot

    monkeypatch.setattr(NativeStore, "_remaining", all_of_them)
    assert fails()


def test_tuples_on_their_way_are_joined_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*args: Any) -> dict[int, frozenset[int]]:
        return {host: frozenset() for host in exchanges_of(*args)}

    monkeypatch.setattr(direct, "exchanges_of", nobody)
    assert fails()
