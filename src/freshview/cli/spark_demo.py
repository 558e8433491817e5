"""`freshview demo`: an order book through the pipeline on Spark, beside Spark SQL on it."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from freshview.cli.demo import SCRIPT, TITLES, rounded
from freshview.cli.orderbook import Event, events
from freshview.cli.tables import drawn, word
from freshview.errors import FreshviewError
from freshview.runtime.ingest.columns import COUNT

if TYPE_CHECKING:
    import pyarrow as pa

    from freshview.pipelines.pipeline import Pipeline

BROKERS = 5

PATIENCE = 10.0
"""Seconds after which a view is not recomputed once more for a better time."""

AGAIN = {
    # Spark SQL has no correlated subquery with an inequality: windows say the same, and faster.
    "vwap": """
        SELECT CAST(SUM(price * volume) AS DOUBLE) / SUM(volume) AS vwap, SUM(volume) AS volume
        FROM (
          SELECT price, volume, SUM(volume) OVER () AS whole,
            SUM(volume) OVER (ORDER BY price DESC RANGE UNBOUNDED PRECEDING)
              - SUM(volume) OVER (PARTITION BY price) AS above
          FROM bids)
        WHERE 0.25 * whole > above""",
    "spread": """
        SELECT b.broker, COUNT(*) AS pairs, AVG(CAST(a.price - b.price AS DOUBLE)) AS spread
        FROM bids b, asks a WHERE b.broker = a.broker GROUP BY b.broker ORDER BY b.broker""",
}


def run_on_spark(
    count: int, batches: int, seed: int, console: Console, master: str = "local[*]"
) -> None:
    """Open a book, change it `batches` times, show the views, and recompute them at the end."""
    from freshview.pipelines.open import pipeline
    from freshview.spark.session import active, session

    book = list(events(count, seed, brokers=BROKERS, depth=max(10, count // 3)))
    opening, rest = book[: count * 3 // 4], book[count * 3 // 4 :]
    size = max(1, math.ceil(len(rest) / batches))
    parts = [rest[i : i + size] for i in range(0, len(rest), size)]
    console.out(
        f"{count:,} orders come or go in a made-up book (seed {seed}); two views follow on Spark.",
        highlight=False,
    )
    with tempfile.TemporaryDirectory(prefix="freshview-demo-") as folder:
        own = active() is None
        # Spark SQL gets a JVM that compiles as well as it can; ours needs it less.
        whole = {"spark.driver.extraJavaOptions": "", "spark.sql.shuffle.partitions": "4"}
        spark = session(master, settings=whole, log=Path(folder) / "spark.log")
        flow = pipeline(SCRIPT, spark)
        try:
            flow.start()
            flow.push(_batch(opening))
            _say(console, f"the book opens with {_open(opening):,} orders, loaded in one batch")
            seconds = [s for _, s in _shown(flow, parts, console)]
            _compare(flow, book, seconds, size, console)
        finally:
            flow.stop()
            if own:
                spark.stop()


def _batch(part: Sequence[Event]) -> dict[str, pa.Table]:
    """Events as Arrow tables with counts, one a side."""
    import pyarrow as pa

    names = ("t", "id", "broker", "volume", "price")
    tables = {}
    for side in ("bids", "asks"):
        mine = [e for e in part if e.side == side]
        columns = zip(*(e.row for e in mine), strict=True) if mine else ([] for _ in names)
        arrays = {n: pa.array(c) for n, c in zip(names, columns, strict=True)}
        if mine:
            tables[side] = pa.table({**arrays, COUNT: [e.multiplicity for e in mine]})
    return tables


def _open(part: Sequence[Event]) -> int:
    return sum(e.multiplicity for e in part)


def _shown(
    flow: Pipeline, parts: Sequence[Sequence[Event]], console: Console
) -> Iterator[tuple[int, float]]:
    """Apply the batches, show the views after each, and tell what each took."""
    with _screen(console) as draw:
        for part in parts:
            batch = _batch(part)
            began = time.perf_counter()
            version = flow.push(batch)
            seconds = time.perf_counter() - began
            draw(flow, version, len(part), seconds)
            yield version, seconds


@contextmanager
def _screen(console: Console) -> Iterator[Callable[..., None]]:
    if not console.is_terminal:
        yield lambda *progress: _say(console, _line(*progress))
        return
    with Live(console=console, refresh_per_second=12) as live:
        yield lambda *progress: live.update(_picture(*progress))


def _picture(flow: Pipeline, version: int, count: int, seconds: float) -> RenderableType:
    parts: list[RenderableType] = [
        Text(f"version {version}: {count:,} orders came or went, {1000 * seconds:.0f} ms")
    ]
    for view in flow.views:
        parts += [Text(f"\n{TITLES[view.name]}"), drawn(view.schema, map(rounded, view.rows()))]
    return Group(*parts)


def _line(flow: Pipeline, version: int, count: int, seconds: float) -> str:
    [(vwap, volume)] = map(rounded, flow.view("vwap").rows())
    spreads = ", ".join(f"{b}: {word(s)}" for b, _, s in map(rounded, flow.view("spread").rows()))
    return (
        f"version {version}: {count:,} orders in {1000 * seconds:.0f} ms;"
        f" vwap {word(vwap)} over {word(volume)}; spread by broker {spreads}"
    )


def _compare(
    flow: Pipeline, book: Sequence[Event], seconds: Sequence[float], size: int, console: Console
) -> None:
    """The views of the final book by Spark SQL, from tables that are cached: the same rows."""
    from freshview.spark.io.sinks import frame

    spark = flow.spark
    for side, table in _final(book).items():
        cached = frame(spark, table).cache()
        cached.count()
        cached.createOrReplaceTempView(side)
    each = statistics.median(seconds)
    whole = 0.0
    for view in flow.views:
        took: list[float] = []
        while len(took) < 3 and sum(took) < PATIENCE:
            began = time.perf_counter()
            rows = [tuple(r) for r in spark.sql(AGAIN[view.name]).collect()]
            took.append(time.perf_counter() - began)
        if not _same(view.rows(), rows):
            raise FreshviewError(
                f"'{view.name}' is not what Spark SQL computes", instead="report it"
            )
        whole += min(took)
        _say(console, f"{view.name}: equal to Spark SQL, which takes {min(took):.2f} s for it")
    for side in ("bids", "asks"):
        spark.catalog.dropTempView(side)
    spark.catalog.clearCache()
    _say(
        console,
        f"a batch of {size:,} orders takes {each:.2f} s for both views, recomputing them"
        f" {whole:.2f} s (from memory, the best of up to three): {whole / each:.1f} times as long",
    )


def _final(book: Sequence[Event]) -> dict[str, pa.Table]:
    """The orders that are open at the end."""
    held: dict[tuple[str, object], Event] = {}
    for event in book:
        key = (event.side, event.row)
        if event.multiplicity > 0:
            held[key] = event
        else:
            held.pop(key)
    return {side: t.drop_columns([COUNT]) for side, t in _batch(list(held.values())).items()}


def _same(mine: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]]) -> bool:
    if len(mine) != len(other):
        return False
    return all(
        math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-9)
        for x, y in zip(mine, other, strict=True)
        for a, b in zip(x, y, strict=True)
    )


def _say(console: Console, text: str) -> None:
    console.out(text, highlight=False)
