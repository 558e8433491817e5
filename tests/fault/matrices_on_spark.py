"""Matrix programs on Spark whose executors are killed: run by `test_spark_faults.py`.

python -m tests.fault.matrices_on_spark PROGRAM FOLDER SEED UPDATES
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

from freshview import linear
from freshview.durable.settings import FlowSettings
from freshview.linear import Program
from freshview.spark.matrix.program import SparkProgram
from freshview.spark.start_session import start_session
from tests.fault.on_spark import executors

N = 120


def powers() -> tuple[dict[str, linear.Matrix], dict[str, Any]]:
    """A^16."""
    values = np.random.default_rng(1).standard_normal((N, N)) / (2 * N**0.5)
    return {"result": linear.powers(linear.matrix("A", "n"), 16, "exponential")}, {"A": values}


def descent() -> tuple[dict[str, linear.Matrix], dict[str, Any]]:
    """Sixteen rounds of gradient descent."""
    x, y = linear.matrix("X", "n"), linear.matrix("Y", "n", dynamic=False)
    start = linear.zeros("n", "n")
    result = linear.gradient_descent(x, y, start, 16, 0.1 / N, "exponential")
    values = np.random.default_rng(2).standard_normal((2, N, N))
    return {"result": result}, {"X": values[0], "Y": values[1]}


PROGRAMS = {"powers": powers, "descent": descent}


def run(name: str, folder: Path, seed: int, updates: int) -> None:
    """Executors die between updates and inside them; some take their memory along."""
    rng = random.Random(seed)
    spark = start_session("local-cluster[2,1,2048]")
    what, values = PROGRAMS[name]()
    memory = folder / "memory"
    p = SparkProgram(
        what,
        values,
        spark=spark,
        workers=rng.choice((2, 3)),
        checkpoint=folder / "checkpoint",
        settings=FlowSettings(snapshot_every=3, memory=str(memory)),
        driver_cells=500,
        copies=rng.random() < 0.5,
        strategy="incremental",
    )
    beside = Program(what, values, strategy="incremental")
    changed = next(iter(values))
    drawn = np.random.default_rng(seed)
    rebuilt = 0
    for number in range(updates):
        timer = None
        if number == 1:
            kill(spark)
            for part in memory.glob("*/p*"):
                if not part.name.endswith(f"{p.workers:04}"):
                    shutil.rmtree(part, ignore_errors=True)
        elif number >= 3 and number % 2:
            victim = rng.choice(list(executors(spark).values()))
            timer = threading.Timer(0.6 * rng.random(), os.kill, (victim, signal.SIGKILL))
            timer.start()
        change = {"rows": [int(drawn.integers(N))], "v": 0.1 * drawn.standard_normal((1, N))}
        for each in (p, beside):
            each.update(changed, **change)  # type: ignore[arg-type]
        rebuilt += p.stats[-1].rebuilt
        wanted = beside["result"]
        error = np.abs(p["result"] - wanted).max() / np.abs(wanted).max()
        assert error < 1e-9, (number, error)
        if timer is not None:
            timer.join()
    runner: Any = p._flow._coordinator.runner
    assert p.version == updates, "an update was counted twice, or not at all"
    assert runner.repins > 1, "no executor was seen to go"
    assert rebuilt, "nothing was rebuilt"
    print("all the same", name, p.workers, "rebuilt", rebuilt, "repins", runner.repins)
    p.close()
    spark.stop()


def kill(spark: Any) -> None:
    """An executor dies."""
    os.kill(next(iter(executors(spark).values())), signal.SIGKILL)


if __name__ == "__main__":
    what, where, number, length = sys.argv[1:]
    run(what, Path(where), int(number), int(length))
