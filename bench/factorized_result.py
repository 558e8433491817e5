"""All the rows of the Housing join, kept factorized, beside the same rows listed.

At scale 20 a postcode has 20 houses, 20 shops and 13 restaurants, so the join has 5,200 rows for
each: 130 million of 27 attributes. Factorized, it is about as large as the relations. The listing
is measured over some of the postcodes, and multiplied: no row of a postcode meets one of another.
The rows of three postcodes are compared one by one. Times are the best of some runs.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench import data
from bench.apart import apart
from bench.factorized import tables, variables
from bench.queries import Running, catalog_of
from bench.report import rows_of, show, times, write
from freshview.codegen.library.engine import KernelEngine
from freshview.factorized.compile import compile_joins
from freshview.factorized.conjunctive import Factorized, factorize, listed_by_keys
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.terms import natural_join
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.runtime.views.enumerate import Rows

PART = 25
"""The listing is measured over one in so many postcodes."""
BAR = 100.0
"""How many times as small, and as fast, as the listing the factorized result is wanted to be."""


def factorized_result() -> Factorized:
    """The program that keeps the result factorized."""
    catalog = catalog_of("housing")
    relations = tuple(catalog.relations.values())
    atoms = natural_join(relations).atoms
    options = ViewTreeOptions(mode="tuple")
    return factorize("q", variables("housing"), atoms, relations, options, catalog.functions)


def fed(way: str, stream: data.Stream) -> tuple[KernelEngine, float]:
    """A kernel with all the rows, and the CPU seconds that they took."""
    catalog = catalog_of("housing")
    relations = tuple(catalog.relations.values())
    if way == "factorized":
        program = factorized_result().program
    else:
        listing = listed_by_keys(variables("housing"), natural_join(relations).atoms)
        program = compile_joins(
            {"q": listing}, relations, ViewTreeOptions(mode="tuple"), catalog.functions
        )
    engine = kernel_engine(program, catalog.functions)
    engine.load()
    feed = Running(engine, "q").feeder()
    began = time.process_time()
    for run in stream.windows(1000):
        feed(run)
    return engine, time.process_time() - began


def best(way: str, stream: data.Stream, repeat: int) -> tuple[KernelEngine, float]:
    """The last of some kernels, and the least that one of them took."""
    least = math.inf
    for n in range(repeat):
        engine, seconds = fed(way, stream)
        least = min(least, seconds)
        if n + 1 < repeat:
            engine.instance.close()
    return engine, least


def kept_factorized(stream: data.Stream, repeat: int) -> dict[str, float]:
    """What the factorized result takes, and what can be done with it."""
    engine, seconds = best("factorized", stream, repeat)
    began = time.process_time()
    rows = Rows(factorized_result(), engine)
    opened = time.process_time() - began
    size = len(rows)
    numbers = random.Random(1).choices(range(size), k=1000)
    began = time.process_time()
    for k in numbers:
        rows[k]
    access = (time.process_time() - began) / len(numbers)
    began, streamed = time.process_time(), 0
    for batch in rows.stream():
        streamed += batch.num_rows
        if streamed >= 2_000_000:
            break
    rate = streamed / (time.process_time() - began)
    return {
        "seconds": seconds,
        "bytes": engine.instance.stats().bytes,
        "rows": size,
        "opened": opened,
        "access": access,
        "streamed": rate,
    }


def kept_listed(stream: data.Stream, repeat: int) -> dict[str, float]:
    """What the listing takes."""
    engine, seconds = best("listed", stream, repeat)
    listing = pa.table(engine.instance.read_arrow(engine.kernel.query("q")))
    rows = pc.sum(listing.column(listing.num_columns - 1)).as_py()
    return {"seconds": seconds, "bytes": engine.instance.stats().bytes, "rows": rows}


def same_rows(stream: data.Stream, _: int) -> int:
    """How many rows both ways give, after a comparison of all of them."""
    factorized, _ = fed("factorized", stream)
    listed, _ = fed("listed", stream)
    mine = pa.Table.from_batches(Rows(factorized_result(), factorized).stream())
    theirs = pa.table(listed.instance.read_arrow(listed.kernel.query("q")))
    counts = theirs.column(theirs.num_columns - 1).to_pylist()
    rows = zip(*(c.to_pylist() for c in theirs.columns[:-1]), strict=True)
    order = theirs.column_names[:-1]
    counted: Counter[tuple[object, ...]] = Counter(dict(zip(rows, counts, strict=True)))
    assert rows_of(mine.select(order)) == counted
    return counted.total()


def under(rows: dict[str, pa.Table], postcodes: int) -> data.Stream:
    """The rows of the first postcodes, as a stream."""
    few = {n: t.filter(pc.less(t.column("postcode"), postcodes)) for n, t in rows.items()}
    return data.interleave(few, 0.0)


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.factorized_result", description=__doc__)
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the best counts")
    parser.add_argument("--quick", action="store_true", help="a smaller scale")
    args = parser.parse_args()
    scale = 5 if args.quick else args.scale
    rows = tables("housing", scale)
    postcodes = int(np.max(rows["House"].column("postcode").to_numpy())) + 1
    results: dict[str, Any] = {}
    for way, work, part in (
        ("compared", same_rows, 3),
        ("factorized", kept_factorized, postcodes),
        ("listed", kept_listed, postcodes // PART),
    ):
        answer, problem = apart(work, under(rows, part), args.repeat, limit=1800)
        if problem:
            print(way, problem)
            return
        results[way] = answer
    ours, listing = results["factorized"], results["listed"]
    whole = {k: v * PART for k, v in listing.items()}
    assert round(whole["rows"]) == ours["rows"], (whole["rows"], ours["rows"])
    lines: list[list[object]] = [
        [
            f"listed (1/{PART} x {PART})",
            whole["rows"],
            f"{whole['bytes'] / 2**20:,.0f}",
            whole["seconds"],
        ],
        ["factorized", ours["rows"], f"{ours['bytes'] / 2**20:,.0f}", ours["seconds"]],
    ]
    ratio = [times(whole[k] / ours[k]) for k in ("bytes", "seconds")]
    lines.append([f"is less (bar {BAR:g}x)", "-", *ratio])
    show(
        f"The rows of Housing at scale {scale}; {results['compared']:,} of them compared",
        ("result", "rows", "MB", "CPU seconds"),
        lines,
        f"opened for reading in {ours['opened']:.2f} s; any row in {1e6 * ours['access']:.0f} us; "
        f"{ours['streamed'] / 1e6:.2f} M rows/s as Arrow batches",
    )
    write("factorized_result", results)


if __name__ == "__main__":
    main()
