"""The papers' own experiment: every strategy, every batch size, two scales, memory over time.

For each query and strategy: events per CPU second for single rows and for batches of 1 to 100,000
events, and the bytes of the state along the stream. A cell has a limit of CPU seconds; one that
reaches it has the rate until then. `single` runs the triggers for single rows, the batch sizes
those for batches; `auto` runs what a database would. A view that is recomputed when it is read is
read after every row or batch. Small batches are measured at twenty places along the stream, and
what lies between is given without being measured. Batches come by calls from Python, which bounds
the rate for batches of one row.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, pairwise
from typing import Any, get_args

import pyarrow as pa

from bench import data, factorized
from bench.apart import apart
from bench.native import stream_for
from bench.native import tables as tpch_tables
from bench.papers import BATCHES, REFRESHES
from bench.plot import plot
from bench.queries import (
    Running,
    catalog_of,
    program_of,
    start,
    static_of,
    streams_of,
    waits,
)
from bench.report import cell, markdown, show, times, write, write_text
from freshview.ivm.options import Mode
from freshview.plan import options as plan
from freshview.plan.compile import compile_queries
from freshview.program.terms import Program
from freshview.sql.load import load
from workloads import WORKLOADS

STRATEGIES = ("reeval", "first-order", "higher-order", "factorized", "auto")
SIZES = (1, 10, 100, 1000, 10_000, 100_000)
SCALES = (0.1, 1.0)
PLACES = 20
SAMPLED = 500
"""Batches of fewer than 100 events that are measured at each place."""
QUERIES = {
    "tpch_papers": tuple(f"q{n:02}" for n in range(1, 23)),
    "finance": ("axf", "bsp", "bsv", "mst", "psp", "vwap"),
    "housing": ("h_sum",),
    "retailer": ("r_units",),
}
EVEN = 1.1
"""Rates within this ratio count as even."""


@dataclass
class Cell:
    """What a strategy reached with batches of a size."""

    events: int = 0
    seconds: float = 0.0
    share: float = 0.0
    """How far along the stream it came."""
    bytes: list[tuple[float, int]] = field(default_factory=list)
    """The size of the state by the share of the stream that it has seen."""

    @property
    def rate(self) -> float:
        """Events per CPU second."""
        return self.events / self.seconds if self.seconds else 0.0


@cache
def stream_of(workload: str, scale: float, deletes: float, names: frozenset[str]) -> data.Stream:
    """The events of a workload; scale 1 of Housing and Retailer is about what their papers have."""
    if workload in ("housing", "retailer"):
        rows = factorized.tables(workload, scale)
        return data.interleave({n: rows[n] for n in sorted(names)}, deletes)
    return stream_for(workload, set(names), scale, deletes)


def static_tables(workload: str, scale: float) -> dict[str, pa.Table]:
    """The rows of a workload's static tables."""
    return {name: tpch_tables(scale)[name] for name in static_of(workload)}


def planned(workload: str, name: str, strategy: str, mode: Mode) -> Program:
    """The program of a query by a strategy, for single rows or for batches."""
    if strategy == "auto":
        return program_of(workload, name, mode)[0]
    path = WORKLOADS[workload].queries()[name]
    catalog, queries = load(path.read_text(), str(path), catalog_of(workload), default_name=name)
    wanted = [q for q in queries if q.name == name]
    [named] = [s for s in get_args(plan.Strategy) if s == strategy]
    options = plan.PlanOptions(strategy=named, mode=mode, caches=False)
    return compile_queries(wanted, list(catalog.relations.values()), options, catalog.functions)


def measure(
    workload: str, name: str, strategy: str, size: int, scale: float, args: argparse.Namespace
) -> Cell:
    """One cell; size 0 is single rows."""
    mode: Mode = "batch" if size else "tuple"
    program = planned(workload, name, strategy, mode)
    catalog = program_of(workload, name, mode)[1]
    stream = stream_of(workload, scale, args.deletes, frozenset(streams_of(program)))
    reads = waits(program, catalog, mode)
    running = start(program, catalog, static_tables(workload, scale))
    step = size or (1 if reads else 1000)
    return drive(running, stream, step, reads, args.limit)


def edges(events: int, size: int) -> list[int]:
    """Where parts of a stream begin and end: between batches, and in twenty parts at most.

    >>> edges(100, 40), len(edges(1000, 1))
    ([0, 40, 100], 21)
    """
    batches = max(1, events // size)
    places = min(PLACES, batches)
    return [*(size * (batches * n // places) for n in range(places)), events]


def drive(running: Running, stream: data.Stream, size: int, reads: bool, limit: float) -> Cell:
    """Give a stream in batches of a size until the limit; the state is looked at on the way."""
    out = Cell()
    idle = 0.0  # CPU seconds of what is not measured
    for begin, end in pairwise(edges(len(stream), size)):
        measured = end if size >= 100 else min(end, begin + size * SAMPLED)
        done = _timed(running, stream.windows(size, begin, measured), reads, limit, out)
        if done and measured < end:
            began = time.process_time()
            feed = running.feeder()
            for run in stream.windows(10_000, measured, end):
                feed(run)
                if time.process_time() - began + idle > limit:
                    done = False
                    break
            idle += time.process_time() - began
        if not done:
            break
        out.share = end / len(stream)
        out.bytes.append((out.share, running.engine.instance.stats().bytes))
    running.close()
    return out


def _timed(
    running: Running,
    runs: Iterable[Sequence[data.Window]],
    reads: bool,
    limit: float,
    out: Cell,
) -> bool:
    """Add what runs of windows take; false where the limit was reached before their end."""
    instance, query = running.engine.instance, running.engine.kernel.query(running.name)
    listed = list(runs)
    prepared = running.ready(listed)
    at, step = 0, 1
    while at < len(listed):
        part = prepared[at : at + step]
        began = time.process_time()
        for run in part:
            for relation, rows, counts in run:
                instance.apply_arrow(relation, rows, counts)
            if reads:
                instance.read_arrow(query)
        used = time.process_time() - began
        out.seconds += used
        out.events += sum(len(w) for run in listed[at : at + step] for w in run)
        at += len(part)
        if out.seconds > limit:
            return at >= len(listed)
        step = max(1, min(step * 2, int(len(part) * limit / 100 / max(used, 1e-6))))
    return True


def label(size: int) -> str:
    """The name of a column: batches of a size, or single rows."""
    return f"{size:,}" if size else "single"


Results = dict[str, dict[str, dict[int, Cell]]]
"""Cells by query, strategy and batch size; 0 is single rows."""


def shape(ours: dict[int, Cell]) -> tuple[float | None, int | None]:
    """What batches of 1,000 are over single rows, and which batch size is best."""
    rates = {size: c.rate for size, c in ours.items() if c.rate}
    ratio = rates[1000] / rates[0] if 0 in rates and 1000 in rates else None
    sizes = {size: rate for size, rate in rates.items() if size}
    return ratio, max(sizes, key=sizes.__getitem__) if sizes else None


def verdict(ratio: float | None) -> str:
    """Whether batching wins.

    >>> verdict(2.0), verdict(0.5), verdict(1.05), verdict(None)
    ('wins', 'loses', 'even', '-')
    """
    if ratio is None:
        return "-"
    return "wins" if ratio > EVEN else "loses" if ratio < 1 / EVEN else "even"


BATCHING = (
    "query",
    "1,000 over single",
    "best size",
    "paper's",
    "its best size",
    "batching",
    "paper",
)


def batching_lines(results: Results, strategy: str = "higher-order") -> list[list[object]]:
    """Where batching wins and where it loses, beside the thesis."""
    lines: list[list[object]] = []
    for name, by_strategy in results.items():
        ratio, size = shape(by_strategy.get(strategy, {}))
        paper = BATCHES.get(name)
        theirs = paper.batch_1000 / paper.single if paper else None
        best = f"{paper.best_size:,}" if paper else "-"
        words = verdict(ratio), verdict(theirs)
        shown = f"{size:,}" if size else "-"
        lines.append([name, times(ratio), shown, times(theirs), best, *words])
    return lines


ORDER = ("query", "first-order over reeval", "paper's", "higher over first-order", "paper's")


def order_lines(results: Results) -> list[list[object]]:
    """What each step of the strategies gains for single rows, beside the thesis."""

    def over(by_strategy: dict[str, dict[int, Cell]], a: str, b: str) -> float | None:
        cells = [by_strategy.get(s, {}).get(0) for s in (a, b)]
        rates = [c.rate if c else 0.0 for c in cells]
        return rates[0] / rates[1] if all(rates) else None

    lines: list[list[object]] = []
    for name, by_strategy in results.items():
        paper = REFRESHES.get(name)
        lines.append(
            [
                name,
                times(over(by_strategy, "first-order", "reeval")),
                times(paper.first_order / paper.reeval if paper else None),
                times(over(by_strategy, "higher-order", "first-order")),
                times(paper.higher_order / paper.first_order if paper else None),
            ]
        )
    return lines


def rate_lines(results: Results, sizes: Sequence[int]) -> list[list[object]]:
    """Events per CPU second; a star marks what reached its limit."""
    lines: list[list[object]] = []
    for name, by_strategy in results.items():
        for strategy, cells in by_strategy.items():
            shown = []
            for size in sizes:
                c = cells.get(size)
                star = "" if c is None or c.share >= 1 else " *"
                shown.append(f"{cell(c.rate)}{star}" if c and c.rate else "-")
            last = max((c.bytes[-1][1] for c in cells.values() if c.bytes), default=None)
            lines.append([name, strategy, *shown, last])
    return lines


def plots(results: Results, scale: float) -> list[str]:
    """A plot of rates and one of memory for every query; tells their paths."""
    paths = []
    for name, by_strategy in results.items():
        rates = {
            strategy: sorted((size, c.rate) for size, c in cells.items() if size and c.rate)
            for strategy, cells in by_strategy.items()
        }
        memory = {
            strategy: max((c.bytes for c in cells.values()), key=len, default=[])
            for strategy, cells in by_strategy.items()
        }
        words = f"{name}, scale {scale:g}"
        for kind, title, across, lines in (
            ("rate", f"{words}: events per CPU second", "events of a batch", rates),
            ("memory", f"{words}: bytes of the state", "share of the stream", memory),
        ):
            drawn = {strategy: points for strategy, points in lines.items() if len(points) > 1}
            if drawn:
                paths.append(plot(f"strategies_{name}_{scale:g}_{kind}", title, across, drawn))
    return paths


def run(scale: float, args: argparse.Namespace) -> Results:
    """All the cells of a scale, each in a process of its own."""
    sizes = (0, *args.sizes)
    results: Results = {}
    for workload, names in QUERIES.items():
        for name in [n for n in names if not args.queries or n in args.queries]:
            for strategy in args.strategies:
                cells: dict[int, Cell] = {}
                for size in sizes:
                    limit = 6 * args.limit + 120
                    got, problem = apart(
                        measure, workload, name, strategy, size, scale, args, limit=limit
                    )
                    words = f"{name} {strategy} {label(size)}"
                    if problem:
                        print(words, problem, file=sys.stderr, flush=True)
                        if "NotFactorized" in problem:
                            break  # the same for every size
                        continue
                    cells[size] = got
                    print(words, cell(got.rate), f"{got.share:.0%}", file=sys.stderr, flush=True)
                results.setdefault(name, {})[strategy] = cells
    return results


def report(results: Results, scale: float, args: argparse.Namespace) -> str:
    """Print the tables of a scale; the same as Markdown."""
    sizes = (0, *args.sizes)
    tables = (
        (
            f"Events per CPU second, scale {scale:g}, {args.limit:g} s a cell",
            ("query", "strategy", *map(label, sizes), "bytes"),
            rate_lines(results, sizes),
        ),
        (f"Batches, higher-order, scale {scale:g}", BATCHING, batching_lines(results)),
        (f"Strategies, single rows, scale {scale:g}", ORDER, order_lines(results)),
    )
    for title, heads, lines in tables:
        show(title, heads, lines)
    return "\n\n".join(f"## {t}\n\n{markdown(heads, lines)}" for t, heads, lines in tables)


def as_json(results: Results) -> dict[str, Any]:
    """The cells as plain data."""
    return {
        name: {
            strategy: {
                label(size): {"rate": c.rate, "share": c.share, "bytes": c.bytes}
                for size, c in cells.items()
            }
            for strategy, cells in by_strategy.items()
        }
        for name, by_strategy in results.items()
    }


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.strategies", description=__doc__)
    words = lambda text: tuple(text.split(","))  # noqa: E731
    parser.add_argument("--scales", type=lambda t: tuple(map(float, words(t))), default=SCALES)
    parser.add_argument("--sizes", type=lambda t: tuple(map(int, words(t))), default=SIZES)
    parser.add_argument("--strategies", type=words, default=STRATEGIES)
    parser.add_argument("--queries", type=words, help="only these: q01,vwap,r_units")
    parser.add_argument("--deletes", type=float, default=0.1, help="share of rows deleted again")
    parser.add_argument("--limit", type=float, default=20, help="CPU seconds per cell")
    parser.add_argument("--quick", action="store_true", help="scale 0.01, half a second per cell")
    args = parser.parse_args()
    if args.quick:
        args.scales, args.limit = (0.01,), min(args.limit, 0.5)
    unknown = {*args.queries} - {*chain(*QUERIES.values())} if args.queries else set()
    if unknown:
        parser.error(f"there is no query {min(unknown)}")
    return args


def main() -> None:
    """Measure, print, keep."""
    args = arguments()
    parts, kept = ["# Strategies, batch sizes, memory"], {}
    for scale in args.scales:
        results = run(scale, args)
        parts.append(report(results, scale, args))
        parts.append("\n".join(f"![{p}]({p.rsplit('/', 1)[-1]})" for p in plots(results, scale)))
        kept[f"{scale:g}"] = as_json(results)
    parts.append(
        "A star marks a cell that reached its limit. The papers' columns are those of Nikolic 2016,"
        " Table A.1 and Fig. 4.3, on other machines and data (`bench/papers.py`)."
    )
    write("strategies", kept)
    print(write_text("strategies.md", "\n\n".join(parts) + "\n"))


if __name__ == "__main__":
    main()
