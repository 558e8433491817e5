"""The pipeline on Spark beside Spark SQL, and beside Spark's own streaming aggregation.

TPC-H rows are loaded up to a base (6 M lines at scale factor 1), then batches of 100,000 events
come, a tenth of them deletions. All run in one session on the same cores:

- Freshview applies a batch and reads the view. Batches are also measured when half of the base is
  there: the time of a batch should not follow the data.
- Spark SQL runs the query on cached tables and reads the result. What it would take to bring those
  tables up to date is not counted.
- Spark's streaming aggregation, for the queries that it can express, gets the same number of rows a
  batch, all of them insertions, from files; its state begins empty.
- Jobs of empty stages, in turns with batches of ten rows, tell what Spark itself takes.
- A first load is given as one, and as batches, in turns.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench import data
from bench.queries import catalog_of, program_of, static_of, streams_of
from bench.report import geometric_mean, show, times, write
from freshview.distributed.compile import distribute
from freshview.distributed.options import DistributionOptions
from freshview.pipelines.flow import Flow
from freshview.plan.compile import compile_queries
from freshview.plan.options import PlanOptions
from freshview.runtime.ingest.columns import COUNT
from freshview.spark.start_session import start_session
from freshview.sql.load import load
from workloads import WORKLOADS

QUERIES = ("q01", "q03", "q06", "q12", "q17", "q18")
BARS = {"q03": 10, "q17": 10, "q18": 10}
"""The ratio that is wanted at least; the others must not be slower, the mean is to be 8."""

STREAMED = ("q01", "q06")
"""What Spark's streaming can aggregate. It refuses the others: they join streams, or aggregate what
was aggregated, and their results change with every batch."""

JVM = "-XX:+UseParallelGC"
"""Our sessions start fast, with the first compiler only; here Spark SQL is to run at its best."""


def counted(run: list[data.Window]) -> dict[str, pa.Table]:
    """A run of windows as a batch."""
    return {
        w.relation: pa.Table.from_batches([w.rows]).append_column(COUNT, pa.array(w.counts))
        for w in run
    }


def flow_of(name: str, spark: Any, workers: int, tables: dict[str, pa.Table], folder: str) -> Flow:
    """A flow of a query with its static tables, as a pipeline makes it."""
    path = WORKLOADS["tpch"].queries()[name]
    catalog, queries = load(path.read_text(), str(path), catalog_of("tpch"), default_name=name)
    relations = list(catalog.relations.values())
    [query] = [q for q in queries if q.name == name]
    options = PlanOptions(mode="batch", caches=False)
    program = compile_queries([query], relations, options, catalog.functions)
    static = {n: tables[n] for n in static_of("tpch") if n in {r.name for r in program.relations}}
    spread = DistributionOptions(workers=workers, deliver=True)
    distributed = distribute(program, options=spread, functions=catalog.functions)
    return Flow.start(
        distributed,
        spark,
        workers=workers,
        checkpoint=folder,
        tables=static,
        functions=catalog.functions,
    )


def streams(name: str) -> set[str]:
    """The relations whose changes a query waits for."""
    return streams_of(program_of("tpch", name, "batch", "higher-order")[0])


def stream_of(name: str, tables: dict[str, pa.Table]) -> data.Stream:
    """The events that a query waits for."""
    return data.interleave({n: tables[n] for n in sorted(streams(name))}, 0.1)


def empty_job(spark: Any, workers: int, shuffles: int) -> float:
    """Seconds that a job of as many shuffles takes which moves nothing."""
    began = time.perf_counter()
    rdd = spark.sparkContext.parallelize(range(workers), workers).map(lambda i: (i, b""))
    for _ in range(shuffles):
        rdd = rdd.partitionBy(workers, lambda i: i).mapPartitions(list)
    rdd.collect()
    return time.perf_counter() - began


def floors(
    flow: Flow, runs: Iterable[list[data.Window]], spark: Any, shuffles: int
) -> dict[str, list[float]]:
    """Seconds of small batches, and of empty jobs in turns with them: both find Spark as warm.

    Nobody reads the view in between: what it takes to read it along is not the batch's.
    """
    small, empty = [], []
    for batch in [counted(run) for run in runs]:
        began = time.perf_counter()
        flow.apply(batch)
        small.append(time.perf_counter() - began)
        empty.append(empty_job(spark, flow.work.workers, shuffles))
    return {"small": small, "empty": empty}


def timed(flow: Flow, name: str, runs: Iterable[list[data.Window]]) -> dict[str, Any]:
    """Batches one after the other, the view read after each: what they took, in seconds."""
    applied, read = [], []
    for run in runs:
        batch = counted(run)
        t0 = time.perf_counter()
        flow.apply(batch)
        t1 = time.perf_counter()
        view = flow.read(name)
        applied.append(t1 - t0)
        read.append(time.perf_counter() - t1)
    stats = flow.stats[-len(applied) :]
    return {
        "apply": applied,
        "read": read,
        "rows": view.num_rows,
        "native": [sum(s.native for s in b.stages) for b in stats],
        "arrow": [b.intake + sum(s.arrow for s in b.stages) for b in stats],
        "files": [b.written + sum(s.seconds - s.native - s.arrow for s in b.stages) for b in stats],
        "scheduling": [b.scheduling for b in stats],
        "sent": [b.shuffled for b in stats],
        "state": stats[-1].state,
        "shuffles": len(stats[-1].stages) - stats[-1].jobs,
    }


def measure(name: str, spark: Any, tables: dict[str, pa.Table], args: Any) -> dict[str, Any]:
    """The times of one query on both sides."""
    stream = stream_of(name, tables)
    stop = len(stream) - args.batch * (args.batches + 1)
    half = stop // 2
    folder = tempfile.mkdtemp(prefix="freshview-bench-")
    with flow_of(name, spark, args.workers, tables, folder) as flow:
        began = time.perf_counter()
        for run in stream.windows(args.load, 0, half):
            flow.apply(counted(run))
        load = time.perf_counter() - began
        measured = half + args.batch * args.batches
        at_half = timed(flow, name, stream.windows(args.batch, half, measured))
        began = time.perf_counter()
        for run in stream.windows(args.load, measured, stop):
            flow.apply(counted(run))
        load += time.perf_counter() - began
        end = stop + args.batch * args.batches
        figures = timed(flow, name, stream.windows(args.batch, stop, end))
        tens = stream.windows(10, end, end + 60 * args.batches)
        figures |= floors(flow, tens, spark, figures["shuffles"])
        figures |= {"events": stop, "load": load, "half": at_half}
    shutil.rmtree(folder, ignore_errors=True)
    sql = sql_of(name)
    recomputed = []
    for n in range(args.batches + 2):
        began = time.perf_counter()
        spark.sql(sql).toArrow()
        if n >= 2:  # the JVM compiles at first
            recomputed.append(time.perf_counter() - began)
    figures["recompute"] = recomputed
    return figures


def sql_of(name: str) -> str:
    """The text of a query."""
    return WORKLOADS["tpch"].queries()[name].read_text().rstrip().rstrip(";")


def cache(spark: Any, tables: dict[str, pa.Table]) -> None:
    """The tables as Spark SQL has them: cached in memory."""
    for name, table in tables.items():
        path = data.BUILD / f"spark-{name}.parquet"
        pq.write_table(table, path)
        frame = spark.read.parquet(str(path)).cache()
        frame.count()
        frame.createOrReplaceTempView(name)


def streamed(name: str, spark: Any, tables: dict[str, pa.Table], args: Any) -> list[float]:
    """Seconds of the batches of Spark's own streaming aggregation, its result read after each."""
    folder = Path(tempfile.mkdtemp(prefix="freshview-bench-"))
    lines = tables["lineitem"]
    (folder / "in").mkdir()
    for n in range(args.batches + 2):
        pq.write_table(lines.slice(n * args.batch, args.batch), folder / "in" / f"{n:04}.parquet")
    spark.conf.set("spark.sql.shuffle.partitions", str(args.workers))
    schema = spark.read.parquet(str(folder / "in")).schema
    source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    source.parquet(str(folder / "in")).createOrReplaceTempView("lineitem_stream")
    plain = sql_of(name).lower().split("order by")[0].replace("lineitem", "lineitem_stream")
    query = (
        spark.sql(plain)
        .writeStream.outputMode("complete")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .foreachBatch(lambda frame, _: frame.toArrow() and None)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    durations = [
        p.durationMs["triggerExecution"] / 1e3 for p in query.recentProgress if p.numInputRows
    ]
    shutil.rmtree(folder, ignore_errors=True)
    return durations[2:]


def first_load(name: str, spark: Any, tables: dict[str, pa.Table], args: Any) -> dict[str, Any]:
    """Seconds of a first load of so many rows, as one and as batches, in turns.

    Both ways are gone a tenth of the way first, so that neither finds Spark colder than the other.
    """
    stream = stream_of(name, tables)
    rows = min(args.first, len(stream))
    times: dict[str, Any] = {"rows": rows, "load": [], "batches": []}
    for turn in range(REPEAT + 1):
        for way in ("load", "batches"):
            folder = tempfile.mkdtemp(prefix="freshview-bench-")
            with flow_of(name, spark, args.workers, tables, folder) as flow:
                seconds = _loaded(flow, name, way, stream, rows if turn else rows // 10, args.batch)
            shutil.rmtree(folder, ignore_errors=True)
            if turn:
                times[way].append(seconds)
    return times


def _loaded(flow: Flow, name: str, way: str, stream: data.Stream, rows: int, batch: int) -> float:
    """Seconds of one way until the view is read."""
    size = rows if way == "load" else batch
    batches = [counted(run) for run in stream.windows(size, 0, rows)]
    os.sync()  # what was written before is not written while the clock runs
    began = time.perf_counter()
    for changes in batches:
        (flow.load if way == "load" else flow.apply)(changes)
    flow.read(name)
    return time.perf_counter() - began


def milliseconds(*seconds: float) -> list[str]:
    """Seconds as cells."""
    return [f"{s * 1e3:.0f}" for s in seconds]


def show_ratios(results: dict[str, Any], args: Any) -> None:
    """Beside Spark SQL, and what the time of a batch went into."""
    lines: list[list[object]] = []
    ratios = []
    for name, figures in results.items():
        m = {k: statistics.median(v) for k, v in figures.items() if isinstance(v, list)}
        ratio = m["recompute"] / (m["apply"] + m["read"])
        ratios.append(ratio)
        cells = milliseconds(m["apply"], m["read"], m["recompute"])
        split = milliseconds(m["native"], m["arrow"], m["files"], m["scheduling"])
        sent = f"{m['sent'] / 1e6:.2f}"
        lines.append([name, *cells, times(ratio), f"{BARS.get(name, 1)}x", *split, sent])
    lines.append(["mean", *["-"] * 3, times(geometric_mean(ratios)), "8x", *["-"] * 5])
    show(
        f"Milliseconds per batch of {args.batch:,} events, TPC-H SF {args.scale:g}",
        (
            *("query", "apply", "read", "Spark SQL", "ratio", "bar"),
            *("native", "Arrow", "files", "scheduling", "MB sent"),
        ),
        lines,
    )


def show_growth(results: dict[str, Any]) -> None:
    """Half the base beside all of it; small batches beside an empty job."""
    lines: list[list[object]] = []
    for name, figures in results.items():
        before, now = (
            statistics.median(map(sum, zip(f["apply"], f["read"], strict=True)))
            for f in (figures["half"], figures)
        )
        small, empty = (statistics.median(figures[k]) for k in ("small", "empty"))
        cells = milliseconds(before, now)
        change = f"{100 * (now / before - 1):+.0f}%"
        floor = milliseconds(small, empty)
        state = f"{figures['state'] / 1e6:.0f}"
        lines.append([name, *cells, change, *floor, times(small / empty), state])
    show(
        "Milliseconds per batch with half the base and with all of it (bar: less than 20% more),"
        " and of ten rows beside an empty job (bar: 1.5x)",
        ("query", "half", "all", "change", "ten rows", "empty job", "ratio", "MB of state"),
        lines,
    )


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.spark", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="TPC-H's scale factor")
    parser.add_argument("--batch", type=int, default=100_000, help="events of a batch")
    parser.add_argument("--batches", type=int, default=9, help="batches that are measured")
    parser.add_argument("--load", type=int, default=1_000_000, help="events of a batch of the base")
    parser.add_argument("--first", type=int, default=10_000_000, help="rows of a first load")
    parser.add_argument("--workers", type=int, default=2, help="partitions of the state")
    parser.add_argument(
        "--queries",
        type=lambda t: [q for q in t.split(",") if q],
        default=QUERIES,
        help="only these; '' for the first load alone",
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    args = parser.parse_args()
    if args.quick:
        args.scale, args.batch, args.load = args.scale / 10, args.batch // 10, args.load // 10
        args.first //= 10
    relations = list(catalog_of("tpch").relations.values())
    tables = data.tpch(args.scale, relations)
    settings = {"spark.driver.memory": "4g", "spark.driver.extraJavaOptions": JVM}
    spark = start_session(f"local[{args.workers}]", settings=settings)
    read = static_of("tpch").union(*(streams(q) for q in args.queries))
    cache(spark, {name: table for name, table in tables.items() if name in read})
    results: dict[str, Any] = {}
    for name in args.queries:
        figures = results[name] = measure(name, spark, tables, args)
        ours, theirs = (statistics.median(figures[k]) for k in ("apply", "recompute"))
        print(f"{name}: {ours:.3f} s a batch, recomputed in {theirs:.3f} s", flush=True)
        write("spark", results)
    if results:
        show_ratios(results, args)
        show_growth(results)
    lines: list[list[object]] = []
    for name in (n for n in STREAMED if n in results):
        figures = results[name]
        figures["streamed"] = streamed(name, spark, tables, args)
        ours, theirs = (statistics.median(figures[k]) for k in ("apply", "streamed"))
        lines.append([name, *milliseconds(ours, theirs), times(theirs / ours), "5x"])
    if lines:
        columns = ("query", "apply", "streaming", "ratio", "bar")
        show("Milliseconds per batch beside Spark's streaming aggregation", columns, lines)
    spark.catalog.clearCache()
    if args.first:
        larger = data.tpch(args.scale * 1.25, relations)
        figures = results["first load"] = first_load(FIRST, spark, larger, args)
        fastest = [min(figures[k]) for k in ("load", "batches")]
        ratio = times(fastest[1] / fastest[0])
        columns = ("query", "rows", "as a load", f"as batches of {args.batch:,}", "ratio", "bar")
        row = [FIRST, f"{figures['rows']:,.0f}", *(f"{s:.2f}" for s in fastest), ratio, "5x"]
        show(f"Seconds of a first load, the best of {REPEAT}", columns, [row])
    write("spark", results)


FIRST = "q03"
"""The query of the first load."""

REPEAT = 5
"""How often the first load is measured in each way."""


if __name__ == "__main__":
    main()
