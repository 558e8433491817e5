"""Whether the time per event stays nearly the same while an order book grows.

VWAP, MST and PSP over books of 1,000 to 100,000 live orders a side: after the book is filled, an
order comes and one goes, and the views follow each event. CPU time per event, the best of three
stretches; the rows looked at or written per event are counted by a kernel built to count.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from bench import data
from bench.apart import apart
from bench.queries import Running, drive, program_of, row_calls, start, streams_of, waits
from bench.report import show, times, write
from freshview.codegen.library.compiler import Flags
from freshview.ivm.options import Mode

QUERIES = ("vwap", "mst", "psp")
STEPS = 4000


def filled(name: str, mode: Mode, live: int, args: argparse.Namespace, count: bool = False) -> Any:
    """A kernel with a full book and the events after that, or None if it takes too long."""
    program, catalog = program_of("finance", name, mode)
    names = streams_of(program)
    stream = data.only(data.order_book(live, STEPS), names)
    full = live * len(names)
    if waits(program, catalog, "batch"):
        raise NotImplementedError(f"'{name}' is recomputed when it is read: measure reads, too")
    running = start(program, catalog, {}, Flags(count=True) if count else None)
    size = 100 if mode == "tuple" else 10_000
    rate = drive(running, list(stream.windows(size, 0, full)), args.limit)
    return (running, stream, full) if rate.whole else None


def nanoseconds(
    running: Running, stream: data.Stream, first: int, mode: Mode, limit: float
) -> float:
    """CPU time per event, the best of three parts; for single rows one call for each of them."""
    size = 2000 if mode == "tuple" else (len(stream) - first) // 3
    best = float("inf")
    for n in range(3):
        begin = first + n * size
        if mode == "tuple":
            calls = row_calls(running, stream, begin, begin + size)
            start = time.process_time()
            for call, row in calls:
                call(*row)
            best = min(best, (time.process_time() - start) * 1e9 / len(calls))
        else:
            rate = drive(running, list(stream.windows(1000, begin, begin + size)), limit / 3)
            best = min(best, 1e9 / rate.per_second)
    return best


def measure(name: str, mode: Mode, live: int, args: argparse.Namespace) -> dict[str, Any] | None:
    """Nanoseconds and rows of work per event over a book of a size."""
    ready = filled(name, mode, live, args)
    if ready is None:
        return None
    figures = {"ns": nanoseconds(*ready, mode, args.limit)}
    ready[0].close()
    ready = filled(name, mode, live, args, count=True)
    if ready is not None:
        running, stream, first = ready
        before = running.engine.work
        size = 1 if mode == "tuple" else 1000
        rate = drive(running, list(stream.windows(size, first, first + 1000)), args.limit)
        figures["work"] = (running.engine.work - before) / rate.events
    return figures


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--limit", type=float, default=30, help="CPU seconds to fill a book")
    parser.add_argument("--quick", action="store_true", help="up to 10,000 orders, 2 s")
    args = parser.parse_args()
    sizes = (1000, 10_000, 100_000)
    if args.quick:
        sizes, args.limit = sizes[:2], 2.0
    results: dict[str, Any] = {}
    lines = []
    modes: tuple[Mode, ...] = ("tuple", "batch")
    for name in QUERIES:
        for mode in modes:
            words = f"{name} {'single' if mode == 'tuple' else 'batch 1000'}"
            by_size = []
            for live in sizes:
                figures, problem = apart(measure, name, mode, live, args, limit=6 * args.limit + 60)
                by_size.append(figures)
                print(words, live, figures or problem or "not filled in time", file=sys.stderr)
                if figures is None:
                    break
            by_size += [None] * (len(sizes) - len(by_size))
            results[words] = dict(zip(map(str, sizes), by_size, strict=True))
            lines.append([words, *_cells(by_size, "ns"), *_cells(by_size, "work")])
    heads = [f"{live:,}" for live in sizes]
    show(
        "Nanoseconds per event, then rows of work per event, by live orders a side",
        ("query", *heads, "growth", *heads, "growth"),
        lines,
        note="bar: at most 4x from 1,000 to 100,000; - means that the book was not filled in time",
    )
    write("growth", results)


def _cells(by_size: list[dict[str, Any] | None], what: str) -> list[object]:
    values = [f.get(what) if f else None for f in by_size]
    grown = values[-1] / values[0] if values[0] and values[-1] else None
    return [*values, times(grown)]


if __name__ == "__main__":
    main()
