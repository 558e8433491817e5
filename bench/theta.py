"""Theta joins: the schemes side by side on Spark, loads over time, batches beside DuckDB.

Sixteen joiners on two executors of one core. TPC-H rows are of a generator of our own, with
suppliers by Zipf's law; filters of one table are pushed below the join. `storage` is that of the
fullest joiner, `moved` the bytes of migrations, `work` the seconds of the slowest partition in each
stage. Fluct-Join, weak scaling and how far skew takes
hashing are simulated by counts. Rates and longest batches are the best of three runs.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from bench.memory import private_bytes
from bench.plot import plot
from bench.report import show, write
from bench.theta_refresh import refresh_on_spark
from bench.theta_skew import LINES, SUPPLIERS, skew, zipf
from freshview.spark.start_session import start_session
from freshview.spark.theta.join import SparkThetaJoin
from freshview.theta import Band, Comparison, Policy, Sizes, Source, Static, ThetaJoin
from freshview.theta.operator.engine import EngineName
from freshview.theta.simulate.scale import fluctuating, study, weak_scaling

MASTER = "local-cluster[2,1,1024]"
JOINERS = 16
SCHEMES = ("hash", "hybrid", "square", "dynamic", "optimal")
COLUMNS = {"key": "int", "line": "int", "quantity": "int"}
DAYS = 2_526
"""Days on which items are shipped."""
SKEWS = (0.0, 0.25, 0.5, 0.75, 1.0)
LOOK_AT_KEYS = ("hash", "hybrid")
"""The schemes that skew concerns: between its ends only they are run, beside dynamic."""

ORACLE_BAR, STORAGE_BAR, SKEW_BAR, RATE_BAR, DUCK_BAR, LONGEST_BAR = 1.15, 1.25, 4.0, 1e6, 10.0, 3.0
"""What is wanted: time to the oracle's, load to the best, hash to dynamic at z = 1, tuples a CPU
second, batches to recomputing, the longest batch of a migration to the median."""

Table = dict[str, Any]


RUNS = 3
CAP = 1.3
"""The memory of a joiner, to what dynamic fills of it: there hash spills."""


@dataclass(frozen=True)
class Query:
    """A join of the thesis: its predicate, and its two inputs at a scale and a skew."""

    name: str
    on: Any
    inputs: Callable[[float, float, Any], tuple[Table, Table]]
    is_equality: bool


def lines(key: Any, rng: Any) -> Table:
    """Rows with a join key."""
    count = len(key)
    return {"key": key, "line": np.arange(count), "quantity": rng.integers(1, 51, count)}


def suppliers(share: float) -> Callable[[float, float, Any], tuple[Table, Table]]:
    """A share of the suppliers, and all line items by their supplier."""

    def inputs(scale: float, z: float, rng: Any) -> tuple[Table, Table]:
        total = max(int(SUPPLIERS * scale), 20)
        some = rng.permutation(total)[: max(int(total * share), 4)].astype(np.int64)
        return lines(some, rng), lines(zipf(int(LINES * scale), total, z, rng), rng)

    return inputs


def bands(left: float, right: float, days: bool) -> Callable[[float, float, Any], Any]:
    """Shares of the line items, by their day or by their order."""

    def inputs(scale: float, z: float, rng: Any) -> tuple[Table, Table]:
        total = int(LINES * scale)
        values = DAYS if days else total
        keys = [rng.integers(0, values, int(total * share)) for share in (left, right)]
        return lines(keys[0], rng), lines(keys[1], rng)

    return inputs


EQUAL, NEAR = Comparison("key", "=", "key"), Band("key", "key", -1, 1)
QUERIES = (
    Query("EQ5", EQUAL, suppliers(1 / 5), True),
    Query("EQ7", EQUAL, suppliers(1.0), True),
    Query("BCI", NEAR, bands(0.1 / 7, 6 / 7, True), False),
    Query("BNCI", NEAR, bands(0.04 / 7, 1 / 4, False), False),
)


def sources() -> tuple[Source, Source]:
    """Both sides."""
    return Source("r", COLUMNS), Source("s", COLUMNS)


def batches(r: Table, s: Table, count: int) -> Iterator[dict[str, Table]]:
    """Both inputs in so many pieces."""
    for k in range(count):
        both = {}
        for name, table in (("r", r), ("s", s)):
            ends = [len(table["key"]) * i // count for i in (k, k + 1)]
            both[name] = {c: v[ends[0] : ends[1]] for c, v in table.items()}
        yield both


def one_scheme(
    query: Query,
    scheme: str,
    r: Table,
    s: Table,
    count: int,
    spark: Any,
    spill_after: int | None = None,
) -> dict[str, Any]:
    """A stream through a join: what it stored, moved, and took."""
    sizes = Sizes(len(r["key"]), len(s["key"]))
    options: dict[str, Any] = {"scheme": Static(JOINERS, sizes) if scheme == "optimal" else scheme}
    options["spill_after"] = spill_after
    pairs, worst = 0, 1.0
    with SparkThetaJoin(*sources(), query.on, spark=spark, joiners=JOINERS, **options) as join:
        began = time.perf_counter()
        for number, batch in enumerate(batches(r, s, count)):
            pairs += len(join.push(batch))
            if number:
                worst = max(worst, join.metrics.load_ratio)
        seconds = time.perf_counter() - began
        work = sum(stage.seconds for v in join.stats[-count:] for stage in v.stages)
        m = join.metrics
        return {
            "scheme": scheme,
            "mapping": m.mapping,
            "storage": m.load,
            "spilled": m.spilled_bytes,
            "total": sum(m.storage.values()),
            "moved": m.moved_bytes,
            "ratio": worst,
            "seconds": seconds,
            "work": work,
            "pairs": pairs,
        }


def compare(query: Query, scale: float, z: float, count: int, spark: Any) -> list[dict[str, Any]]:
    """All schemes over one stream; they must agree on the number of pairs."""
    r, s = query.inputs(scale, z, np.random.default_rng(7))
    schemes = [x for x in SCHEMES if query.is_equality or x not in LOOK_AT_KEYS]
    if z not in (SKEWS[0], SKEWS[-1]):
        schemes = [*LOOK_AT_KEYS, "dynamic"]
    cells = [one_scheme(query, x, r, s, count, spark) for x in schemes]
    assert len({c["pairs"] for c in cells}) == 1, f"{query.name}: the schemes disagree"
    names = ["scheme", "mapping", "storage", "total", "moved", "ratio", "seconds", "work"]
    rows = [[c[n] for n in names] for c in cells]
    title = f"{query.name}, z = {z:g}: {len(r['key']):,} rows with {len(s['key']):,}"
    show(title, names, rows, f"{cells[0]['pairs']:,} pairs")
    by_name = {c["scheme"]: c for c in cells}
    dynamic = by_name["dynamic"]
    if "optimal" in by_name:
        oracle = by_name["optimal"]
        bar("dynamic, storage to the oracle's", dynamic["storage"] / oracle["storage"], STORAGE_BAR)
        bar("dynamic, work to the oracle's", dynamic["work"] / oracle["work"], ORACLE_BAR)
    if "hash" in by_name and z >= 1:
        hashed = by_name["hash"]
        bar("hash, storage to dynamic's", hashed["storage"] / dynamic["storage"], -SKEW_BAR)
        bar("hash, work to dynamic's", hashed["work"] / dynamic["work"], -SKEW_BAR)
        cap = int(CAP * dynamic["storage"])
        capped = {x: one_scheme(query, x, r, s, count, spark, cap) for x in ("hash", "dynamic")}
        spilled = " and ".join(f"{x} spills {c['spilled']:,} bytes" for x, c in capped.items())
        print(f"  with {cap:,} bytes a joiner in memory {spilled}")
        ratio = capped["hash"]["seconds"] / capped["dynamic"]["seconds"]
        bar("hash that spills, seconds to dynamic's", ratio, -SKEW_BAR)
    if "hash" in by_name and not z:
        bar("hybrid, work to hash's", by_name["hybrid"]["work"] / by_name["hash"]["work"], 1.2)
    return [{"query": query.name, "z": z, **c} for c in cells]


def bar(what: str, value: float, wanted: float) -> None:
    """A number beside what is wanted: at most that, or at least if it is below zero."""
    is_met = value <= wanted if wanted > 0 else value >= -wanted
    limit = f"at {'most' if wanted > 0 else 'least'} {abs(wanted):g}"
    print(f"  {what}: {value:.3g}, wanted {limit}: {'met' if is_met else 'MISSED'}")


def fluctuations() -> dict[str, float]:
    """Fluct-Join on 64 joiners: the load to its optimum over time."""
    results, curves = {}, {}
    for k in (2, 4, 6, 8):
        one = study(64, fluctuating(8e6, k), Policy(warm_up=500_000))
        curves[f"k = {k}"] = [(p.sizes.total, p.ratio) for p in one.points[::25]]
        results[f"k = {k}"] = one.worst
    where = plot("theta_fluctuations", "load to its optimum", "tuples", curves)
    show("Fluct-Join, 64 joiners, 8 M tuples", ["skew", "worst"], results.items(), where)
    bar("the worst load to its optimum", max(results.values()), STORAGE_BAR)
    return results


def scaling() -> list[dict[str, Any]]:
    """The same input a joiner, on more and more joiners."""
    counts = [16 << 2 * k for k in range(5)]
    studies = weak_scaling(Sizes(1_000, 60_000), counts)
    cells = [
        {"joiners": s.joiners, "load": s.last.load, "ratio": s.worst, "mapping": s.last.mapping}
        for s in studies
    ]
    names = ["joiners", "mapping", "load", "ratio"]
    show(
        "weak scaling, by counts",
        names,
        [[str(c["joiners"]), *map(c.get, names[1:])] for c in cells],
    )
    return cells


def rates(rows: int) -> dict[str, float]:
    """One process: tuples a CPU second, where few pairs come out, and bytes a stored tuple."""
    rng, results = np.random.default_rng(3), {}
    for name, on, low in (
        ("band", NEAR, 0),
        ("inequality", Comparison("key", ">=", "key"), rows * 64 - 4_000),
    ):
        r = lines(rng.integers(0, rows * 64, rows), rng)
        s = lines(low + rng.integers(0, rows * 64, rows), rng)
        for way, feed in (("in batches", in_batches), ("row by row", row_by_row)):
            rate = 0.0
            for _ in range(RUNS):
                join = ThetaJoin(*sources(), on, joiners=4, engine="native")
                join.push({})  # its local joins are compiled
                before = private_bytes()
                rate = max(rate, 2 * rows / feed(join, r, s))
                stored = sum(join.metrics.storage.values()) / (8 * len(COLUMNS))
                size = (private_bytes() - before) / stored
                pairs = join.metrics.pairs
                del join
            results |= {f"{name} {way}": rate, f"{name} {way}, bytes": size}
            print(f"\n{name} {way}, {rows:,} rows a side, one process: {pairs:,} pairs")
            print(f"  memory: {size:.0f} bytes a stored tuple of {len(COLUMNS)} integers")
            bar("tuples a CPU second", rate, -RATE_BAR)
    return results


def in_batches(join: ThetaJoin, r: Table, s: Table) -> float:
    """CPU seconds of 10,000 rows a side at a time."""
    began = time.process_time()
    for batch in batches(r, s, max(len(r["key"]) // 10_000, 1)):
        join.push(batch)
    return time.process_time() - began


def row_by_row(join: ThetaJoin, r: Table, s: Table) -> float:
    """CPU seconds of single rows, of both sides in turn; each gives its pairs."""
    both = [list(zip(*(v.tolist() for v in t.values()), strict=True)) for t in (r, s)]
    insert_r, insert_s = join.writer("r").insert, join.writer("s").insert
    began = time.process_time()
    for one, other in zip(*both, strict=True):
        insert_r(*one)
        insert_s(*other)
    return time.process_time() - began


def refresh(rows: int) -> dict[str, float]:
    """One process: batches of 10,000 over a band join, beside DuckDB that computes it anew."""
    rng = np.random.default_rng(4)
    join = ThetaJoin(*sources(), NEAR, joiners=4, scheme="square")
    tables = {n: lines(rng.integers(0, rows * 8, rows), rng) for n in "rs"}
    join.push(tables)
    seconds, recomputing = [], []
    with duckdb.connect() as db:
        for name, table in tables.items():
            db.execute("SET threads = 1")
            db.register("rows", pa.table(table))
            db.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
        for _ in range(10):
            batch = {n: lines(rng.integers(0, rows * 8, 5_000), rng) for n in "rs"}
            began = time.perf_counter()
            join.push(batch)
            seconds.append(time.perf_counter() - began)
        for _ in range(3):
            began = time.perf_counter()
            db.execute(
                "CREATE OR REPLACE TABLE pairs AS SELECT r.*, s.line AS other FROM r, s "
                "WHERE s.key BETWEEN r.key - 1 AND r.key + 1"
            )
            recomputing.append(time.perf_counter() - began)
    ratio = min(recomputing) / statistics.median(seconds)
    print(f"\na batch of 10,000 over {rows:,} rows a side: {statistics.median(seconds):.4f} s")
    bar("DuckDB's recomputation to it", ratio, -DUCK_BAR)
    return {"seconds": statistics.median(seconds), "ratio": ratio}


def longest(rows: int) -> dict[str, float]:
    """The longest batch of a migration: before C++ is compiled, and as a user gets it."""
    engines: tuple[EngineName, ...] = ("numpy", "auto")
    ratios: dict[str, float] = {}
    for engine in engines:
        ratios[engine] = min(longest_of(rows, engine) for _ in range(RUNS))
        print(f"\nbatches of a hundredth of {rows:,} rows while state moves, engine {engine}")
        bar("the longest of them to the median batch", ratios[engine], LONGEST_BAR)
    return ratios


def longest_of(rows: int, engine: EngineName) -> float:
    """One process: the longest batch of a migration beside the median batch."""
    rng = np.random.default_rng(5)
    join = ThetaJoin(*sources(), NEAR, joiners=JOINERS, engine=engine)
    seconds: dict[bool, list[float]] = {True: [], False: []}
    small = lines(rng.integers(0, rows * 8, rows // 16), rng)
    join.push({"r": small})
    for batch in batches(small, lines(rng.integers(0, rows * 8, rows), rng), 100):
        began = time.process_time()
        join.push({"s": batch["s"]})
        spent = time.process_time() - began
        seconds[join.is_migrating].append(spent)
    if not seconds[True]:
        return 0.0
    return max(seconds[True]) / statistics.median(seconds[True] + seconds[False])


def main() -> None:
    """All of it, or a first look."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small data, two joins")
    parser.add_argument("--scale", type=float, default=1.0, help="of TPC-H")
    parser.add_argument("--only", choices=["spark", "process", "simulated"])
    args = parser.parse_args()
    results: dict[str, Any] = {}
    if args.only in (None, "simulated"):
        results |= {"fluctuations": fluctuations(), "scaling": scaling(), "skew": skew()}
    if args.only in (None, "process"):
        rows = 100_000 if args.quick else 1_000_000
        results |= {"rates": rates(rows), "refresh": refresh(rows), "longest": longest(rows)}
    if args.only in (None, "spark"):
        spark = start_session(MASTER)
        cells: list[dict[str, Any]] = []
        for query in QUERIES:
            if args.quick and query.name in ("EQ7", "BCI"):
                continue
            skews = SKEWS if query.is_equality else SKEWS[:1]
            for z in skews[-1:] if args.quick else skews:
                scale = 0.01 if args.quick else args.scale * (0.1 if query.name == "BCI" else 1)
                cells += compare(query, scale, z, 3 if args.quick else 20, spark)
        results["schemes"] = cells
        results["refresh_on_spark"] = refresh_on_spark(20_000 if args.quick else 1_000_000, spark)
        bar("Spark's bucketed equi-join to a batch", results["refresh_on_spark"], -DUCK_BAR)
        spark.stop()
    write("theta", results)


if __name__ == "__main__":
    main()
