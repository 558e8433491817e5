"""What surrounds the triggers: calls from Python, Arrow in and out, compiling, starting, memory."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bench import data
from bench.queries import Running, catalog_of, drive, program_from, program_of, start
from bench.report import best, show, write
from freshview.codegen.kernel.source import emit
from freshview.codegen.library.compiler import find_compiler
from freshview.codegen.library.load import Kernel
from freshview.codegen.library.toolchain import build
from freshview.errors import FreshviewError
from workloads import WORKLOADS

TWO = "CREATE STREAM R (a INT NOT NULL, b INT NOT NULL); SELECT SUM(a * b) AS s FROM R;"
FIVE = """
CREATE STREAM R (a INT NOT NULL, b INT NOT NULL, c DOUBLE NOT NULL, d DATE NOT NULL,
                 e STRING NOT NULL);
SELECT SUM(a * b) AS s FROM R;
"""
KEYED = """
CREATE STREAM R (k INT NOT NULL, v INT NOT NULL);
SELECT k, SUM(v) AS s, COUNT(*) AS n FROM R GROUP BY k;
"""


def small_rows(columns: int, n: int) -> pa.RecordBatch:
    """Rows for TWO or FIVE."""
    numbers = np.arange(n)
    rows = {
        "a": numbers % 97,
        "b": numbers % 89,
        "c": numbers * 0.5,
        "d": pa.array(numbers % 9999, pa.int32()).cast(pa.date32()),
        "e": [f"text {i % 1000}" for i in range(n)],
    }
    return pa.RecordBatch.from_pydict(dict(list(rows.items())[:columns]))


def lines_of(scale: float) -> pa.RecordBatch:
    """Rows of TPC-H's widest table."""
    return data.one_batch(data.tpch(scale, [_relation("Lineitem")])["Lineitem"])


def _relation(name: str) -> Any:
    [relation] = [r for r in catalog_of("tpch_papers").relations.values() if r.name == name]
    return relation


def calls(n: int) -> list[tuple[str, Running, str, pa.RecordBatch]]:
    """What is called with rows: kernels for single rows with little to do, and Q3."""
    return [
        ("2 integers", start(*program_from(TWO, "two", "tuple"), {}), "R", small_rows(2, n)),
        ("5 of all kinds", start(*program_from(FIVE, "five", "tuple"), {}), "R", small_rows(5, n)),
        (
            "16 of Q3's Lineitem",
            start(*program_of("tpch_papers", "q03", "tuple"), {}),
            "Lineitem",
            lines_of(0.01).slice(0, n),
        ),
    ]


def row_calls(n: int) -> list[dict[str, Any]]:
    """The cost of a row given by one call from Python, and of the same row inside a batch."""
    rates = []
    for name, running, relation, rows in calls(n):
        instance, number = running.engine.instance, running.engine.kernel.relation(relation)
        values = list(zip(*(c.to_pylist() for c in rows.columns), strict=True))
        insert = instance.insert_row(number)

        def row_by_row(insert: Callable[..., None] = insert, values: list[Any] = values) -> float:
            began = time.perf_counter()
            for row in values:
                insert(*row)
            return time.perf_counter() - began

        def as_batch(instance: Any = instance, number: int = number, rows: Any = rows) -> float:
            began = time.perf_counter()
            instance.apply_arrow(number, rows)
            return time.perf_counter() - began

        call, trigger = (1e9 * best(5, f) / len(values) for f in (row_by_row, as_batch))
        batch = 1e6 * fixed_cost(instance, number, rows)
        rates.append({"row": name, "call": call, "trigger": trigger, "batch": batch})
    return rates


def fixed_cost(instance: Any, number: int, rows: pa.RecordBatch) -> float:
    """Seconds for a batch of one row, with its count."""
    one, count = rows.slice(0, 1), np.ones(1, np.int64)

    def many() -> float:
        began = time.perf_counter()
        for _ in range(1000):
            instance.apply_arrow(number, one, count)
        return (time.perf_counter() - began) / 1000

    return best(5, many)


def read_out(n: int) -> dict[str, Any]:
    """Reading a large view: nanoseconds per row, Python objects made."""
    running = start(*program_from(KEYED, "keyed", "batch"), {})
    keys = np.random.default_rng(1).permutation(n)
    rows = pa.RecordBatch.from_pydict({"k": keys, "v": keys % 1000})
    running.engine.instance.apply_arrow(running.engine.kernel.relation("R"), rows)

    def read() -> float:
        began = time.perf_counter()
        running.read()
        return time.perf_counter() - began

    seconds = best(5, read)
    before = sys.getallocatedblocks()
    view = running.read()
    blocks = sys.getallocatedblocks() - before
    assert view.num_rows == n
    return {"rows": n, "ns per row": 1e9 * seconds / n, "Python objects": blocks}


def memory(scale: float) -> dict[str, Any]:
    """The bytes of Q3's maps over the order lines that are live at the end."""
    program, catalog = program_of("tpch_papers", "q03", "batch")
    tables = data.tpch(scale, [_relation(n) for n in ("Lineitem", "Orders", "Customer")])
    stream = data.interleave(tables)
    running = start(program, catalog, {})
    drive(running, list(stream.windows(1000)), 60)
    stats = running.engine.instance.stats()
    live = int(stream.counts["Lineitem"].sum())
    figures = {"live lines": live, "bytes": stats.bytes, "bytes per line": stats.bytes / live}
    return figures | {"sizes": dict(stats.sizes)}


def compile_one(workload: str, name: str, cache: Path) -> dict[str, Any]:
    """Seconds from SQL to program, to C++, to a library, and to a kernel the second time."""
    compiler = find_compiler()
    t0 = time.perf_counter()
    try:
        program, catalog = program_of(workload, name, "batch")
        t1 = time.perf_counter()
        source = emit(program, catalog.functions)
        t2 = time.perf_counter()
        build(source, compiler=compiler, cache=cache)
        t3 = time.perf_counter()
        Kernel(build(source, compiler=compiler, cache=cache)).open().close()
        t4 = time.perf_counter()
    except FreshviewError as e:
        return {"problem": str(e)[:200]}
    times = {"plan": t1 - t0, "emit": t2 - t1, "build": t3 - t2, "cached": t4 - t3}
    return times | {"lines": source.count("\n")}


def compiling(quick: bool) -> dict[str, dict[str, Any]]:
    """Every query of every workload, as many at a time as there are cores, with an empty cache."""
    every = [(w, name) for w, work in WORKLOADS.items() for name in work.queries()]
    chosen = every[::16] if quick else every
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        compile_one("tpch_papers", "q06", cache)  # and with it, once, what all kernels share
        for library in cache.glob("*.so"):
            library.unlink()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done = list(pool.map(lambda q: compile_one(*q, cache), chosen))
    return {f"{w}/{name}": seconds for (w, name), seconds in zip(chosen, done, strict=True)}


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.boundary", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows and queries")
    args = parser.parse_args()
    rows = row_calls(10_000 if args.quick else 50_000)
    show(
        "Calls from Python",
        ("row", "ns per call", "trigger", "beyond it", "us per batch of 1 row"),
        [[r["row"], r["call"], r["trigger"], r["call"] - r["trigger"], r["batch"]] for r in rows],
        note="bars: below 300 ns beyond the trigger; a batch below 10 us",
    )
    view = read_out(100_000 if args.quick else 1_000_000)
    print(
        f"reading {view['rows']:,} rows to Arrow: {view['ns per row']:.1f} ns a row,"
        f" {view['Python objects']} Python objects\n"
    )
    state = memory(0.025 if args.quick else 0.25)
    print(
        f"Q3's maps: {state['bytes per line']:.1f} bytes per live order line"
        f" ({state['bytes']:,} for {state['live lines']:,}; bar 60)\n"
    )
    built = compiling(args.quick)
    good = {q: f for q, f in built.items() if "problem" not in f}
    slow = sorted(good, key=lambda q: -good[q]["build"])[:12]
    show(
        f"Seconds to compile, the slowest of {len(built)} queries, {os.cpu_count()} at a time",
        ("query", "plan", "emit", "build", "cached start", "lines of C++"),
        [[q, *(good[q][k] for k in ("plan", "emit", "build", "cached", "lines"))] for q in slow],
        note="bars: build below 3 s, cached start below 0.05 s",
    )
    if good:
        builds = [f["build"] for f in good.values()]
        late = sum(b > 3 for b in builds)
        print(f"median build {sorted(builds)[len(builds) // 2]:.2f} s, {late} above 3 s")
        print(f"slowest cached start {max(f['cached'] for f in good.values()):.3f} s")
    for q, f in built.items():
        if "problem" in f:
            print(f"{q}: {f['problem']}")
    write("boundary", {"calls": rows, "read": view, "memory": state, "compile": built})


if __name__ == "__main__":
    main()
