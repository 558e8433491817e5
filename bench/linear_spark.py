"""Matrix programs on Spark followed by deltas, beside computing the same views anew on Spark.

Two executors of one core on this machine. Both sides keep the same views in the same blocks, on the
same BLAS, each update a version with its log. A ratio is the time to compute the views anew over
the median time of an update, in one run; `products` is what of the former the slowest worker spent
in its blocks, and the ratio to that leaves out jobs, exchanges and logs.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.linear import least, middle
from bench.report import show, times, write
from freshview import linear
from freshview.durable.settings import FlowSettings
from freshview.spark.matrix.program import SparkProgram
from freshview.spark.start_session import start_session

BAR = 5.0
"""How many times as fast as computing anew an update is wanted to be, at the largest size."""

MASTER = "local-cluster[2,1,2048]"


def a16(n: int) -> tuple[Any, dict[str, Any], str]:
    """The sixteenth power of a matrix."""
    a = linear.matrix("A", "n")
    values = np.random.default_rng(n).standard_normal((n, n)) / (2 * n**0.5)
    return {"P": linear.powers(a, 16, "exponential")}, {"A": values}, "A"


def descent(n: int) -> tuple[Any, dict[str, Any], str]:
    """Sixteen rounds of gradient descent, the parameters n x n."""
    x, y = linear.matrix("X", "n"), linear.matrix("Y", "n", dynamic=False)
    random = np.random.default_rng(n)
    values = {"X": random.standard_normal((n, n)), "Y": random.standard_normal((n, n))}
    theta = linear.gradient_descent(x, y, linear.zeros("n", "n"), 16, 0.1 / n, "exponential")
    return {"theta": theta}, values, "X"


PROGRAMS: dict[str, Callable[[int], tuple[Any, dict[str, Any], str]]] = {
    "A^16": a16,
    "descent": descent,
}


def measure(name: str, n: int, spark: Any, copies: bool) -> dict[str, Any]:
    """One program at one size."""
    what, values, changed = PROGRAMS[name](n)
    random = np.random.default_rng(1)
    folder = Path(tempfile.mkdtemp(prefix="freshview-bench-"))
    try:
        with SparkProgram(
            what,
            values,
            spark=spark,
            workers=2,
            checkpoint=folder / "checkpoint",
            strategy="incremental",
            copies=copies,
            check_every=10**9,
            settings=FlowSettings(snapshot_every=10**9),
        ) as p:
            # Snapshots are measured by themselves.
            snapshot = least(1, p.checkpoint)

            def change() -> None:
                p.update(changed, rows=[1], v=0.01 * random.standard_normal((1, n)))

            change()
            update = middle(5, change)
            stats = p.stats[-1]
            anew = least(1, p.reevaluate)
            again = p.stats[-1]
            products = sum(s.native for s in again.stages)
            return {
                "program": name,
                "n": n,
                "copies": copies,
                "anew": anew,
                "products": products,
                "update": update,
                "blocks": sum(s.native for s in stats.stages),
                "jobs": stats.jobs,
                "MB": stats.shuffled / 1e6,
                "ratio": anew / update,
                "products ratio": products / update,
                "snapshot": snapshot,
                "state": stats.state / 2**20,
            }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def rows(results: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    """Lines of the table."""
    return [
        (
            f"{f['program']}{', copies' if f['copies'] else ''}",
            str(f["n"]),
            f"{f['anew']:.2f} s",
            f"{f['products']:.2f} s",
            f"{f['update']:.2f} s",
            f"{f['blocks']:.2f} s",
            f"{f['jobs']}",
            times(f["ratio"]),
            times(f["products ratio"]),
            f"{f['snapshot']:.1f} s",
            f"{f['state']:.0f} MiB",
        )
        for f in results
    ]


def main() -> None:
    """Measure, show, and keep the numbers."""
    parser = argparse.ArgumentParser(prog="python -m bench.linear_spark", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--sizes", type=lambda t: [int(x) for x in t.split(",")], default=None)
    parser.add_argument("--programs", type=lambda t: t.split(","), default=list(PROGRAMS))
    parser.add_argument("--copies", action="store_true", help="copies by columns as well")
    args = parser.parse_args()
    sizes = args.sizes or ([600, 1000] if args.quick else [2000, 4000])
    spark = start_session(MASTER, settings={"spark.driver.memory": "4g"})
    work = [partial(measure, p, n, spark, False) for p in args.programs for n in sizes]
    if args.copies:
        work += [partial(measure, p, sizes[-1], spark, True) for p in args.programs]
    results = []
    for each in work:
        results.append(each())
        print(results[-1], flush=True)
        write("linear_spark", {"programs": results})
    spark.stop()
    columns = ("program", "n", "anew", "products", "update", "blocks", "jobs", "ratio")
    show(
        f"Matrix programs on {MASTER}; an update of a row; wanted {BAR:g}x at the largest n",
        (*columns, "to products", "snapshot", "state"),
        rows(results),
    )


if __name__ == "__main__":
    main()
