"""What a subscriber costs: a change of one row, with and without one, as the view grows.

The view has a row for each group, and the change comes through the public API: `insert` of one row,
and a `writer`. All of it is counted, from the call to the end of the subscriber's callback, which
takes the change as the Arrow table that it is given.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import pyarrow as pa

import freshview
from bench.report import best, show, times, write

SCRIPT = """
CREATE STREAM sales (item INT NOT NULL, amount INT NOT NULL);
CREATE VIEW totals AS SELECT item, SUM(amount) AS amount, COUNT(*) AS n FROM sales GROUP BY item;
"""
GROUPS = (300_000, 3_000_000)
LIMIT = 33.0
"""Microseconds that a change of one row may take with a subscriber."""


@dataclass(frozen=True)
class Line:
    """A way to change a row at a size: microseconds a row, alone and with a subscriber."""

    way: str
    groups: int
    alone: float
    subscribed: float


def database(groups: int) -> freshview.Database:
    """A database whose view has so many groups, served by a kernel."""
    db = freshview.connect(engine="native")
    db.execute(SCRIPT)
    items = pa.array(range(groups), pa.int64())
    db.insert("sales", pa.table({"item": items, "amount": items}))
    assert db.view("totals").engine == "native"
    return db


def ways(db: freshview.Database) -> Iterator[tuple[str, Callable[[int], None]]]:
    """The ways of one row into the view."""
    yield "insert", lambda i: db.insert("sales", (i, 1))
    write_row = db.writer("sales").insert
    yield "writer", lambda i: write_row(i, 1)


def measure(groups: int, rows: int, rounds: int) -> Iterator[Line]:
    """The microseconds of a row: CPU time of this process, the best of some rounds."""
    db = database(groups)
    step = 7919  # rows of groups far apart

    def run(change: Callable[[int], None]) -> float:
        def once() -> float:
            began = time.process_time()
            for i in range(rows):
                change(i * step % groups)
            return (time.process_time() - began) / rows * 1e6

        return best(rounds, once)

    alone = {way: run(change) for way, change in ways(db)}
    heard = 0

    def hear(version: int, changes: pa.Table) -> None:
        nonlocal heard
        heard += changes.num_rows

    db.view("totals").subscribe(hear)
    for way, change in ways(db):
        heard = 0
        subscribed = run(change)
        assert heard == 2 * rows * rounds, "each change tells of a row that went and one that came"
        yield Line(way, groups, alone[way], subscribed)


def main() -> None:
    """Measure, show, and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the groups")
    parser.add_argument("--groups", type=int, nargs="*", default=GROUPS)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    sizes = [n // 10 if options.quick else n for n in options.groups]
    lines = [x for n in sizes for x in measure(n, options.rows, options.rounds)]
    show(
        "Microseconds of a change of one row",
        ("way", "groups", "alone", "with a subscriber", f"of {LIMIT:.0f} µs"),
        [(x.way, x.groups, x.alone, x.subscribed, times(x.subscribed / LIMIT)) for x in lines],
    )
    write("subscribers", [asdict(x) for x in lines])


if __name__ == "__main__":
    main()
