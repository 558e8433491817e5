"""Signal queries on Spark that are killed: run by `test_spark_faults.py`.

python -m tests.fault.signals_on_spark executors FOLDER SEED BATCHES
python -m tests.fault.signals_on_spark driver FOLDER SEED BATCHES
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

from freshview import signal as sg
from freshview.durable.settings import FlowSettings
from freshview.spark.signal.query import SparkSignalQuery
from freshview.spark.start_session import start_session
from tests.fault.on_spark import executors
from tests.law import signals as law


def positive(e: Any) -> Any:
    return e.value > -1.5


def plan() -> sg.UniformSignal:
    """Sampling, a recursive filter, windows and their sum: state of every kind."""
    samples = law.readings().where(positive).to_signal().sample(3, 1, sg.linear(40))
    return samples.iir([0.2, 0.3], [1.0, -0.4]).windows(8, 4).fft().inverse_fft().overlap_add()


def history(seed: int, batches: int) -> list[law.Batch]:
    """So many batches of six sensors, with corrections."""
    rng = np.random.default_rng(seed)
    parts = law.history(rng, law.signal_events(rng, 6, 60))
    while len(parts) > batches:
        parts[-2:] = [parts[-2] + parts[-1]]
    return parts + [[]] * (batches - len(parts))


def options(folder: Path) -> dict[str, Any]:
    settings = FlowSettings(snapshot_every=3, memory=str(folder / "memory"))
    return {"checkpoint": folder / "checkpoint", "settings": settings}


def check(query: SparkSignalQuery, batches: list[law.Batch]) -> None:
    """The result is that of one process over the batches that were taken in."""
    live = law.after(batches[: query.version])
    law.assert_identical(query.result(), plan().over(law.all_of(live)))


def with_dying_executors(folder: Path, seed: int, count: int) -> None:
    """Executors die between batches and inside them, some with the memory of their machine."""
    rng = random.Random(seed)
    spark = start_session("local-cluster[2,1,1024]")
    batches, rebuilt = history(seed, count), 0
    query = SparkSignalQuery(plan(), spark=spark, workers=4, **options(folder))
    for number, batch in enumerate(batches):
        timer = None
        if number % 2:
            victim = rng.choice(list(executors(spark).values()))
            timer = threading.Timer(0.4 * rng.random(), os.kill, (victim, signal.SIGKILL))
            timer.start()
            if rng.random() < 0.5:
                shutil.rmtree(folder / "memory", ignore_errors=True)
        query.push(law.table(batch))
        check(query, batches)
        rebuilt += query.stats[-1].rebuilt
        if timer is not None:
            timer.join()
    runner: Any = query._flow._coordinator.runner
    assert query.version == count, "a batch was counted twice, or not at all"
    assert runner.repins > 1, "no executor was seen to go"
    print("all the same", "rebuilt", rebuilt)
    query.close()
    spark.stop()


def driven(folder: Path, seed: int, count: int) -> None:
    """A driver that tells how far it is, and may be killed; it goes on where the last one died."""
    spark = start_session("local[2]")
    batches, kept = history(seed, count), options(folder)
    exists = SparkSignalQuery.exists(folder / "checkpoint")
    begin: Any = SparkSignalQuery.restart if exists else SparkSignalQuery
    query = begin(plan(), spark=spark, workers=3, **kept)
    check(query, batches)
    while query.version < count:
        query.push(law.table(batches[query.version]))
        print("version", query.version, flush=True)
    check(query, batches)
    query.close()
    spark.stop()
    print("all the same", flush=True)


if __name__ == "__main__":
    run = with_dying_executors if sys.argv[1] == "executors" else driven
    run(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
