"""The join-and-sum view in Pathway; run by the Python of its own environment (`pathway_peer`).

Takes a file of events (numpy arrays), prints the seconds and the rows as JSON. Rows come through
Pathway's Python connector, which commits every 100 ms.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pathway as pw


class Line(pw.Schema):
    """L, with a number for each row: Pathway deletes by key."""

    id: int = pw.column_definition(primary_key=True)
    oid: int
    price: int


class Order(pw.Schema):
    """O."""

    id: int = pw.column_definition(primary_key=True)
    oid: int
    g: int
    w: int


class Lines(pw.io.python.ConnectorSubject):
    """The events of L."""

    def __init__(self, events: list[tuple[int, ...]]) -> None:
        super().__init__()
        self.events = events

    def run(self) -> None:
        """Send them all."""
        for n, id, oid, price in self.events:
            if n > 0:
                self.next(id=id, oid=oid, price=price)
            else:
                self.delete(id=id, oid=oid, price=price)


class Orders(Lines):
    """The events of O."""

    def run(self) -> None:
        """Send them all."""
        for n, id, oid, g, w in self.events:
            if n > 0:
                self.next(id=id, oid=oid, g=g, w=w)
            else:
                self.delete(id=id, oid=oid, g=g, w=w)


def main() -> None:
    """Run the view over a file's events."""
    events = np.load(sys.argv[1])
    lines = list(map(tuple, events["L"].tolist()))
    orders = list(map(tuple, events["O"].tolist()))
    left = pw.io.python.read(Lines(lines), schema=Line, autocommit_duration_ms=100)
    right = pw.io.python.read(Orders(orders), schema=Order, autocommit_duration_ms=100)
    joined = left.join(right, left.oid == right.oid).select(g=right.g, total=left.price * right.w)
    view = joined.groupby(joined.g).reduce(
        g=joined.g, total=pw.reducers.sum(joined.total), n=pw.reducers.count()
    )
    rows: dict[object, tuple[int, int, int]] = {}

    def change(key: object, row: dict[str, int], time: int, is_addition: bool) -> None:
        if is_addition:
            rows[key] = row["g"], row["total"], row["n"]
        elif rows.get(key) == (row["g"], row["total"], row["n"]):
            del rows[key]

    pw.io.subscribe(view, on_change=change)
    began = time.perf_counter()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "rows": list(rows.values())}))


if __name__ == "__main__":
    main()
