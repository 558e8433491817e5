"""Flows on Spark that are killed: run by `test_spark_faults.py`, in processes of their own.

python -m tests.fault.on_spark executors FOLDER SEED BATCHES
python -m tests.fault.on_spark driver FOLDER SEED BATCHES
python -m tests.fault.on_spark loading FOLDER SEED BATCHES
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from freshview.codegen.library.compiler import find_compiler
from freshview.durable.settings import FlowSettings
from freshview.pipelines.flow import Flow
from freshview.spark.start_session import start_session
from tests.differential.flows import Beside
from tests.fault.harm import HARMS, harm, there


def settings(folder: Path) -> FlowSettings:
    return FlowSettings(
        snapshot_every=3, memory=str(folder / "memory"), native=find_compiler() is not None
    )


def executors(spark: Any) -> dict[str, int]:
    """The process of every executor, by its name."""

    def here(_: Any) -> tuple[str, int]:
        from pyspark import SparkFiles

        daemon = os.getppid()
        words = Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()
        time.sleep(0.3)  # so that every executor gets one
        return SparkFiles.getRootDirectory(), int(words[1])

    processes = spark.sparkContext.parallelize(range(4), 4).map(here).collect()
    return {Path(root).name + str(pid): pid for root, pid in processes}


def kill_one(spark: Any, flow: Flow, rng: random.Random, folder: Path) -> None:
    """An executor dies, and the memory of its machine with it."""
    pids = list(executors(spark).values())
    os.kill(rng.choice(pids), signal.SIGKILL)
    for part in (folder / "memory").glob("*/p*"):
        if not part.name.endswith(f"{flow.work.driver:04}"):
            shutil.rmtree(part, ignore_errors=True)


def harm_one(folder: Path, rng: random.Random) -> None:
    """A file of shared memory is lost or changed, whoever has it mapped."""
    files = there(folder / "memory")
    if files:
        harm(rng.choice(files), rng.choice(HARMS), rng, None)


def with_dying_executors(folder: Path, seed: int, batches: int) -> None:
    """Executors die between batches and inside them, and files of their memory are harmed."""
    rng = random.Random(seed)
    workload, name = rng.choice([("tpch", "q03"), ("tpch", "q16"), ("tpch", "q22")])
    spark = start_session("local-cluster[2,1,1024]")
    workers = rng.choice((2, 3, 5))
    level = rng.choice(("shared", "delivered"))
    beside = Beside(
        workload, name, workers, folder / "checkpoint", spark, level, settings=settings(folder)
    )
    rebuilt = 0
    for number, changes in enumerate(beside.stream(batches)):
        timer = None
        if number % 2:
            harm_one(folder, rng)
        if number == 2:
            kill_one(spark, beside.flow, rng, folder)
        elif number >= 4 and number % 2 == 0:
            pids = list(executors(spark).values())
            victim = rng.choice(pids)
            # A batch takes some tens of milliseconds, so most die while they are at work.
            timer = threading.Timer(0.08 * rng.random(), os.kill, (victim, signal.SIGKILL))
            timer.start()
        if number % 3:
            beside.apply(changes)
        else:  # in pieces, which one job does if the program allows
            beside.count_changes(changes)
            beside.flow.load(beside.tables(changes), rows=7)
        beside.check(f"batch {number}")
        rebuilt += beside.flow.stats[-1].rebuilt
        if timer is not None:
            timer.join()
    runner: Any = beside.flow._coordinator.runner
    assert runner.repins > 1, "no executor was seen to go"
    assert rebuilt, "nothing was rebuilt"
    beside.flow.close()
    spark.stop()
    print("all the same", workload, name, workers, "rebuilt", rebuilt, "repins", runner.repins)


def driven(folder: Path, seed: int, batches: int) -> None:
    """A driver that tells how far it is, and may be killed; at its end it compares."""
    rng = random.Random(seed)
    beside = opened(folder, rng, [("tpch", "q03"), ("tpch", "q16"), ("finance", "vwap")], "shared")
    changes = list(beside.stream(batches))
    while beside.flow.version < batches:
        beside.flow.apply(beside.tables(changes[beside.flow.version]))
        print("version", beside.flow.version, flush=True)
    ends(beside, changes)


def loading(folder: Path, seed: int, batches: int) -> None:
    """A driver that loads all the batches as one, in about as many pieces."""
    rng = random.Random(seed)
    queries = [("tpch", "q04"), ("tpch", "q13"), ("finance", "vwap")]
    beside = opened(folder, rng, queries, "delivered")
    changes = list(beside.stream(batches))
    every: dict[str, list[Any]] = {}
    for each in changes:
        for name, rows in each.items():
            every.setdefault(name, []).extend(rows)
    total = sum(map(len, every.values()))
    size = -(-total // batches)
    now = beside.flow._commit_log.commit
    if now.version < -(-total // size) or now.loading is not None:
        beside.flow.load(beside.tables(every), rows=size)
    ends(beside, changes)


def opened(folder: Path, rng: random.Random, queries: list[tuple[str, str]], level: str) -> Beside:
    """A flow that begins, or goes on where the last driver died."""
    workload, name = rng.choice(queries)
    workers = rng.choice((1, 2, 3))
    place, kept = folder / "checkpoint", folder / "kept"
    beside = Beside(
        workload,
        name,
        workers,
        kept if Flow.exists(place) else place,
        start_session("local[2]"),
        level,
        settings=settings(folder),
    )
    if Flow.exists(place) and beside.flow.work.place != str(place):
        beside.flow.close()
        shutil.rmtree(kept)
        beside.folder = place
        beside.restart()
    print("version", beside.flow.version, flush=True)
    return beside


def ends(beside: Beside, changes: list[Any]) -> None:
    """All that was given is in the views, once."""
    for each in changes:
        beside.count_changes(each)
    beside.check("at the end")
    beside.flow.close()
    beside.runner.stop()
    print("all the same", beside.name, flush=True)


if __name__ == "__main__":
    what, where, number, length = sys.argv[1:]
    work = {"executors": with_dying_executors, "driver": driven, "loading": loading}[what]
    work(Path(where), int(number), int(length))
