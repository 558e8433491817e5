"""Each TPC-H query after every batch of 1,000 rows: maintained, or recomputed by DuckDB.

The database holds 1 M rows in all; a batch changes the relations that the query reads, and about
a tenth of it are deletions. Both sides run on one thread and end with the view as an Arrow table.
DuckDB's time is given without and with the update of its tables. Median wall time of the batches;
the last ratio is that of the best batch on each side.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from bench import data
from bench.apart import apart
from bench.queries import STRATEGIES, catalog_of, program_of, start, static_of, streams_of
from bench.report import geometric_mean, rows_of, same, show, times, write
from freshview.calculus.schema import Relation
from tests.differential.duck import translate
from tests.differential.harness import split
from workloads import WORKLOADS

ROWS = 1_000_000
ROWS_PER_SCALE = 8_660_000
"""Rows of all the streams of TPC-H at scale factor 1."""


class Duck:
    """DuckDB with the tables that a query reads."""

    def __init__(self, relations: Sequence[Relation], name: str) -> None:
        self.db = duckdb.connect()
        self.db.execute("SET threads = 1")
        self.key = {r.name: r.key for r in relations}
        for r in relations:
            columns = ", ".join(f"{f.name} {_sql_type(f.type)}" for f in data.arrow_schema(r))
            self.db.execute(f"CREATE TABLE {r.name} ({columns})")
        views, sql = split(WORKLOADS["tpch"].queries()[name].read_text())
        for view, columns, text in views:
            names = f" ({', '.join(columns)})" if columns else ""
            self.db.execute(f"CREATE VIEW {view}{names} AS {translate(text)}")
        self.sql = translate(sql)

    def insert(self, name: str, rows: pa.RecordBatch | pa.Table) -> None:
        """More rows."""
        self.db.register("change", rows)
        self.db.execute(f"INSERT INTO {name} SELECT * FROM change")

    def delete(self, name: str, rows: pa.RecordBatch) -> None:
        """Rows less, found by their key."""
        self.db.register("change", rows)
        equal = " AND ".join(f"{name}.{c} = change.{c}" for c in self.key[name])
        self.db.execute(f"DELETE FROM {name} USING change WHERE {equal}")

    def apply(self, windows: Sequence[data.Window]) -> None:
        """One batch in one transaction; a row that comes and goes again in it is not seen."""
        self.db.execute("BEGIN")
        for w in windows:
            self.insert(w.relation, w.rows.filter(pa.array(w.counts > 0)))
            self.delete(w.relation, w.rows.filter(pa.array(w.counts < 0)))
        self.db.execute("COMMIT")

    def read(self) -> pa.Table:
        """The view from scratch."""
        return self.db.sql(self.sql).to_arrow_table()


def _sql_type(t: pa.DataType) -> str:
    if pa.types.is_decimal(t):
        return f"DECIMAL({t.precision}, {t.scale})"
    return {"int64": "BIGINT", "date32[day]": "DATE", "string": "VARCHAR"}[str(t)]


def survivors(stream: data.Stream, name: str, stop: int) -> pa.RecordBatch:
    """The rows of a relation that are there after the first events of a stream."""
    n = int(np.searchsorted(stream.at[name], stop))
    rows, counts = stream.rows[name].slice(0, n), stream.counts[name][:n]
    key = _keys(rows, catalog_of("tpch").relations[name].key)
    gone = key[counts < 0]
    return rows.filter(pa.array((counts > 0) & ~np.isin(key, gone)))


def _keys(rows: pa.RecordBatch, key: Sequence[str]) -> np.ndarray:
    """The key of each row as one number; the second column of a TPC-H key is below 2**24."""
    first, *rest = (rows.column(c).to_numpy() for c in key)
    return first * 2**24 + rest[0] if rest else first


def measure(name: str, tables: dict[str, pa.Table], args: argparse.Namespace) -> dict[str, Any]:
    """The times of one query on both sides, and whether they end in the same view."""
    program, catalog = program_of("tpch", name, "batch", args.strategy)
    static = {n: tables[n] for n in static_of("tpch")}
    names = sorted(streams_of(program))
    stream = data.interleave({n: tables[n] for n in names}, 0.1)
    stop = len(stream) - 1000 * args.batches
    runs = list(stream.windows(1000, stop))
    running = start(program, catalog, static)
    feed = running.feeder()
    began = time.perf_counter()
    for run in stream.windows(10_000, 0, stop):
        feed(run)
    figures: dict[str, Any] = {"load": time.perf_counter() - began, "events": stop}
    duck = Duck(list(catalog_of("tpch").relations.values()), name)
    for n, table in static.items():
        duck.insert(n, table)
    base = {n: survivors(stream, n, stop) for n in names}
    figures["base"] = {n: len(rows) for n, rows in base.items()}
    for n, rows in base.items():
        duck.insert(n, rows)
    # One side after the other: in turns, each would find the caches full of the other's data.
    ours, updates, reads = [], [], []
    for run in runs:
        t0 = time.perf_counter()
        feed(run)
        view = running.read()
        ours.append(time.perf_counter() - t0)
        if sum(ours) > args.limit:
            break
    for run in runs[: len(ours)]:
        t0 = time.perf_counter()
        duck.apply(run)
        t1 = time.perf_counter()
        expected = duck.read()
        updates.append(t1 - t0)
        reads.append(time.perf_counter() - t1)
    figures |= {"native": ours, "update": updates, "recompute": reads, "rows": view.num_rows}
    figures["agree"] = same(rows_of(view), rows_of(expected))
    return figures


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.versus_duckdb", description=__doc__)
    parser.add_argument("--batches", type=int, default=20, help="batches of 1,000 rows measured")
    parser.add_argument("--queries", type=lambda t: t.split(","), help="only these: q01,q15")
    parser.add_argument(
        "--limit", type=float, default=10, help="seconds for the batches of a query"
    )
    parser.add_argument("--strategy", choices=[*STRATEGIES, "auto"], default="auto")
    parser.add_argument("--quick", action="store_true", help="100,000 rows, 5 batches")
    args = parser.parse_args()
    rows = ROWS // 10 if args.quick else ROWS
    if args.quick:
        args.batches = 5
    # A tenth of the rows are gone at the end, and the batches come after the base data.
    tables = data.tpch(
        round(rows / 0.9 / ROWS_PER_SCALE, 4), list(catalog_of("tpch").relations.values())
    )
    results: dict[str, Any] = {}
    for name in WORKLOADS["tpch"].queries():
        if not args.queries or name in args.queries:
            figures, problem = apart(measure, name, tables, args, limit=120)
            results[name] = figures or {"problem": problem}
            print(name, problem or "done", file=sys.stderr, flush=True)
    lines, ratios = [], []
    for name, figures in results.items():
        if "problem" in figures:
            lines.append([name])
            continue
        ours, update, read = (
            1000 * statistics.median(figures[k]) for k in ("native", "update", "recompute")
        )
        fastest = min(figures["recompute"]) / min(figures["native"])
        ratios.append((read / ours, (read + update) / ours, fastest))
        agree = "yes" if figures["agree"] else "NO"
        lines.append([name, ours, read, update + read, *map(times, ratios[-1]), agree])
    if ratios:
        means = [times(geometric_mean(r)) for r in zip(*ratios, strict=True)]
        lines.append(["geometric mean", None, None, None, *means, ""])
    show(
        f"Milliseconds per batch of 1,000 rows, {rows:,} rows of base data",
        ("query", "native", "DuckDB", "with update", "ratio", "with update", "best", "same view"),
        lines,
        note="bar: every query above 1x, geometric mean at least 50x",
    )
    write("versus_duckdb", results)


if __name__ == "__main__":
    main()
