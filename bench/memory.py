"""Bytes for each live row: a kernel, a database with defaults, DuckDB, and the floor below them.

Q3 and Q18 of TPC-H, the sum and the cofactor over Retailer, at the end of a stream in which a tenth
of the rows go again. `floor` is what the maps of the program must hold: for every record its keys
and payloads in their plain widths, each text as eight bytes, no index, no room to grow, no
allocator. A live row is one of a base relation that the query reads. `no rows` is a database with
`keep_rows=False`, and `defaults` one without any option: what the process has more after the
stream than after its first window. DuckDB holds those columns of the rows that the query uses, in
memory, and computes the view when it is asked.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

import freshview as fv
from bench import data, factorized
from bench.apart import apart
from bench.queries import Running, catalog_of, program_of, start, streams_of
from bench.report import show, times, write
from bench.strategies import static_tables, stream_of
from freshview.calculus.types import Type, ring
from freshview.codegen.cpp.ring_types import RingType
from freshview.codegen.cpp.types import cpp_type
from freshview.codegen.pipeline import plan_kernel
from freshview.program.terms import Program
from freshview.sql.catalog import Catalog
from workloads import WORKLOADS

CASES = {
    "q03": ("tpch_papers", "q03"),
    "q18": ("tpch_papers", "q18"),
    "retailer sum": ("retailer", "r_units"),
    "retailer cofactor": ("retailer", ""),
}
WIDTHS = {"i8": 1, "i32": 4, "i64": 8, "i128": 16, "f64": 8, "Sym": 8}
BAR = 2.0
"""How many times the floor a kernel may take."""


def program_for(case: str) -> tuple[Program, Catalog]:
    """The program that a database would run."""
    workload, name = CASES[case]
    if name:
        return program_of(workload, name, "batch")
    catalog = catalog_of(workload)
    return factorized.by_tree(workload, factorized.lifts(workload), ring("Cofactor")), catalog


def width(t: Type) -> int:
    """The plain bytes of a value."""
    return 8 * t.width if isinstance(t, RingType) else WIDTHS[cpp_type(t)]


def floor(program: Program, catalog: Catalog, sizes: dict[str, int]) -> int:
    """The bytes of keys and payloads that the maps of a kernel hold, by their numbers of rows."""
    layout = plan_kernel(program, catalog.functions).layout
    rows: dict[str, int] = {}
    for name, place in layout.places.items():
        rows[place.table] = max(rows.get(place.table, 0), sizes.get(name, 0))
    return sum(
        n * sum(map(width, (*layout.tables[table].keys, *layout.tables[table].payloads)))
        for table, n in rows.items()
        if not layout.tables[table].transient
    )


def live_rows(stream: data.Stream) -> int:
    """How many rows are there at the end."""
    return int(sum(counts.sum() for counts in stream.counts.values()))


def private_bytes() -> int:
    """Memory that only this process has."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(1024 * int(x.split()[1]) for x in lines if x.startswith("Private_"))


def kernel_bytes(
    program: Program, catalog: Catalog, static: dict[str, pa.Table], stream: data.Stream
) -> tuple[int, int]:
    """The state of a kernel at the end of a stream, and the floor of its maps."""
    running: Running = start(program, catalog, static)
    feed = running.feeder()
    for run in stream.windows(10_000):
        feed(run)
    stats = running.engine.instance.stats()
    return stats.bytes, floor(program, catalog, dict(stats.sizes))


def database_bytes(case: str, static: dict[str, pa.Table], stream: data.Stream, **how: Any) -> int:
    """What a process has more once a database has followed a stream."""
    workload, name = CASES[case]
    db = fv.connect(**how)
    db.execute(WORKLOADS[workload].schema.read_text())
    db.execute(f"CREATE VIEW {name} AS {WORKLOADS[workload].queries()[name].read_text()}")
    for table, rows in static.items():
        db.load(table, rows)
    before = 0
    for run in stream.windows(10_000):
        for w in run:
            for change, rows in ((db.insert, w.counts > 0), (db.delete, w.counts < 0)):
                if rows.any():
                    change(w.relation, w.rows.filter(pa.array(rows)))
        if not before:
            db.view(name).to_arrow()
            before = settled_bytes()
    db.view(name).to_arrow()
    return settled_bytes() - before


def settled_bytes() -> int:
    """Memory that only this process has, once what is of no use any more is given back."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    return private_bytes()


def duck_bytes(used: dict[str, list[str]], stream: data.Stream) -> int:
    """What DuckDB's tables take in memory at the end of a stream."""
    db = duckdb.connect()
    db.execute("SET threads = 1")
    for name, columns in used.items():
        rows = _survivors(stream, name).select(columns)
        db.register("rows", rows)
        db.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
        db.unregister("rows")
    [(size,)] = db.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
    return int(size)


def _survivors(stream: data.Stream, name: str) -> pa.Table:
    """The rows of a relation that are there at the end; each as often as it is."""
    table = pa.Table.from_batches([stream.rows[name]])
    counted = table.append_column("n'", pa.array(stream.counts[name]))
    net = counted.group_by(table.column_names).aggregate([("n'", "sum")])
    return net.filter(pa.compute.greater(net["n'_sum"], 0)).select(table.column_names)


def used_columns(running: Running, names: Sequence[str]) -> dict[str, list[str]]:
    """The columns of streams that the triggers of a kernel read."""
    _, relations, *_ = running.engine.kernel.calls["describe"]()
    return {
        name: [c[0] for c in columns if c[4]] or [columns[0][0]]
        for name, columns, _ in relations
        if name in names
    }


def measure(case: str, args: argparse.Namespace) -> dict[str, float]:
    """Bytes by who holds them, and the live rows."""
    workload, _ = CASES[case]
    program, catalog = program_for(case)
    names = sorted(streams_of(program))
    static = static_tables(workload, args.scale)
    stream = stream_of(workload, args.scale, 0.1, frozenset(names))
    figures: dict[str, float] = {"rows": live_rows(stream)}
    limit = 600.0

    def ask(name: str, work: Callable[..., Any], *words: Any) -> Any:
        answer, problem = apart(work, *words, limit=limit)
        if problem:
            print(case, name, problem, file=sys.stderr)
        return answer

    if kernel := ask("kernel", kernel_bytes, program, catalog, static, stream):
        figures["kernel"], figures["floor"] = kernel
    used = used_columns(start(program, catalog, static), names)
    if duckdb_bytes := ask("DuckDB", duck_bytes, used, stream):
        figures["duckdb"] = duckdb_bytes
    if CASES[case][1]:
        lean = ask("keep_rows=False", _lean, case, static, stream)
        whole = ask("defaults", database_bytes, case, static, stream)
        figures |= {k: v for k, v in (("lean", lean), ("defaults", whole)) if v}
    return figures


def _lean(case: str, static: dict[str, pa.Table], stream: data.Stream) -> int:
    return database_bytes(case, static, stream, keep_rows=False)


HEADS = ("query", "live rows", "floor", "kernel", "over floor", "no rows", "defaults", "DuckDB")


def line(case: str, figures: dict[str, float]) -> list[object]:
    """Bytes for each live row."""
    rows = figures["rows"]
    each = {k: v / rows for k, v in figures.items() if k != "rows"}
    ratio = figures["kernel"] / figures["floor"] if "kernel" in figures else None
    names = ("lean", "defaults", "duckdb")
    return [
        case,
        rows,
        *(each.get(k) for k in ("floor", "kernel")),
        times(ratio),
        *(each.get(k) for k in names),
    ]


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1, help="of TPC-H and of Retailer")
    parser.add_argument("--only", choices=CASES)
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    args = parser.parse_args()
    if args.quick:
        args.scale /= 10
    results = {c: measure(c, args) for c in CASES if args.only in (None, c)}
    show(
        f"Bytes for each live row, scale {args.scale:g}",
        HEADS,
        [line(case, figures) for case, figures in results.items()],
        note=f"A kernel is to take {BAR:g} times the floor at most.",
    )
    write("memory", {case: {**f, "scale": args.scale} for case, f in results.items()})


if __name__ == "__main__":
    main()
