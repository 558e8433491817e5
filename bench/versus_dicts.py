"""How many times faster than plain Python dictionaries, in one run, with equal views at the end.

Q3 takes about 2 M events (scale factor 0.25, a tenth of the rows deleted again), single rows and
batches of 1,000; the others batches of 1,000. All data is in memory before a clock starts: Arrow
batches for the kernels, tuples of the columns needed for the dictionaries. CPU seconds.
"""

from __future__ import annotations

import argparse
import gc
import time
from typing import Any

import pyarrow as pa

from bench import data
from bench.apart import apart
from bench.dicts import PROGRAMS, events_of, run
from bench.queries import catalog_of, drive, program_of, start
from bench.report import as_rows, rows_of, same, show, times, write
from freshet.ivm.options import Mode

BARS = {("q03", "tuple"): 18, ("q03", "batch"): 30}
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


def measure(name: str, tables: dict[str, pa.Table], args: argparse.Namespace) -> dict[str, Any]:
    """The rates of one query, by hand and native."""
    stream = data.interleave({n: tables[n] for n in PROGRAMS[name].columns}, 0.1)
    found: dict[str, Any] = {"events": len(stream)}
    found["dicts"], expected = by_hand(name, stream, args.repeat)
    modes: tuple[Mode, ...] = ("tuple", "batch") if name == "q03" else ("batch",)
    for mode in modes:
        runs = list(stream.windows(1000 if mode == "batch" else 10_000))
        rates = []
        for _ in range(args.repeat):
            running = start(*program_of("tpch_seed", name, mode), {})
            rates.append(drive(running, runs, args.limit))
            view = rows_of(running.read())
            running.close()
        found[mode] = max(r.per_second for r in rates)
        found[f"{mode} agrees"] = same(view, expected) if rates[-1].whole else None
    return found


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
    relations = [r for r in catalog_of("tpch_seed").relations.values() if r.name in needed]
    tables = data.tpch(args.scale, relations)
    lines: list[list[object]] = []
    results: dict[str, Any] = {}
    for name in [n for n in PROGRAMS if n != "join_sum" and (n in (args.queries or PROGRAMS))]:
        found, problem = apart(measure, name, tables, args, limit=600)
        results[name] = found or {"problem": problem}
        if problem:
            print(name, problem)
            continue
        for mode in ("tuple", "batch"):
            if mode in found:
                ratio = found[mode] / found["dicts"]
                words = ("single" if mode == "tuple" else "batch 1000"), found["events"]
                bar = f"{BARS.get((name, mode), 15)}x"
                agrees = {True: "yes", False: "NO", None: "-"}[found[f"{mode} agrees"]]
                lines.append([name, *words, found["dicts"], found[mode], times(ratio), bar, agrees])
    show(
        f"Events per CPU second, TPC-H SF {args.scale:g}, 10% deletes",
        ("query", "mode", "events", "dicts", "native", "ratio", "bar", "same view"),
        lines,
    )
    write("versus_dicts", results)


if __name__ == "__main__":
    main()
