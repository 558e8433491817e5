"""What a user gets: the public API with defaults, and without kept rows, beside the kernel alone.

- `rates`: join and sum of `bench.join_sum`, from Arrow batches in memory, deletes included.
- `rows`: one row a call, by `db.writer` and by `db.insert`.
- `queries`: the workloads at batches of 10,000, over the time of the kernel alone plus 20 µs a
  batch.
- `bulk`: five million rows at once into two views, with an empty kernel cache, beside
  `engine="native"` with a warm one; seconds, and peak memory over the bytes of the Arrow table.
- `start`: a process from its start to the first answer, with a warm cache; its bytecode is written
  as that of an installed package is, whatever the environment of the bench says.

All ways take turns in one process; median and best. The first three count CPU seconds of this
process, which has one thread: on a quiet machine they are those of the clock.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import freshview
from bench import data
from bench.join_sum import SQL, started
from bench.native import stream_for, tables
from bench.queries import program_of, start, static_of, streams_of
from bench.report import rows_of, same, show, times, write
from freshview.runtime.database.database import Database
from workloads import WORKLOADS

Runs = Sequence[Sequence[data.Window]]
WAYS: dict[str, dict[str, Any]] = {"defaults": {}, "keep_rows=False": {"keep_rows": False}}
BARS = {"defaults": 8e6, "keep_rows=False": 15e6}
"""Events a second of join and sum in batches of 1,000 or more."""
FACTORS = {"defaults": 2.5, "keep_rows=False": 1.3}
"""Times the kernel alone plus `FIXED` a batch, for the workloads."""
FIXED = 20e-6


def in_turns(repeat: int, ways: dict[str, Callable[[], float]]) -> dict[str, list[float]]:
    """Seconds of every way, in turns."""
    out: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeat):
        for name, way in ways.items():
            gc.collect()
            out[name].append(way())
    return out


def through(db: Database, runs: Runs) -> float:
    """Seconds for runs of windows, each one change of a database."""
    batches = [{w.relation: (w.rows, w.counts) for w in run} for run in runs]
    began = time.process_time()
    for batch in batches:
        db.apply(batch)
    return time.process_time() - began


def joined(settings: dict[str, Any]) -> Database:
    """A database with the view of join and sum, on kernels."""
    db = freshview.connect(**settings)
    db.execute(SQL)
    return db


def rates(stream: data.Stream, size: int, repeat: int) -> dict[str, list[float]]:
    """Events a second of join and sum at a batch size; the views must be equal."""
    runs = list(stream.windows(size))
    views: dict[str, Any] = {}

    def alone() -> float:
        running = started("batch")
        feed = running.feeder()
        began = time.process_time()
        for run in runs:
            feed(run)
        seconds = time.process_time() - began
        views["kernel alone"] = rows_of(running.read())
        return seconds

    def by_api(name: str) -> Callable[[], float]:
        def way() -> float:
            db = joined(WAYS[name])
            seconds = through(db, runs)
            views[name] = rows_of(db.views[0].to_arrow())
            return seconds

        return way

    seconds = in_turns(repeat, {"kernel alone": alone, **{name: by_api(name) for name in WAYS}})
    assert all(v == views["kernel alone"] for v in views.values())
    return {name: [len(stream) / s for s in each] for name, each in seconds.items()}


def single_rows(n: int, repeat: int) -> dict[str, list[float]]:
    """Seconds a row, one row a call, with defaults and without kept rows."""
    rows = [(i % 10_000, i) for i in range(n)]

    def written(settings: dict[str, Any]) -> float:
        db = joined(settings)
        insert = db.writer("L").insert
        began = time.process_time()
        for row in rows:
            insert(*row)
        return (time.process_time() - began) / n

    def inserted(settings: dict[str, Any]) -> float:
        db = joined(settings)
        began = time.process_time()
        for row in rows:
            db.insert("L", row)
        return (time.process_time() - began) / n

    ways: dict[str, Callable[[], float]] = {}
    for name, settings in WAYS.items():
        ways[f"writer, {name}"] = lambda s=settings: written(s)
        ways[f"insert, {name}"] = lambda s=settings: inserted(s)
    return in_turns(repeat, ways)


def query_rates(workload: str, name: str, args: argparse.Namespace) -> dict[str, Any]:
    """A query at batches of 10,000: seconds of each way, and its ratio to the kernel's."""
    program, catalog = program_of(workload, name, "batch")
    stream = stream_for(workload, streams_of(program), args.scale, args.deletes)
    static = {n: tables(args.scale)[n] for n in static_of(workload)}
    runs = list(stream.windows(10_000))
    views: dict[str, Any] = {}

    def alone() -> float:
        running = start(program, catalog, static)
        prepared = running.ready(runs)
        instance = running.engine.instance
        began = time.process_time()
        for run in prepared:
            for relation, rows, counts in run:
                instance.apply_arrow(relation, rows, counts)
        seconds = time.process_time() - began
        views["kernel alone"] = rows_of(running.read())
        running.close()
        return seconds

    def by_api(way: str) -> Callable[[], float]:
        def measure() -> float:
            db = freshview.connect(**WAYS[way])
            db.execute(WORKLOADS[workload].schema.read_text())
            path = WORKLOADS[workload].queries()[name]
            db.execute(path.read_text(), str(path))
            for table, rows in static.items():
                db.load(table, rows)
            seconds = through(db, runs)
            views[way] = rows_of(db.views[-1].to_arrow())
            return seconds

        return measure

    seconds = in_turns(args.repeat, {"kernel alone": alone, **{w: by_api(w) for w in WAYS}})
    agree = all(same(v, views["kernel alone"]) for v in views.values())
    limit = {w: median(seconds["kernel alone"]) + FIXED * len(runs) for w in WAYS}
    ratios = {w: median(seconds[w]) / limit[w] for w in WAYS}
    return {
        "query": name,
        "events": len(stream),
        "seconds": seconds,
        "ratios": ratios,
        "agree": agree,
    }


BULK = """
import resource, sys, time
import numpy as np, pyarrow as pa
import freshview
engine, n = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(1)
table = pa.table({"a": rng.integers(0, 100, n), "b": rng.integers(0, 1000, n),
                  "g": rng.integers(0, 100_000, n), "v": rng.integers(0, 1000, n)})
db = freshview.connect(engine=engine)
db.execute("CREATE STREAM r (a INT NOT NULL, b INT NOT NULL, g INT NOT NULL, v INT NOT NULL);"
           "CREATE VIEW pairs AS SELECT a, b, SUM(v) AS s, COUNT(*) AS n FROM r GROUP BY a, b;"
           "CREATE VIEW top AS SELECT g, SUM(v) AS s FROM r GROUP BY g ORDER BY s DESC LIMIT 10;")
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before, began = peak(), time.perf_counter()
db.insert("r", table)
first = time.perf_counter()
db.view("pairs").to_arrow(), db.view("top").to_arrow()
read = time.perf_counter()
print(first - began, read - first, (peak() - before) / table.nbytes)
"""

START = """
import freshview
db = freshview.connect()
db.execute("CREATE STREAM r (k INT NOT NULL, v INT NOT NULL);"
           "CREATE VIEW s AS SELECT k, SUM(v) AS total FROM r GROUP BY k")
db.insert("r", [(1, 2), (1, 3)])
print(db.view("s").rows())
"""


def in_process(script: str, *args: str, **settings: str) -> tuple[float, str]:
    """Seconds of a Python process with more settings in its environment, and what it prints."""
    env = {**os.environ, **settings}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script, *args], env=env, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - began, done.stdout


def bulk(n: int) -> dict[str, list[float]]:
    """Seconds of the insert and of the first read, and memory over the table: cold, then warm."""
    with tempfile.TemporaryDirectory() as cache:
        cold = in_process(BULK, "auto", str(n), XDG_CACHE_HOME=cache)[1]
        warm = in_process(BULK, "native", str(n), XDG_CACHE_HOME=cache)[1]
    return {
        "defaults, cold": [*map(float, cold.split())],
        "native, warm": [*map(float, warm.split())],
    }


def first_answer(repeat: int) -> list[float]:
    """Seconds of a warm process from its start to its first answer."""
    native = START.replace("connect()", "connect(engine='native')")
    with tempfile.TemporaryDirectory() as bytecode:
        settings = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode}
        for script in (native, START):  # now the cache has the kernel
            in_process(script, **settings)
        return [in_process(START, **settings)[0] for _ in range(repeat)]


def show_rates(stream: data.Stream, args: argparse.Namespace) -> dict[str, Any]:
    """Measure and print join and sum."""
    out: dict[str, Any] = {}
    for size in (1000, 10_000, 100_000):
        for name, each in rates(stream, size, args.repeat).items():
            out[f"{name}, batches of {size:,}"] = each
    show(
        f"Join and sum, {len(stream):,} events, per CPU second",
        ("", "median", "best", "bar"),
        [[name, median(x), max(x), BARS.get(name.split(",")[0])] for name, x in out.items()],
    )
    return out


def show_queries(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure and print the workloads."""
    out = [
        query_rates(workload, name, args)
        for workload in args.workloads
        for name in WORKLOADS[workload].queries()
        if not args.queries or name in args.queries
    ]
    show(
        f"Batches of 10,000, over the kernel alone plus {FIXED * 1e6:.0f} µs a batch (medians)",
        ("", "events", *(f"{w} (bar {FACTORS[w]}x)" for w in WAYS), "same view"),
        [
            [x["query"], x["events"], *(times(r) for r in x["ratios"].values()), str(x["agree"])]
            for x in out
        ],
    )
    return out


PARTS = ("rates", "rows", "queries", "bulk", "start")


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.front_door", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all of them by default")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each way")
    parser.add_argument("--scale", type=float, default=0.1, help="of the workloads")
    parser.add_argument("--deletes", type=float, default=0.1, help="share of rows that go again")
    parser.add_argument("--workloads", nargs="*", default=["tpch_papers", "finance"])
    parser.add_argument("--queries", nargs="*", default=[], help="some queries only")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    args = parser.parse_args()
    parts, tenth = args.parts or PARTS, 10 if args.quick else 1
    results: dict[str, Any] = {}
    for settings in WAYS.values():
        joined({**settings, "engine": "native"})  # now the cache has the kernels
    if "rates" in parts:
        stream = data.join_sum(100_000 // tenth, 1_000_000 // tenth, 1000)
        results["rates"] = show_rates(stream, args)
    if "rows" in parts:
        results["rows"] = single_rows(200_000 // tenth, args.repeat)
        cells = [
            [n, f"{median(x) * 1e6:.2f}", f"{min(x) * 1e6:.2f}"] for n, x in results["rows"].items()
        ]
        show("One row a call, microseconds", ("", "median", "best"), cells)
    if "queries" in parts:
        results["queries"] = show_queries(args)
    if "bulk" in parts:
        results["bulk"] = bulk(5_000_000 // tenth)
        columns = ("", "insert, s", "first read, s", "memory / table")
        show("Five million rows at once", columns, [[n, *x] for n, x in results["bulk"].items()])
    if "start" in parts:
        results["start"] = first_answer(args.repeat)
        milliseconds = [f"{f(results['start']) * 1000:.0f}" for f in (median, min)]
        show("From start to first answer, ms", ("", "median", "best"), [["warm", *milliseconds]])
    write("front_door", json.loads(json.dumps(results, default=str)))


if __name__ == "__main__":
    main()
