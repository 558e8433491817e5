"""Theta joins on partitions: every pair exactly once, against DuckDB after each batch.

Partitions change processes, lose their memory, and drivers restart, between batches at random.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freshview.durable import task
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.spark.theta import work
from freshview.spark.theta.join import SparkThetaJoin
from freshview.theta import HybridByKey, Output, ThetaJoin
from freshview.theta.operator.partition import Partition
from freshview.theta.terms import Groups
from tests.differential.theta_worlds import World

FAILED: list[int] = []
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
    """Runs stages as Spark does: any process may run the next one."""

    def __init__(self, processes: Processes) -> None:
        self.processes = processes

    def run(self, orders: Any) -> Any:
        """See `Runner`."""
        stage = work.ThetaWork.perform

        def elsewhere(*args: Any, **kwargs: Any) -> Any:
            return stage(*args, **kwargs)

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
        super().__init__(seed, partial(self.first, workers))  # type: ignore[call-arg]

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


@pytest.mark.parametrize("seed", [*FAILED, *range(30)])
def test_every_pair_comes_once(seed: int, tmp_path: Path) -> None:
    SparkWorld(seed, tmp_path).run()
