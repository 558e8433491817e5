"""A driver and its workers are killed at every moment: no batch is lost, none counts twice."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

from freshview.codegen.library.compiler import find_compiler
from freshview.durable import runner, task
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from tests.differential.flows import Beside
from tests.fault.dying import dies, in_child, shared_nodes
from tests.thin import thin

BATCHES = 8


class Life:
    """A pipeline that is killed and goes on, beside an engine that never fails."""

    def __init__(
        self,
        folder: Path,
        workload: str,
        name: str,
        workers: int,
        level: str = "shared",
        batches: int = BATCHES,
        native: bool = False,
    ) -> None:
        self.memory = folder / "memory"
        settings = FlowSettings(snapshot_every=2, memory=str(self.memory), native=native)
        self.beside = Beside(
            workload, name, workers, folder / "checkpoint", InlineRunner(), level, settings
        )
        self.changes = list(self.beside.stream(batches))
        self.batches = [self.beside.tables(c) for c in self.changes]
        self.start = self.beside.flow.version

    def go(self) -> None:
        """Restart and apply all that is missing: a source that is asked from its offset on."""
        task.forget(self.beside.flow.work.place)
        self.beside.restart()
        flow = self.beside.flow
        while flow.version < len(self.batches):
            assert flow.note.get("offset", 0) == flow.version
            flow.apply(self.batches[flow.version], {"offset": flow.version + 1})

    def go_until(self, tick: int) -> bool:
        """In a child that dies at a tick; whether it came to the end before."""

        def work() -> None:
            with dies(tick):
                self.go()

        return in_child(work)

    def end(self) -> None:
        """Go on to the end without harm, and compare."""
        self.go()
        for changes in self.changes:
            self.beside.count_changes(changes)
        self.beside.check("at the end")


class Load(Life):
    """All the batches are given as one load, in as many pieces: they are one job."""

    def __init__(
        self, folder: Path, workload: str, name: str, workers: int, **options: Any
    ) -> None:
        super().__init__(folder, workload, name, workers, "delivered", **options)
        parts: dict[str, list[Any]] = {}
        for batch in self.batches:
            for relation, rows in batch.items():
                parts.setdefault(relation, []).append(rows)
        self.every = {relation: pa.concat_tables(rows) for relation, rows in parts.items()}
        total = sum(t.num_rows for t in self.every.values())
        self.size = -(-total // len(self.batches))
        self.pieces = -(-total // self.size)
        coordinator = self.beside.flow._coordinator
        assert coordinator.can_follow(self.beside.flow._packer.routine(self.every))

    def go(self) -> None:
        """Restart and load, unless all is known to be loaded."""
        task.forget(self.beside.flow.work.place)
        self.beside.restart()
        now = self.beside.flow._commit_log.commit
        if now.version < self.pieces or now.loading is not None:
            self.beside.flow.load(self.every, rows=self.size)


@pytest.fixture(params=["process", "shared", "kernel"])
def nodes(request: pytest.FixtureRequest) -> Iterator[str]:
    """In a process, in files that stand for shared memory, or in a kernel on shared memory."""
    if request.param == "kernel" and find_compiler() is None:
        pytest.skip("there is no C++ compiler")
    with shared_nodes() if request.param == "shared" else nullcontext():
        yield request.param


def copy(folder: Path, to: Path) -> None:
    shutil.rmtree(to, ignore_errors=True)
    if folder.exists():
        shutil.copytree(folder, to)


def run(
    tmp_path: Path,
    rng: random.Random,
    kills: int,
    workload: str,
    name: str,
    workers: int,
    nodes: str,
    level: str = "shared",
) -> None:
    kill(Life(tmp_path, workload, name, workers, level, native=nodes == "kernel"), rng, kills)


def kill(life: Life, rng: random.Random, kills: int) -> None:
    """At some moment, so many times; now and then memory is lost."""
    for _ in range(kills):
        if life.go_until(rng.randint(1, 40)):
            break
        if rng.random() < 0.15:
            shutil.rmtree(life.memory, ignore_errors=True)
        elif rng.random() < 0.15:
            lose_one(life.memory, rng)
    life.end()


def lose_one(memory: Path, rng: random.Random) -> None:
    """One worker's memory is gone, as when its machine is."""
    folders = sorted(memory.glob("*/p*"))
    if folders:
        shutil.rmtree(rng.choice(folders))


QUERIES = [("tpch", "q03", 2), ("tpch", "q11", 3), ("finance", "vwap", 2)]


@pytest.mark.parametrize(("workload", "name", "workers"), thin(QUERIES, 3))
def test_killed_again_and_again(
    tmp_path: Path, nodes: str, workload: str, name: str, workers: int
) -> None:
    rng = random.Random(f"{workload}/{name}/{nodes}")
    run(tmp_path, rng, 40, workload, name, workers, nodes)


@pytest.mark.parametrize(("workload", "name"), thin([("tpch", "q04"), ("finance", "vwap")], 2))
def test_loads_are_killed_again_and_again(
    tmp_path: Path, nodes: str, workload: str, name: str
) -> None:
    rng = random.Random(f"{workload}/{name}/{nodes}")
    kill(Load(tmp_path, workload, name, 2, native=nodes == "kernel"), rng, 25)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10))
def test_loads_are_killed_seeded(tmp_path: Path, nodes: str, seed: int) -> None:
    rng = random.Random(f"load {seed}")
    name = rng.choice(("q01", "q04", "q12", "q13", "q17"))
    life = Load(tmp_path, "tpch", name, rng.choice((1, 2, 3)), native=nodes == "kernel")
    kill(life, rng, 40)


class Alternating(InlineRunner):
    """Tasks are done by two processes, as it happens: none of them sees the other's memory."""

    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)
        self.workers: tuple[Any, Any] = ({}, {})

    def run(self, orders: Any) -> Any:
        def stage(*args: Any) -> Any:
            with mock.patch.object(task, "_WORKERS", self.rng.choice(self.workers)):
                return list(task.run_stage(*args))

        with mock.patch.object(runner, "run_stage", stage):
            return super().run(orders)


@pytest.mark.parametrize(
    ("workload", "name"), thin([("tpch", "q11"), ("tpch", "q03"), ("tpch", "q16")], 3)
)
def test_any_process_goes_on(tmp_path: Path, nodes: str, workload: str, name: str) -> None:
    native = nodes == "kernel"
    settings = FlowSettings(snapshot_every=3, memory=str(tmp_path / "memory"), native=native)
    by = Alternating(name)
    beside = Beside(workload, name, 2, tmp_path / "checkpoint", by, "naive", settings)
    for number, changes in enumerate(beside.stream(6)):
        beside.apply(changes)
        beside.check(f"batch {number}")


@pytest.mark.full
@pytest.mark.parametrize("seed", range(40))
def test_killed_seeded(tmp_path: Path, nodes: str, seed: int) -> None:
    from tests.differential.harness import cases

    rng = random.Random(f"seed {seed}")
    workload, name = rng.choice([c for c in cases() if c[1] not in ("mddb2", "d46", "d68")])
    level = rng.choice(("naive", "shared", "shared"))
    run(tmp_path, rng, 60, workload, name, rng.choice((1, 2, 3, 5)), nodes, level)


def every_moment(tmp_path: Path, nodes: str, step: int, first: int) -> int:
    """Kill at each tick of two batches in turn; the number of ticks."""
    life = Life(tmp_path, "tpch", "q03", 2, batches=2, native=nodes == "kernel")
    empty = life.beside.engine.snapshot()
    kept = tmp_path / "kept"
    copy(tmp_path / "checkpoint", kept / "checkpoint")
    copy(life.memory, kept / "memory")
    tick = first
    while True:
        copy(kept / "checkpoint", tmp_path / "checkpoint")
        copy(kept / "memory", life.memory)
        ended = life.go_until(tick)
        life.beside.engine.restore(empty)
        life.end()
        assert life.beside.flow.version == 2
        if ended:
            return tick
        tick += step


def test_killed_at_some_moments(tmp_path: Path, nodes: str) -> None:
    assert every_moment(tmp_path, nodes, step=17, first=3) > 100


@pytest.mark.full
def test_killed_at_every_moment(tmp_path: Path, nodes: str) -> None:
    assert every_moment(tmp_path, nodes, step=1, first=1) > 100
