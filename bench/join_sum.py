"""A join and a sum under inserts and deletes, beside dictionaries, DuckDB and Pathway.

    SELECT o.g, SUM(l.price * o.w), COUNT(*) FROM L JOIN O USING (oid) GROUP BY o.g

100,000 rows of O and 1,000,000 of L come interleaved, a hundredth of O and a tenth of L go again:
1,201,000 events over 1,000 groups, all integers. Wall seconds, from data in memory to the view
read, the median and the best of the same number of runs on all sides; all the final views are
compared. First the public API, with its defaults and without kept rows, then kernels alone.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import duckdb
import pyarrow as pa

import freshview
from bench import data, pathway_peer
from bench.dicts import PROGRAMS, Event, events_of, run
from bench.queries import Running, program_from, start
from bench.report import as_rows, rows_of, show, times, write
from freshview.ivm.options import Mode

SQL = """
CREATE STREAM L (oid INT NOT NULL, price INT NOT NULL);
CREATE STREAM O (oid INT NOT NULL, g INT NOT NULL, w INT NOT NULL);
SELECT o.g, SUM(l.price * o.w) AS total, COUNT(*) AS n
FROM L l, O o WHERE l.oid = o.oid GROUP BY o.g;
"""

Rows = Counter[tuple[object, ...]]

DEFAULTS = "connect(), batches of 10,000"
LEAN = "connect(keep_rows=False), batches of 10,000"
DICTS = "Python dicts, row by row"
ROWS = "native, row by row from Python"
INSIDE = "native, row by row from Arrow"
BATCHES = "native, batches of 10,000"
DUCKDB = "DuckDB delta SQL, batches of 10,000"

BARS = (
    (ROWS, DICTS, 15),
    (INSIDE, DICTS, 15),
    (BATCHES, DUCKDB, 10),
    (BATCHES, pathway_peer.NAME, 20),
)
"""What is compared, and the ratio that is wanted at least."""


def started(mode: Mode) -> Running:
    """A kernel of the view."""
    return start(*program_from(SQL, "join_sum", mode), {})


def native(stream: data.Stream, size: int, mode: Mode = "batch") -> tuple[float, Rows]:
    """So many events at a time from Arrow; mode "tuple" runs the triggers for single rows."""
    runs = list(stream.windows(size))
    running = started(mode)
    feed = running.feeder()
    began = time.perf_counter()
    for r in runs:
        feed(r)
    view = running.read()
    return time.perf_counter() - began, rows_of(view)


def native_rows(events: list[Event]) -> tuple[float, Rows]:
    """Single rows from Python, in the order of `PROGRAMS["join_sum"]`: L, then O."""
    running = started("tuple")
    kernel, instance = running.engine.kernel, running.engine.instance
    calls = []
    for name in PROGRAMS["join_sum"].columns:
        number = kernel.relation(name)
        calls.append({1: instance.insert_row(number), -1: instance.delete_row(number)})
    began = time.perf_counter()
    for relation, row, n in events:
        calls[relation][n](*row)
    view = running.read()
    return time.perf_counter() - began, rows_of(view)


def dicts(events: list[Event]) -> tuple[float, Rows]:
    """The program by hand."""
    began = time.perf_counter()
    view = run(PROGRAMS["join_sum"], events)()
    return time.perf_counter() - began, as_rows(view)


_STATE = """
CREATE TABLE O (oid BIGINT, g BIGINT, w BIGINT, n BIGINT);
CREATE TABLE Lsum (oid BIGINT PRIMARY KEY, price HUGEINT, n BIGINT);
CREATE TABLE V (g BIGINT PRIMARY KEY, total HUGEINT, n BIGINT);
"""
_CHANGE = """
BEGIN;
INSERT INTO O SELECT oid, g, w, n FROM newO;
INSERT INTO V
SELECT g, SUM(total), SUM(n) FROM (
  SELECT o.g, newL.n * newL.price * o.w * o.n AS total, newL.n * o.n AS n
  FROM newL JOIN O o USING (oid)
  UNION ALL
  SELECT newO.g, newO.n * newO.w * l.price, newO.n * l.n FROM newO JOIN Lsum l USING (oid)
) GROUP BY g
ON CONFLICT (g) DO UPDATE SET total = V.total + excluded.total, n = V.n + excluded.n;
INSERT INTO Lsum SELECT oid, SUM(n * price), SUM(n) FROM newL GROUP BY oid
ON CONFLICT (oid) DO UPDATE SET price = Lsum.price + excluded.price, n = Lsum.n + excluded.n;
COMMIT;
"""
"""New lines meet the new orders, new orders meet the lines before: every pair counts once."""


def duckdb_deltas(stream: data.Stream, size: int) -> tuple[float, Rows]:
    """Delta SQL by hand: L summed per oid, O as signed rows, and three statements a batch."""
    runs = list(stream.windows(size))
    nothing = {
        name: rows.slice(0, 0).append_column("n", pa.array([], pa.int64()))
        for name, rows in stream.rows.items()
    }
    db = duckdb.connect()
    db.execute("SET threads = 1")
    db.execute(_STATE)
    began = time.perf_counter()
    for windows in runs:
        change = {w.relation: w.rows.append_column("n", pa.array(w.counts)) for w in windows}
        for name in ("L", "O"):
            db.register(f"new{name}", change.get(name, nothing[name]))
        db.execute(_CHANGE)
    view = db.sql("SELECT g, total::BIGINT AS total, n FROM V WHERE n <> 0").to_arrow_table()
    return time.perf_counter() - began, rows_of(view)


def database(stream: data.Stream, size: int, **options: Any) -> tuple[float, Rows]:
    """So many events at a time through the public API, from tables of Arrow."""
    runs = [
        [
            (w.relation, *(w.rows.filter(pa.array(w.counts * sign > 0)) for sign in (1, -1)))
            for w in run
        ]
        for run in stream.windows(size)
    ]
    streams, query = SQL.rsplit("SELECT", 1)
    db = freshview.connect(**options)
    db.execute(f"{streams} CREATE VIEW v AS SELECT {query}")
    began = time.perf_counter()
    for batch in runs:
        for relation, inserted, deleted in batch:
            if len(inserted):
                db.insert(relation, inserted)
            if len(deleted):
                db.delete(relation, deleted)
    view = db.view("v").to_arrow()
    return time.perf_counter() - began, rows_of(view)


@dataclass(frozen=True)
class Timed:
    """The seconds of several runs, and the view at the end of the last."""

    seconds: list[float]
    rows: Rows


def repeated(repeat: int, measure: Callable[[], tuple[float, Rows]]) -> Timed:
    """Several runs of the same."""
    runs = [measure() for _ in range(repeat)]
    return Timed([seconds for seconds, _ in runs], runs[-1][1])


def pathway(repeat: int, stream: data.Stream) -> dict[str, Timed]:
    """The same of Pathway, if it can run."""
    runs = [run for _ in range(repeat) if (run := pathway_peer.measure(stream))]
    if len(runs) < repeat:
        return {}
    seconds = [run[pathway_peer.NAME][0] for run in runs]
    return {pathway_peer.NAME: Timed(seconds, runs[-1][pathway_peer.NAME][1])}


def main() -> None:
    """Measure, compare, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.join_sum", description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the best counts")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    parser.add_argument("--no-pathway", action="store_true", help="leave Pathway out")
    args = parser.parse_args()
    scale = 10 if args.quick else 1
    stream = data.join_sum(100_000 // scale, 1_000_000 // scale, 1000 // scale)
    events = events_of(stream, PROGRAMS["join_sum"].columns)
    gc.collect()
    gc.freeze()
    measured = {
        DEFAULTS: repeated(args.repeat, lambda: database(stream, 10_000)),
        LEAN: repeated(args.repeat, lambda: database(stream, 10_000, keep_rows=False)),
        ROWS: repeated(args.repeat, lambda: native_rows(events)),
        INSIDE: repeated(args.repeat, lambda: native(stream, 10_000, "tuple")),
        "native, batches of 1,000": repeated(args.repeat, lambda: native(stream, 1000)),
        BATCHES: repeated(args.repeat, lambda: native(stream, 10_000)),
        "native, batches of 100,000": repeated(args.repeat, lambda: native(stream, 100_000)),
        DICTS: repeated(args.repeat, lambda: dicts(events)),
        DUCKDB: repeated(args.repeat, lambda: duckdb_deltas(stream, 10_000)),
    }
    gc.unfreeze()
    if not args.no_pathway and not (args.quick and not pathway_peer.is_ready()):
        measured |= pathway(args.repeat, stream)
    rates = {name: len(stream) / min(x.seconds) for name, x in measured.items()}
    medians = {name: len(stream) / median(x.seconds) for name, x in measured.items()}
    agree = {name: x.rows == measured[DICTS].rows for name, x in measured.items()}
    show(
        f"Join and sum, {len(stream):,} events, per second of wall time",
        ("", "median", "best", "best over dicts", "same view"),
        [
            [name, medians[name], rate, times(rate / rates[DICTS]), "yes" if agree[name] else "NO"]
            for name, rate in rates.items()
        ],
    )
    for ours, theirs, bar in BARS:
        if theirs in rates:
            print(f"{ours}: {times(rates[ours] / rates[theirs])} of {theirs} (bar {bar}x)")
    figures = {"events": len(stream), "rates": rates, "medians": medians, "agree": agree}
    write("join_sum", figures)


if __name__ == "__main__":
    main()
