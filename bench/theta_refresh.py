"""A theta join kept on Spark, beside Spark that computes it anew by a bucketed equi-join.

Spark has no index for a band, but people write one as an equality: each row of one side is copied
into all the buckets of the key that it can reach, and the two sides are joined by bucket. The best
width of a bucket is found first. Both sides are measured at their final size, in one session: a
batch from columns in memory to its pairs in the driver, log and snapshots included; the equi-join
from cached tables to the end of its last stage, without the update of those tables.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.report import show
from freshview.spark.theta.join import SparkThetaJoin
from freshview.theta import Band, Source

COLUMNS = {"key": "int", "line": "int", "quantity": "int"}
WIDTHS = (1, 4, 16, 64)
"""Keys of a bucket that are tried."""
BATCHES, BATCH = 10, 10_000


def rows(count: int, keys: int, rng: Any) -> dict[str, Any]:
    """Rows with a join key below `keys`."""
    return {
        "key": rng.integers(0, keys, count),
        "line": np.arange(count),
        "quantity": rng.integers(1, 51, count),
    }


def bucketed(width: int) -> str:
    """The band of one as an equality of buckets, and the rest of the condition."""
    buckets = f"explode(sequence((key - 1) DIV {width}, (key + 1) DIV {width}))"
    return (
        f"SELECT r.*, s.line AS other FROM (SELECT *, {buckets} AS bucket FROM r) r "
        f"JOIN (SELECT *, key DIV {width} AS bucket FROM s) s "
        "ON r.bucket = s.bucket AND s.key BETWEEN r.key - 1 AND r.key + 1"
    )


def cached(spark: Any, tables: dict[str, dict[str, Any]], folder: Path) -> None:
    """The tables as Spark SQL has them: cached in memory."""
    for name, table in tables.items():
        pq.write_table(pa.table(table), folder / f"{name}.parquet")
        frame = spark.read.parquet(str(folder / f"{name}.parquet")).cache()
        frame.count()
        frame.createOrReplaceTempView(name)


def recomputing(spark: Any, repeat: int, widths: tuple[int, ...]) -> dict[int, list[float]]:
    """Seconds of computing the join anew, by the width of a bucket."""
    seconds: dict[int, list[float]] = {}
    for width in widths:
        frame = spark.sql(bucketed(width))
        seconds[width] = []
        for _ in range(repeat):
            began = time.perf_counter()
            frame.write.format("noop").mode("overwrite").save()
            seconds[width].append(time.perf_counter() - began)
    return seconds


def refresh_on_spark(count: int, spark: Any, workers: int = 2) -> float:
    """How many times as fast ten batches are as the best way to compute the join anew."""
    rng = np.random.default_rng(6)
    tables = {name: rows(count, count * 8, rng) for name in "rs"}
    sources = Source("r", COLUMNS), Source("s", COLUMNS)
    spark.conf.set("spark.sql.shuffle.partitions", str(workers))
    kept, pairs = [], 0
    options: dict[str, Any] = {"joiners": 4, "workers": workers, "scheme": "square"}
    with SparkThetaJoin(*sources, Band("key", "key", -1, 1), spark=spark, **options) as join:
        first = len(join.push(tables))
        for _ in range(BATCHES):
            batch = {name: rows(BATCH // 2, count * 8, rng) for name in "rs"}
            began = time.perf_counter()
            pairs += len(join.push(batch))
            kept.append(time.perf_counter() - began)
    with tempfile.TemporaryDirectory() as folder:
        cached(spark, tables, Path(folder))
        assert spark.sql(bucketed(WIDTHS[0])).count() == first, "the two sides disagree"
        tried = recomputing(spark, 3, WIDTHS)
        best = min(WIDTHS, key=lambda w: min(tried[w]))
        anew = recomputing(spark, BATCHES, (best,))[best]
        spark.catalog.clearCache()
    show(
        f"Ten batches of {BATCH:,} over {count:,} rows a side on Spark, seconds",
        ["", "median", "best"],
        [
            ["a batch", statistics.median(kept), min(kept)],
            [f"anew, buckets of {best}", statistics.median(anew), min(anew)],
        ],
        f"{first:,} pairs before them, {pairs:,} by them",
    )
    return statistics.median(anew) / statistics.median(kept)
