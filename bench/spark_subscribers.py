"""What a sink for changes costs: one row into a view of a pipeline, with and without one.

    python -m bench.spark_subscribers [--groups 300000] [--in-process]

In the driver and workers of Spark, or of this process alone: CPU milliseconds of the process that
pushes, milliseconds by the clock, and what the last version has sent to the driver.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.pipeline import Pipeline
from freshview.spark.session import session

SCRIPTS = {
    "groups on the driver": """
        CREATE STREAM sales (item INT NOT NULL, amount INT NOT NULL);
        CREATE VIEW totals AS SELECT item, SUM(amount) AS amount, COUNT(*) AS n
        FROM sales GROUP BY item;""",
    "groups by key on the workers": """
        CREATE STREAM items (item INT NOT NULL, shop INT NOT NULL, PRIMARY KEY (item));
        CREATE STREAM sales (item INT NOT NULL, amount INT NOT NULL);
        CREATE VIEW totals AS SELECT items.item, SUM(amount) AS amount, COUNT(*) AS n
        FROM items, sales WHERE items.item = sales.item GROUP BY items.item;""",
}
PUSHES = 30


def loaded(script: str, groups: int, spark: Any, home: Path, changes: bool) -> Pipeline:
    """A pipeline with one row for each group."""
    settings = FlowSettings(memory=str(home / "memory"))
    options = PipelineOptions(workers=2, checkpoint=home / "checkpoint", settings=settings)
    flow = Pipeline(options, spark, home)
    flow.declare(script)
    if changes:
        flow.on_version("totals", lambda version, table: None, changes=True)
    item = pa.array(np.arange(groups))
    one = pa.array(np.ones(groups, np.int64))
    rows = {"sales": pa.table({"item": item, "amount": one})}
    if "items" in script:
        rows["items"] = pa.table({"item": item, "shop": one})
    flow.load(rows)
    return flow


def measured(flow: Pipeline, groups: int) -> tuple[float, float]:
    """CPU and wall milliseconds of the median push of one row."""
    cpu, wall = [], []
    for i in range(PUSHES):
        began, clock = time.process_time(), time.perf_counter()
        flow.push({"sales": [(i * 7919 % groups, 1)]})
        cpu.append(time.process_time() - began)
        wall.append(time.perf_counter() - clock)
    return 1e3 * statistics.median(cpu[5:]), 1e3 * statistics.median(wall[5:])


def main() -> None:
    """Measure both views."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--groups", type=int, default=300_000)
    parser.add_argument("--in-process", action="store_true")
    args = parser.parse_args()
    spark: Any = InlineRunner() if args.in_process else session("local[2]")
    for name, script in SCRIPTS.items():
        times = {}
        for changes in (False, True):
            with tempfile.TemporaryDirectory() as home:
                flow = loaded(script, args.groups, spark, Path(home), changes)
                times[changes] = measured(flow, args.groups)
                sent = list((Path(home) / "checkpoint" / "state").glob("changes/*"))
                size = sum(p.stat().st_size for p in sent[-1:])
                rows = 0
                if changes:
                    rows = flow._running_flow().changes("totals", flow.version - 1).num_rows
                flow.stop()
        (cpu, wall), (cpu_with, wall_with) = times[False], times[True]
        print(
            f"{name}, {args.groups:,} groups: alone {cpu:.1f} ms CPU, {wall:.1f} ms; with a sink "
            f"{cpu_with:.1f} ms CPU, {wall_with:.1f} ms: {cpu_with / cpu:.2f}x and "
            f"{wall_with / wall:.2f}x; {rows} rows told in {size} bytes",
            flush=True,
        )


if __name__ == "__main__":
    main()
