"""Theta joins on partitions: every pair exactly once, against DuckDB after each batch.

Partitions change processes, lose their memory, and drivers restart, between batches at random.
"""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freshview.durable import task
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.durable.step import SentBlocks
from freshview.errors import FreshviewError
from freshview.spark.theta.join import SparkThetaJoin
from freshview.spark.theta.work import ThetaWork
from freshview.theta import Band, Function, HybridByKey, Output, Ranged, Source, ThetaJoin
from freshview.theta.local.native.store import NativeStore
from freshview.theta.local.store import ArrayStore, Slots
from freshview.theta.operator.partition import Partition
from tests.differential.theta_worlds import World
from tests.thin import thin

FAILED: list[int] = [75, 111]
"""Seeds that once failed."""


class Processes:
    """The tasks of a machine run in several processes: each has joiners of its own."""

    def __init__(self, count: int) -> None:
        self.workers: list[dict[Any, Any]] = [{} for _ in range(count)]
        self.rng = random.Random(count)

    def switch(self) -> None:
        """The next tasks run in another process."""
        now = dict(task._WORKERS)
        self.workers.append(now)
        task._WORKERS.clear()
        task._WORKERS.update(self.workers.pop(self.rng.randrange(len(self.workers))))


class Spread(InlineRunner):
    """Runs jobs as Spark does: any process may run the next one."""

    def __init__(self, processes: Processes) -> None:
        self.processes = processes

    def run(self, orders: Any) -> Any:
        """See `Runner`."""
        self.processes.switch()
        return super().run(orders)


class SparkWorld(World):
    """A world whose joiners are partitions."""

    def __init__(self, seed: int, folder: Path) -> None:
        rng = self.rng = random.Random(f"partitions {seed}")
        self.folder = folder
        self.processes = Processes(rng.choice((1, 1, 2)))
        settings = FlowSettings(snapshot_every=rng.choice((1, 3, 100)), memory=str(folder / "mem"))
        self.kept: dict[str, Any] = {"checkpoint": folder / "checkpoint", "settings": settings}
        workers = rng.choice((None, 1, 2, 3))
        start: Any = partial(self.first, workers)
        spill_after = 300 if seed % 3 == 0 else None
        super().__init__(
            seed, start, engine="auto" if seed % 2 else "numpy", spill_after=spill_after
        )

    def first(self, workers: int | None, *what: Any, **options: Any) -> ThetaJoin:
        """The first driver."""
        runner = Spread(self.processes)
        return SparkThetaJoin(*what, spark=runner, workers=workers, **self.kept, **options)

    def after(self, output: Output) -> None:
        """The driver dies, machines lose their memory, or snapshots are written."""
        join: Any = self.join
        chance = self.rng.random()
        if chance < 0.2:
            assert join.output().net() == output.net()
            assert join.output().late == output.late
        elif chance < 0.3:
            join.checkpoint()
        elif chance < 0.4:
            self._lose()
        elif chance < 0.6:
            task.forget(str(self.kept["checkpoint"]))
            for process in self.processes.workers:
                process.clear()
            if chance < 0.5:
                self._lose()
            before = join.placement, join.is_migrating, join.version
            runner = Spread(self.processes)
            self.join = SparkThetaJoin.restart(
                *self.what, spark=runner, **self.kept, **self.options
            )
            assert (self.join.placement, self.join.is_migrating, self.join.version) == before

    def _lose(self) -> None:
        for worker in [w for _, w in task._WORKERS.values()]:
            worker.snapshots.wait()
        task._WORKERS.clear()
        shutil.rmtree(self.folder / "mem", ignore_errors=True)

    def _buckets(self) -> set[int]:
        scheme = self.join.scheme
        assert isinstance(scheme, HybridByKey)
        sizes = scheme.sizes["R"] + scheme.sizes["S"]
        return set(np.flatnonzero(sizes).tolist())


@pytest.mark.parametrize("seed", [*FAILED, *thin(range(24), 4)])
def test_every_pair_comes_once(seed: int, tmp_path: Path) -> None:
    SparkWorld(seed, tmp_path).run()


@pytest.mark.parametrize("seed", [2_000_011, 2_000_053])
def test_every_pair_comes_once_by_ranges(seed: int, tmp_path: Path) -> None:
    world = SparkWorld(seed, tmp_path)
    assert isinstance(world.scheme, Ranged)
    world.run()


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_every_pair_comes_once_in_many_worlds(seed: int, tmp_path: Path) -> None:
    SparkWorld(seed, tmp_path).run()


@pytest.mark.spark
def test_a_session_gives_what_one_process_gives(tmp_path: Path, spark: Any) -> None:
    """Every batch is one job of two stages, also while state moves; functions travel."""

    def a_join(start: Any, **options: Any) -> Any:
        r, s = (Source(n, {"k": "int", "v": "string?"}, retracts=True) for n in "rs")
        on = [Band("k", "k", -2, 2), Function(lambda r, s: r[1] != s[1])]
        return start(r, s, on, joiners=8, pace=500, **options)

    settings = FlowSettings(memory=str(tmp_path / "memory"))
    one = a_join(ThetaJoin)
    rng, was_migrating = random.Random(3), 0
    rows: dict[str, list[Any]] = {"r": [], "s": []}
    with a_join(SparkThetaJoin, spark=spark, workers=2, settings=settings) as two:
        for number in range(6):
            changes: dict[str, list[Any]] = {"r": [], "s": []}
            for name, size in (("r", 30), ("s", 4 << number)):
                gone = [rows[name].pop(0) for _ in range(len(rows[name]) // 9)]
                new = [(rng.randrange(40), rng.choice([None, "a", "é"])) for _ in range(size)]
                rows[name] += new
                changes[name] = [*((row, -1) for row in gone), *((row, 1) for row in new)]
            assert two.apply(changes).net() == one.apply(changes).net(), number
            was_migrating += two.is_migrating
            stats = two.stats[-1]
            assert (stats.jobs, len(stats.stages)) == (1, 2)
        assert was_migrating
        assert two.metrics.moved_bytes > 0


# --- each part is needed ------------------------------------------------------------------------


def fails(folder: Path, worlds: int = 12) -> bool:
    """Whether some world notices."""
    for seed in range(worlds):
        try:
            SparkWorld(seed, folder / str(seed)).run()
        except (AssertionError, FreshviewError):
            return True
    return False


def test_state_that_is_rebuilt_is_settled_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    replay = ThetaWork.replay

    def received_only(self: ThetaWork, *args: Any) -> SentBlocks:
        return replay(self, *args) if args[3] else SentBlocks(())

    monkeypatch.setattr(ThetaWork, "replay", received_only)
    assert fails(tmp_path)


def test_stores_are_written_down_slot_by_slot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def alive(self: ArrayStore) -> Slots | None:
        stored = self.all()
        return None if stored is None else Slots(stored.take(stored.weight != 0), 0, ())

    monkeypatch.setattr(ArrayStore, "slots", alive)
    assert fails(tmp_path)


@pytest.mark.native
def test_free_slots_are_used_in_the_same_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slots = NativeStore.slots

    def in_any_order(self: NativeStore) -> Slots | None:
        kept = slots(self)
        return None if kept is None else replace(kept, free=None)

    monkeypatch.setattr(NativeStore, "slots", in_any_order)
    with pytest.raises((AssertionError, FreshviewError)):
        SparkWorld(FAILED[0], tmp_path).run()


def test_tuples_on_their_way_are_visited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    routed = Partition._routed
    monkeypatch.setattr(Partition, "_routed", lambda self, side, t, _: routed(self, side, t, {}))
    assert fails(tmp_path)
