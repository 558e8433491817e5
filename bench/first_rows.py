"""The first ten of many groups by their sums: a read, and what a row costs, at three sizes.

    SELECT g, SUM(x) AS total FROM r GROUP BY g ORDER BY total DESC LIMIT 10

With their rows in order, a read costs the same at every number of groups: those that have changed
since the last one are brought into order first. The first read after a load sorts them all, once.
`moves=no` is the plan that sorts all the groups whenever it is read.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa

import freshview
from bench.report import best, show, write

SQL = """
CREATE STREAM r (g INT NOT NULL, x INT NOT NULL);
CREATE VIEW best AS SELECT g, SUM(x) AS total FROM r GROUP BY g ORDER BY total DESC LIMIT 10;
"""
LIMIT = 1.5
"""A read at the most groups may take so many times one at the fewest."""

ROWS = 20_000


@dataclass(frozen=True)
class Cell:
    """Seconds of a load of four rows a group and of the read after it; of a read after one row.

    Then those of a row by itself, and of one in a batch.
    """

    plan: str
    groups: int
    load: float
    first: float
    read: float
    row: float
    batched: float


def measure(groups: int, ordered: bool) -> Cell:
    """A database with so many groups."""
    rng = np.random.default_rng(18)
    columns = {"g": rng.integers(0, groups, 4 * groups), "x": rng.integers(0, 1000, 4 * groups)}
    rows = pa.record_batch(columns)
    db = freshview.connect(engine="native", switches={} if ordered else {"moves": False})
    db.execute(SQL)
    began = time.process_time()
    db.insert("r", rows)
    load = time.process_time() - began
    view, insert = db.view("best"), db.writer("r").insert
    keys = rng.integers(0, groups, ROWS).tolist()

    def read() -> float:
        insert(keys[0], 1)
        began = time.perf_counter()
        view.to_arrow()
        return time.perf_counter() - began

    first = read()
    began = time.process_time()
    for g in keys:
        insert(g, 5)
    row = (time.process_time() - began) / ROWS
    more = pa.record_batch({"g": keys, "x": [1] * ROWS})
    began = time.process_time()
    db.insert("r", more)
    batched = (time.process_time() - began) / ROWS
    view.to_arrow()
    plan = "in order" if ordered else "moves=no"
    return Cell(plan, groups, load, first, best(5, read), row, batched)


def main() -> int:
    """Measure, print, and tell whether a read follows the number of groups."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    sizes = (1000, 100_000) if parser.parse_args().quick else (1000, 100_000, 1_000_000)
    cells = [measure(n, ordered) for ordered in (True, False) for n in sizes]
    show(
        "The first ten groups by their sums",
        ["plan", "groups", "load s", "first read s", "read us", "row us", "row in batch us"],
        [
            [c.plan, c.groups, c.load, c.first, c.read * 1e6, c.row * 1e6, c.batched * 1e6]
            for c in cells
        ],
    )
    write("first_rows", [asdict(c) for c in cells])
    few, *_, many = (c.read for c in cells if c.plan == "in order")
    return int(many > LIMIT * few)


if __name__ == "__main__":
    sys.exit(main())
