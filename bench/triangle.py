"""Triangles of a graph whose degrees follow a power law, counted as its edges come and go.

The edges are parted into R(a, b), S(b, c) and T(c, a), as F-IVM's authors part Twitter's; a tenth
of them goes again. The view below the root pairs all the a and b between which there is a way over
some c: that is far more than there are edges. An indicator of R leaves those pairs out that R does
not connect, so that no view has more rows than a relation.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from bench.apart import apart
from bench.data import Stream, interleave
from bench.queries import Running
from bench.report import show, times, write
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import INT
from freshview.factorized.compile import compile_joins
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.terms import natural_join
from freshview.runtime.compile.kernel_engine import kernel_engine

SIDES = {"R": "ab", "S": "bc", "T": "ca"}
WAYS = {"with indicator": True, "without": False}
STEEP = 0.8
"""The vertex of rank r has a degree of about r to the minus this: of degree d there are d^-2.25."""


def graph(edges: int, seed: int = 1) -> dict[str, pa.Table]:
    """Different edges between vertices of all degrees, in three parts of one size."""
    rng = np.random.default_rng(seed)
    n = max(edges // 8, 3)
    share = np.cumsum(np.arange(1, n + 1) ** -STEEP)
    codes = np.empty(0, np.int64)
    while len(codes) < edges:
        ends = np.searchsorted(share, rng.random((2, edges)) * share[-1])
        codes = np.unique(np.concatenate([codes, ends[0] * n + ends[1]]))
    chosen = rng.permutation(codes)[:edges]
    parts = np.array_split(chosen, 3)
    return {
        name: pa.table({x: part // n, y: part % n})
        for (name, (x, y)), part in zip(SIDES.items(), parts, strict=True)
    }


def running(indicators: bool) -> Running:
    """The kernel that counts triangles."""
    sides = tuple(Relation(r, tuple(Column(c, INT) for c in cs)) for r, cs in SIDES.items())
    options = ViewTreeOptions(mode="tuple", indicators=indicators)
    engine = kernel_engine(compile_joins({"q": natural_join(sides)}, sides, options))
    engine.load()
    return Running(engine, "q")


def drive(way: str, stream: Stream, args: argparse.Namespace) -> dict[str, Any]:
    """Give all the edges, or as many as fit into the memory, and tell what is kept then."""
    kernel = running(WAYS[way])
    feed, instance = kernel.feeder(), kernel.engine.instance
    applied, used, bytes_ = 0, 0.0, 0
    for run in stream.windows(1000):
        began = time.process_time()
        feed(run)
        used += time.process_time() - began
        applied += sum(map(len, run))
        bytes_ = instance.stats().bytes
        if bytes_ > args.memory * 2**30 or used > args.limit:
            break
    [(count, _)] = instance.read_rows(0) or [((0,), 1)]
    rows = dict(instance.stats().sizes)
    return {
        "events": applied,
        "whole": applied == len(stream),
        "seconds": used,
        "bytes": bytes_,
        "rows": rows,
        "triangles": count[0],
    }


def counted(stream: Stream) -> int:
    """The triangles of what is left at the end, by DuckDB."""
    con = duckdb.connect()
    for name, rows in stream.rows.items():
        events = pa.table(rows).append_column("n", pa.array(stream.counts[name]))
        con.register(f"{name}_events", events)
    left = ", ".join(
        f"{n} AS (SELECT {x}, {y} FROM {n}_events GROUP BY ALL HAVING SUM(n) > 0)"
        for n, (x, y) in SIDES.items()
    )
    query = f"WITH {left} SELECT COUNT(*) FROM R NATURAL JOIN S NATURAL JOIN T"
    [(count,)] = con.execute(query).fetchall()
    return int(count)


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.triangle", description=__doc__)
    parser.add_argument("--edges", type=int, default=300_000, help="3,000,000: the whole")
    parser.add_argument("--memory", type=float, default=4, help="GB of state, then a way ends")
    parser.add_argument("--limit", type=float, default=300, help="CPU seconds, then a way ends")
    parser.add_argument("--quick", action="store_true", help="a tenth of the edges")
    args = parser.parse_args()
    if args.quick:
        args.edges //= 10
    stream = interleave(graph(args.edges))
    wanted = counted(stream)
    results: dict[str, dict[str, Any]] = {}
    for way in WAYS:
        answer, problem = apart(drive, way, stream, args, limit=3600)
        if problem:
            print(way, problem)
            continue
        results[way] = answer
        if answer["whole"]:
            assert answer["triangles"] == wanted, (way, answer["triangles"], wanted)
    least = min((f["bytes"] for f in results.values()), default=1)
    lines = [
        [
            way + ("" if f["whole"] else f", {f['events'] / len(stream):.0%} of it"),
            float(f["rows"]["V_R"]),
            float(f["rows"]["V_ST_at_c"]),
            f"{f['bytes'] / 2**20:,.0f}",
            times(f["bytes"] / least),
            f["events"] / f["seconds"],
        ]
        for way, f in results.items()
    ]
    show(
        f"{wanted:,} triangles of {args.edges:,} edges, a tenth of which goes again",
        ("view tree", "rows of R", "rows of V_ST", "MB", "of the least", "events/s"),
        lines,
        "The numbers of triangles are those that DuckDB counts.",
    )
    write("triangle", results)


if __name__ == "__main__":
    main()
