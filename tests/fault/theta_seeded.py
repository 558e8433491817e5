"""Seeded fault runs of theta joins on partitions: kills, full disks, memory lost as state moves.

A seed names a join, a stream and the moments. Every life is a process that restarts the join, hands
on what it gives, and dies at some file or some step. What a version gave is written down by its
number; twice the same version must have given the same pairs, and all versions up to one add up to
what DuckDB says of the rows.
"""

from __future__ import annotations

import pickle
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from freshview.durable import task
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.errors import FreshviewError
from freshview.spark.theta.join import SparkThetaJoin
from freshview.spark.theta.node import JoinerNode
from freshview.theta import Output
from freshview.theta.controller import choose
from freshview.theta.operator.partition import Partition
from freshview.theta.terms import Groups, Sizes
from tests.differential.theta_worlds import Row, World
from tests.fault.dying import dies, in_child
from tests.fault.harm import full

VERSIONS = 10
LIVES = 7

PLACES = tuple((Partition, n) for n in ("send", "settle", "receive")) + tuple(
    (JoinerNode, n) for n in ("save", "restore")
)


class Rehearsal(World):
    """A world whose batches are written down with what DuckDB makes of them, to be run later."""

    def __init__(self, seed: int) -> None:
        engine = "auto" if seed % 3 else "numpy"
        super().__init__(seed, engine=engine, spill_after=500 if seed % 2 else None)
        self.batches: list[dict[str, list[tuple[Row, int]]]] = []
        self.wanted: list[Counter[Row]] = [Counter()]
        for _ in range(VERSIONS):
            self.batches.append(self._changes())
            self.wanted.append(self.oracle.pairs())


class Lives:
    """The lives of a join in a folder."""

    def __init__(self, seed: int, folder: Path, runner: Any = None) -> None:
        self.world = Rehearsal(seed)
        self.folder = folder
        self.runner = runner or InlineRunner()
        self.rng = random.Random(f"lives of join {seed}")
        self.memory, self.place = folder / "memory", folder / "checkpoint"
        self.settings = FlowSettings(
            snapshot_every=self.rng.choice((1, 2, 4, 100)), memory=str(self.memory)
        )
        self.workers = self.rng.choice((None, 1, 2, 3))
        self.migrating = 0

    def open(self) -> SparkThetaJoin:
        """A new driver: its process knows nothing of the one before."""
        task.forget(str(self.place))
        common: dict[str, Any] = {"spark": self.runner, "settings": self.settings}
        common |= {"checkpoint": self.place, **self.world.options}
        if SparkThetaJoin.exists(self.place):
            return SparkThetaJoin.restart(*self.world.what, **common)
        return SparkThetaJoin(*self.world.what, workers=self.workers, **common)

    def go(self, versions: int) -> None:
        """Open the join, take what the last life did not hand on, and join some batches."""
        join = self.open()
        if join.version and not self.saved(join.version).exists():
            self.hand_on(join.version, join.output())
        self.check(join.version)
        for _ in range(versions):
            if join.version == VERSIONS:
                break
            if not join.is_migrating and self.rng.random() < 0.6:
                self.migrate(join)
            version = join.version + 1
            output = join.apply(self.world.batches[join.version])
            assert join.version == version, "a batch was lost or doubled"
            self.hand_on(version, output)
            self.check(version)
        if self.rng.random() < 0.2:
            self.saved(join.version).touch()  # its output is not given again
            join.checkpoint()
        for _, worker in task._WORKERS.values():
            worker.snapshots.wait()

    def saved(self, version: int) -> Path:
        """A mark: all outputs up to a version are handed on, and a snapshot was asked for."""
        return self.folder / f"saved-{version:03}"

    def migrate(self, join: SparkThetaJoin) -> None:
        """Begin a migration with the next batch."""
        if isinstance(join.placement, Groups):
            join.migrate(choose(Sizes(2.0 ** self.rng.uniform(-5, 5), 1), join.placement))

    def hand_on(self, version: int, output: Output) -> None:
        """The pairs of a version reach their reader: at least once, and the same each time."""
        path = self.folder / f"output-{version:03}"
        if path.exists():
            assert pickle.loads(path.read_bytes()) == output.net(), f"{version} differs"
        draft = path.with_suffix(".draft")
        draft.write_bytes(pickle.dumps(output.net()))
        draft.rename(path)

    def check(self, version: int) -> None:
        """All outputs up to a version add up to the oracle's pairs."""
        total: Counter[Row] = Counter()
        for number in range(1, version + 1):
            path = self.folder / f"output-{number:03}"
            for row, n in pickle.loads(path.read_bytes()).items():
                total[row] += n
        actual = Counter({row: n for row, n in total.items() if n})
        wanted = self.world.wanted[version]
        assert actual == wanted, (version, self.world.words, actual - wanted, wanted - actual)

    def live(self) -> None:
        """All the lives; then to the end without any fault."""
        for _ in range(LIVES):
            self.one_life()
            if self.rng.random() < 0.4:
                shutil.rmtree(self.memory, ignore_errors=True)
        self.to_its_end(lambda: self.go(VERSIONS))

    def one_life(self) -> None:
        versions, first = self.rng.randint(1, 3), self.rng.randint(1, 50)
        seed = self.rng.random()

        def seeded() -> None:
            self.rng.seed(seed)
            with dies(first, PLACES):
                self.go(versions)

        def on_a_full_disk() -> None:
            self.rng.seed(seed)
            with full(first, 3):
                self.until_it_is_done(versions)

        if self.rng.random() < 0.75:
            in_child(seeded)
        else:
            self.to_its_end(on_a_full_disk)

    def until_it_is_done(self, versions: int) -> None:
        """A disk is full for a while: errors are sentences, and trying again helps."""
        for _ in range(40):
            try:
                return self.go(versions)
            except FreshviewError:
                continue
        return self.go(versions)

    @staticmethod
    def to_its_end(work: Callable[[], None]) -> None:
        """A life that must come to its end."""
        assert in_child(work), "nobody killed it"
