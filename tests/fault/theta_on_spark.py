"""Theta joins on Spark that are killed while state moves: run by `test_spark_faults.py`.

python -m tests.fault.theta_on_spark executors FOLDER SEED BATCHES
python -m tests.fault.theta_on_spark driver FOLDER SEED BATCHES
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

from freshview.spark.start_session import start_session
from tests.fault import theta_seeded
from tests.fault.on_spark import executors
from tests.fault.theta_seeded import Lives


def lives(folder: Path, seed: int, batches: int, spark: Any) -> Lives:
    """The join and the stream of a seed, beside a session."""
    theta_seeded.VERSIONS = batches
    return Lives(seed, folder, spark)


def with_dying_executors(folder: Path, seed: int, batches: int) -> None:
    """Executors die between batches and inside them, some with the memory of their machine."""
    rng = random.Random(seed)
    spark = start_session("local-cluster[2,1,1024]")
    one = lives(folder, seed, batches, spark)
    join = one.open()
    rebuilt = migrating = 0
    for number in range(batches):
        timer = None
        if number % 2:
            victim = rng.choice(list(executors(spark).values()))
            timer = threading.Timer(0.4 * rng.random(), os.kill, (victim, signal.SIGKILL))
            timer.start()
            if rng.random() < 0.5:
                shutil.rmtree(one.memory, ignore_errors=True)
        if not join.is_migrating:
            one.migrate(join)
        migrating += join.is_migrating
        one.hand_on(number + 1, join.apply(one.world.batches[number]))
        one.check(number + 1)
        rebuilt += join.stats[-1].rebuilt
        if timer is not None:
            timer.join()
    runner: Any = join._flow._coordinator.runner
    assert join.version == batches, "a batch was counted twice, or not at all"
    assert runner.repins > 1, "no executor was seen to go"
    assert rebuilt, "nothing was rebuilt"
    print("all the same", one.world.words, "rebuilt", rebuilt, "migrating", migrating)
    join.close()
    spark.stop()


def driven(folder: Path, seed: int, batches: int) -> None:
    """A driver that tells how far it is, and may be killed; it goes on where the last one died."""
    spark = start_session("local[2]")
    one = lives(folder, seed, batches, spark)
    join = one.open()
    if join.version:
        one.hand_on(join.version, join.output())
    one.check(join.version)
    while join.version < batches:
        if not join.is_migrating:
            one.migrate(join)
        one.hand_on(join.version + 1, join.apply(one.world.batches[join.version]))
        print("version", join.version, flush=True)
    one.check(batches)
    join.close()
    spark.stop()
    print("all the same", one.world.words, flush=True)


if __name__ == "__main__":
    what, where, number, length = sys.argv[1:]
    work = {"executors": with_dying_executors, "driver": driven}[what]
    work(Path(where), int(number), int(length))
