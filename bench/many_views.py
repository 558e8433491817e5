"""Ten views over one join, beside the dearest of them alone: time and memory of the database.

Views that read common relations are one program and one kernel, so ten of them should cost little
more than the dearest. Every cell is a process of its own with a warm kernel cache: CPU seconds to
take all the batches and read every view once, and how far the resident memory grew meanwhile.

    python -m bench.many_views [--quick] [--engine native]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import freshview
from bench.report import show, write

STREAMS = """
CREATE STREAM orders (id INT NOT NULL, customer INT NOT NULL, region INT NOT NULL,
                      priority INT NOT NULL);
CREATE STREAM items (id INT NOT NULL, product INT NOT NULL, price DECIMAL(12, 2) NOT NULL,
                     quantity INT NOT NULL);
"""
_JOIN = "FROM orders o, items i WHERE o.id = i.id"
VIEWS = {
    "revenue": f"SELECT o.customer, SUM(i.price) AS total {_JOIN} GROUP BY o.customer",
    "sales": f"SELECT o.customer, COUNT(*) AS n, SUM(i.quantity) AS quantity {_JOIN} "
    "GROUP BY o.customer",
    "means": f"SELECT o.customer, AVG(i.price) AS price, AVG(i.quantity) AS quantity {_JOIN} "
    "GROUP BY o.customer",
    "urgent": f"SELECT o.customer, SUM(i.price) AS total, COUNT(*) AS n {_JOIN} "
    "AND o.priority = 1 GROUP BY o.customer",
    "by_region": f"SELECT o.region, SUM(i.price) AS total, COUNT(*) AS n {_JOIN} GROUP BY o.region",
    "region_means": f"SELECT o.region, AVG(i.price) AS price, SUM(i.quantity) AS quantity {_JOIN} "
    "GROUP BY o.region",
    "extremes": f"SELECT o.region, MIN(i.price) AS least, MAX(i.price) AS most {_JOIN} "
    "GROUP BY o.region",
    "by_product": f"SELECT i.product, SUM(i.price) AS total, COUNT(*) AS n {_JOIN} "
    "GROUP BY i.product",
    "orders_of": f"SELECT i.product, MIN(i.quantity) AS least, MAX(i.quantity) AS most {_JOIN} "
    "GROUP BY i.product",
    "bulk": f"SELECT i.product, SUM(i.price * i.quantity) AS total, AVG(i.price) AS price {_JOIN} "
    "AND i.quantity > 5 GROUP BY i.product",
}
"""SUM, COUNT, AVG, MIN and MAX of two columns by three keys, two of them with filters."""

LIMIT = 3.0
"""Ten views may take so many times what the dearest of them takes."""

ITEMS = 4
"""Items of an order on average."""


def batches(orders: int, size: int) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Orders in batches, and items of the orders so far: the same in every process."""
    rng = np.random.default_rng(18)
    cent = pa.scalar(Decimal("0.01"), pa.decimal128(3, 2))
    for first in range(0, orders, size):
        yield (
            "orders",
            pa.record_batch(
                {
                    "id": np.arange(first, first + size),
                    "customer": rng.integers(0, orders // 10, size),
                    "region": rng.integers(0, 25, size),
                    "priority": rng.integers(0, 3, size),
                }
            ),
        )
        n = ITEMS * size
        cents = pa.array(rng.integers(100, 100_000, n)).cast(pa.decimal128(19, 0))
        yield (
            "items",
            pa.record_batch(
                {
                    "id": rng.integers(max(0, first - 5 * size), first + size, n),
                    "product": rng.integers(0, 1000, n),
                    "price": pc.multiply(cents, cent).cast(pa.decimal128(12, 2)),
                    "quantity": rng.integers(1, 50, n),
                }
            ),
        )


def measure(names: list[str], engine: str, share: bool, orders: int) -> dict[str, float]:
    """What these views take: CPU seconds, and bytes by which the resident memory grew."""
    rows = list(batches(orders, 1000))
    db = freshview.connect(engine=engine, share=share)  # type: ignore[arg-type]
    script = "".join(f"CREATE VIEW {name} AS {VIEWS[name]};" for name in names)
    db.execute(STREAMS + script)
    before, began = _resident(), time.process_time()
    for relation, batch in rows:
        db.insert(relation, batch)
    for view in db.views:
        view.to_arrow()
    seconds = time.process_time() - began
    return {"seconds": seconds, "bytes": _resident() - before}


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def _in_process(names: list[str], engine: str, share: bool, orders: int) -> dict[str, float]:
    order = json.dumps([names, engine, share, orders])
    command = [sys.executable, "-m", "bench.many_views", "--cell", order]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    cell: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return cell


def compare(engine: str, orders: int, rounds: int) -> list[dict[str, object]]:
    """Every view alone, all of them together, and all of them each by itself; best of rounds."""
    cells = {name: ([name], True) for name in VIEWS}
    cells["all ten"] = (list(VIEWS), True)
    cells["all ten, share=False"] = (list(VIEWS), False)
    for names, share in cells.values():  # builds what is not in the cache yet
        _in_process(names, "native", share, 1000)
    results: dict[str, list[dict[str, float]]] = {name: [] for name in cells}
    for _ in range(rounds):
        for name, (names, share) in cells.items():
            results[name].append(_in_process(names, engine, share, orders))
    best = {
        name: {what: min(r[what] for r in runs) for what in ("seconds", "bytes")}
        for name, runs in results.items()
    }
    dearest = {what: max(best[name][what] for name in VIEWS) for what in ("seconds", "bytes")}
    return [
        {
            "engine": engine,
            "views": name,
            **cell,
            "times the dearest": cell["seconds"] / dearest["seconds"],
            "memory of the dearest": cell["bytes"] / dearest["bytes"],
        }
        for name, cell in best.items()
    ]


def main() -> int:
    """Compare, print, and tell whether ten views stay within their limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--engine", choices=["auto", "native"], action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        names, engine, share, orders = json.loads(options.cell)
        print(json.dumps(measure(names, engine, share, orders)))
        return 0
    orders, rounds = (20_000, 1) if options.quick else (200_000, options.rounds)
    results = []
    for engine in options.engine or ["auto", "native"]:
        results += compare(engine, orders, rounds)
    show(
        f"Ten views over one join, {orders:,} orders and {orders * ITEMS:,} items",
        ["views", "engine", "CPU s", "MB", "x time", "x memory"],
        [
            [r["views"], r["engine"], r["seconds"], r["bytes"] / 1e6, *list(r.values())[-2:]]  # type: ignore[operator]
            for r in results
        ],
        f"x is to the dearest view alone; ten views may take {LIMIT:g} times as much",
    )
    write("many_views", results)
    ten = [r for r in results if r["views"] == "all ten"]
    return int(any(x > LIMIT for r in ten for x in list(r.values())[-2:]))  # type: ignore[operator]


if __name__ == "__main__":
    sys.exit(main())
