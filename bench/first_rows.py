"""The first ten of many groups by their sums: a read, and what a row costs, at three sizes.

    SELECT g, SUM(x) AS total FROM r GROUP BY g ORDER BY total DESC LIMIT 10

With their rows in order, a read costs the same at every number of groups, and a row more than
without. `moves=no` is the plan that sorts all the groups when it is read.
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
    """Seconds of a load of four rows a group, of a read, and of a single row."""

    plan: str
    groups: int
    load: float
    read: float
    row: float


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

    def read() -> float:
        began = time.perf_counter()
        view.to_arrow()
        return time.perf_counter() - began

    keys = rng.integers(0, groups, ROWS).tolist()
    began = time.process_time()
    for g in keys:
        insert(g, 5)
    row = (time.process_time() - began) / ROWS
    return Cell("in order" if ordered else "moves=no", groups, load, best(5, read), row)


def main() -> int:
    """Measure, print, and tell whether a read follows the number of groups."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    sizes = (1000, 100_000) if parser.parse_args().quick else (1000, 100_000, 1_000_000)
    cells = [measure(n, ordered) for ordered in (True, False) for n in sizes]
    show(
        "The first ten groups by their sums",
        ["plan", "groups", "load s", "read us", "row us"],
        [[c.plan, c.groups, c.load, c.read * 1e6, c.row * 1e6] for c in cells],
    )
    write("first_rows", [asdict(c) for c in cells])
    few, *_, many = (c.read for c in cells if c.plan == "in order")
    return int(many > LIMIT * few)


if __name__ == "__main__":
    sys.exit(main())
