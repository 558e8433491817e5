"""Rows per CPU second of the native engine, query by query, beside DBToaster and F-IVM.

`single` runs the program for single rows, `batch` the one for batches of 1,000 events, both from
Arrow batches in memory. A run that reaches its limit gives the rate until then.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import pyarrow as pa

from bench import data
from bench.apart import apart
from bench.peers import COMMIT, DBTOASTER_RATES, FIVM_RATES, OVER_DBTOASTER, OVER_FIVM
from bench.queries import (
    STRATEGIES,
    Rate,
    Running,
    catalog_of,
    drive,
    fresh,
    program_of,
    start,
    static_of,
    streams_of,
    waits,
)
from bench.report import cell, rows_of, same, show, times, write
from freshview.ivm.options import Mode
from workloads import WORKLOADS

LIVE = 1000
"""Orders on each side of the order book."""


@cache
def tables(scale: float) -> dict[str, pa.Table]:
    """All of TPC-H, as the schema of DBToaster has it."""
    return data.tpch(scale, list(catalog_of("tpch_papers").relations.values()))


def stream_for(workload: str, names: set[str], scale: float, deletes: float) -> data.Stream:
    """The events of the relations that a query reads."""
    if workload == "finance":
        book = data.order_book(LIVE, steps=int(500_000 * scale))
        return data.only(book, names)
    return data.interleave({n: tables(scale)[n] for n in sorted(names)}, deletes)


def runs_of(stream: data.Stream, mode: Mode) -> list[Sequence[data.Window]]:
    """Windows of 1,000 events for batches; for single rows they grow, as they only carry rows."""
    if mode == "batch":
        return list(stream.windows(1000))
    head = [*stream.windows(100, 0, 1000), *stream.windows(1000, 1000, 100_000)]
    return [*head, *stream.windows(10_000, 100_000)]


def measure(workload: str, name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Both rates of one query, and whether both views are the same at the end.

    If the program leaves work to the reader, the rates are those with the view read after each
    event (single) or batch, and "unread" has those without.
    """
    names = streams_of(program_of(workload, name, "batch", args.strategy)[0])
    stream = stream_for(workload, names, args.scale, args.deletes)
    static = {n: tables(args.scale)[n] for n in static_of(workload)}
    figures: dict[str, Any] = {"events": len(stream), "unread": {}}
    views = []
    modes: tuple[Mode, ...] = ("tuple", "batch")
    for mode in modes:
        program, catalog = program_of(workload, name, mode, args.strategy)
        begin = partial(start, program, catalog, static)
        unread = partial(drive, runs=runs_of(stream, mode), limit=args.limit)
        rate, view = quickest(begin, unread, args)
        if waits(program, catalog, mode):
            figures["unread"][mode] = rate.per_second
            read = (
                partial(fresh, stream=stream) if mode == "tuple" else partial(unread, reading=True)
            )
            rate, view = quickest(begin, partial(read, limit=args.limit), args)
        figures |= {mode: rate.per_second, f"{mode} whole": rate.whole}
        views.append(rows_of(view))
    figures["rows"] = views[0].total()
    if figures["tuple whole"] and figures["batch whole"]:
        figures["agree"] = same(*views)
    return figures


def quickest(
    begin: Callable[[], Running], work: Callable[[Running], Rate], args: argparse.Namespace
) -> tuple[Rate, pa.RecordBatch]:
    """The best rate of several runs, and the view after the last; few runs where they are slow."""
    rates: list[Rate] = []
    while len(rates) < args.repeat and sum(r.seconds for r in rates) <= args.limit:
        running = begin()
        rates.append(work(running))
        view = running.read()
        running.close()
    return max(rates, key=lambda r: r.per_second), view


def main() -> None:
    """Measure, print, keep."""
    args = arguments()
    tables(args.scale)
    results: dict[str, Any] = {}
    for workload in ("tpch_papers", "finance"):
        for name in WORKLOADS[workload].queries():
            if args.queries and name not in args.queries:
                continue
            figures, problem = apart(measure, workload, name, args, limit=8 * args.limit + 60)
            results[name] = figures or {"problem": problem}
            print(*map(cell, line(name, results[name])), problem, file=sys.stderr, flush=True)
    show(
        f"Rows per CPU second, TPC-H SF {args.scale:g}, {args.deletes:.0%} deletes",
        ("query", "single", "DBToaster", "", "then", "batch 1000", "F-IVM", "", "then", "rows"),
        [line(name, figures) for name, figures in results.items()],
        note="* until the time limit. r: recomputed when read, so it was read after each event or"
        " batch.\nThe peers' rates, as far as they are known, are from another day; `then` is ours"
        f" over theirs\nin turns, with the kernels of commit {COMMIT} (bench/peers.py).",
    )
    for name, figures in results.items():
        if unread := figures.get("unread"):
            rates = " single, ".join(cell(rate) for rate in unread.values())
            print(f"{name}: {rates} batch, if it is never read")
        if not figures.get("agree", True):
            print(f"{name}: single rows and batches end in different views")
    write("native", results)


def line(name: str, figures: dict[str, Any]) -> list[object]:
    """A query's row of the table."""
    toaster, fivm = DBTOASTER_RATES.get(name), FIVM_RATES.get(name)
    single, batch = figures.get("tuple"), figures.get("batch")
    mark = "" if figures.get("tuple whole") and figures.get("batch whole") else " *"
    mark += " r" if figures.get("unread") else ""
    return [
        name + mark,
        single,
        toaster,
        ratio(single, toaster),
        times(OVER_DBTOASTER.get(name)),
        batch,
        fivm,
        ratio(batch, fivm),
        times(OVER_FIVM.get(name)),
        figures.get("rows"),
    ]


def ratio(ours: float | None, theirs: float | None) -> str:
    """Ours over theirs."""
    return times(ours / theirs if ours and theirs else None)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.native", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1, help="TPC-H's scale factor")
    parser.add_argument("--deletes", type=float, default=0.1, help="share of rows deleted again")
    parser.add_argument("--queries", type=lambda t: t.split(","), help="only these: q01,vwap")
    parser.add_argument("--limit", type=float, default=5, help="CPU seconds per run")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the best counts")
    parser.add_argument("--strategy", choices=[*STRATEGIES, "auto"], default="auto")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, 1 s per run")
    args = parser.parse_args()
    if args.quick:
        args.scale, args.limit, args.repeat = args.scale / 10, 1.0, 1
    return args


if __name__ == "__main__":
    main()
