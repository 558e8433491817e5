"""How many times faster than Python dictionaries, in one run, with equal views at the end.

Two programs with dictionaries stand beside the kernels: *plain* is the compiler's own program, map
by map and statement by statement (`bench/plain.py`); *by hand* is what an hour of thought makes of
the query (`bench/dicts.py`). The ratio that is wanted is the one to the plain program.

Q3 takes about 2 M events (scale factor 0.25, a tenth of the rows deleted again), single rows and
batches of 1,000; the others batches of 1,000. All data is in memory before a clock starts: Arrow
batches for the kernels, tuples of the columns needed for the dictionaries. CPU seconds.
"""

from __future__ import annotations

import argparse
import gc
import math
import time
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa

from bench import data
from bench.apart import apart
from bench.dicts import PROGRAMS, events_of, floats, run
from bench.plain import Plain
from bench.queries import Running, catalog_of, drive, program_of, start
from bench.report import as_rows, rows_of, same, show, times, write
from freshview.calculus.types import Value
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.ivm.options import Mode

WAYS: dict[str, tuple[Mode, KernelPasses]] = {
    "single": ("tuple", USUAL_PASSES),
    "batch 1000": ("batch", USUAL_PASSES),
    "factorised": ("batch", KernelPasses(factorise=True)),
}
"""How kernels run: with the view kept, or, in the last, multiplied when it is read."""

BARS = {("q03", "single"): 18, ("q03", "factorised"): 30}
"""The ratio that is wanted at least; 15 for the others."""


def by_hand(name: str, stream: data.Stream, repeat: int) -> tuple[float, Any]:
    """Events per CPU second of the dictionaries, and their view."""
    program = PROGRAMS[name]
    events = events_of(stream, program.columns)
    gc.collect()
    gc.freeze()  # millions of tuples that live to the end are no work of the program
    best = 0.0
    for _ in range(repeat):
        began = time.process_time()
        view = run(program, events)
        best = max(best, len(events) / (time.process_time() - began))
    gc.unfreeze()
    return best, as_rows(view())


def plainly(name: str, stream: data.Stream, repeat: int) -> tuple[float, dict[str, dict]]:
    """Events per CPU second of the compiler's program on dictionaries, and its maps."""
    program, _ = program_of("tpch_papers", name, "tuple", "higher-order")
    plain = Plain(program)
    code = compile(plain.source(), f"{name}.py", "exec")
    events = events_of(stream, plain.columns, floats)
    gc.collect()
    gc.freeze()
    best = 0.0
    for _ in range(repeat):
        module: dict[str, Any] = {}
        exec(code, module)
        triggers = [
            (module["TRIGGERS"]["delete", r], module["TRIGGERS"]["insert", r])
            for r in plain.columns
        ]
        began = time.process_time()
        for relation, row, n in events:
            triggers[relation][n > 0](*row)
        best = max(best, len(events) / (time.process_time() - began))
    gc.unfreeze()
    return best, {m.name: module[m.name] for m in program.maps}


def as_plain(value: Value) -> Value:
    """A value as the plain program has it."""
    if isinstance(value, date):
        return (value - date(1970, 1, 1)).days
    return float(value) if isinstance(value, Decimal) else value


def agree(running: Running, maps: dict[str, dict]) -> bool:
    """Whether the kernel's maps have what the dictionaries have; floats are rounded a little."""
    kernel, instance = running.engine.kernel, running.engine.instance
    for number, table in enumerate(kernel.maps):
        there = {}
        for (*key, n), _ in instance.read_map(number):
            known = tuple(as_plain(v) for v in key)
            there[known[0] if len(key) == 1 else known] = float(n)
        here = {k: n for k, n in maps[table.name].items() if abs(n) > 1e-6}
        if there.keys() != here.keys():
            return False
        if any(not math.isclose(n, here[k], rel_tol=1e-9, abs_tol=1e-6) for k, n in there.items()):
            return False
    return True


def measure(name: str, tables: dict[str, pa.Table], args: argparse.Namespace) -> dict[str, Any]:
    """The rates of one query, by hand and native."""
    stream = data.interleave({n: tables[n] for n in PROGRAMS[name].columns}, 0.1)
    figures: dict[str, Any] = {"events": len(stream)}
    figures["by hand"], expected = by_hand(name, stream, args.repeat)
    figures["plain"], maps = plainly(name, stream, args.repeat)
    for way, (mode, passes) in WAYS.items():
        if name != "q03" and way != "batch 1000":
            continue
        runs = list(stream.windows(1000 if mode == "batch" else 10_000))
        rates = []
        for _ in range(args.repeat):
            running = start(*program_of("tpch_papers", name, mode), {}, passes=passes)
            rates.append(drive(running, runs, args.limit))
            view = rows_of(running.read())
            alike = agree(running, maps)
            running.close()
        figures[way] = max(r.per_second for r in rates)
        whole = rates[-1].whole
        figures[f"{way} agrees"] = same(view, expected) and alike if whole else None
    return figures


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.versus_dicts", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.25, help="TPC-H's scale factor")
    parser.add_argument("--queries", type=lambda t: t.split(","), help="only these")
    parser.add_argument("--limit", type=float, default=20, help="CPU seconds per run")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the best counts")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    args = parser.parse_args()
    if args.quick:
        args.scale, args.limit = args.scale / 10, 2.0
    needed = {n for p in PROGRAMS.values() for n in p.columns}
    relations = [r for r in catalog_of("tpch_papers").relations.values() if r.name in needed]
    tables = data.tpch(args.scale, relations)
    lines: list[list[object]] = []
    results: dict[str, Any] = {}
    for name in [n for n in PROGRAMS if n != "join_sum" and (n in (args.queries or PROGRAMS))]:
        figures, problem = apart(measure, name, tables, args, limit=600)
        results[name] = figures or {"problem": problem}
        if problem:
            print(name, problem)
            continue
        for way in WAYS:
            if way in figures:
                ratio = figures[way] / figures["plain"]
                bar = f"{BARS.get((name, way), 15)}x"
                agrees = {True: "yes", False: "NO", None: "-"}[figures[f"{way} agrees"]]
                rates = figures["by hand"], figures["plain"], figures[way]
                lines.append([name, way, figures["events"], *rates, times(ratio), bar, agrees])
    show(
        f"Events per CPU second, TPC-H SF {args.scale:g}, 10% deletes",
        ("query", "mode", "events", "by hand", "plain", "native", "ratio", "bar", "same view"),
        lines,
    )
    write("versus_dicts", results)


if __name__ == "__main__":
    main()
