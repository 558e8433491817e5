"""A small made-up order book: the price wanders, orders come and are cancelled."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from freshview.calculus.rows import Row

TICK = Decimal("0.25")


@dataclass(frozen=True, slots=True)
class Event:
    """An order that enters (+1) or leaves (-1) one side of the book."""

    side: str
    row: Row
    multiplicity: int


def events(count: int, seed: int, brokers: int = 5, depth: int = 60) -> Iterator[Event]:
    """`count` events, always the same ones for a seed.

    A row is (t, id, broker, volume, price). Each side is kept near `depth` open orders, so that
    cancels soon become as frequent as new orders.
    """
    rng = random.Random(seed)
    middle = 400  # in ticks
    book: dict[str, list[Row]] = {"bids": [], "asks": []}
    for t in range(count):
        middle += rng.choice((-1, 0, 0, 0, 1))
        side = rng.choice(("bids", "asks"))
        open_orders = book[side]
        if rng.random() * 2 * depth < len(open_orders):
            row = open_orders.pop(rng.randrange(len(open_orders)))
            yield Event(side, row, -1)
            continue
        away = rng.randint(1, 12)
        price = (middle - away if side == "bids" else middle + away) * TICK
        row = (t, t + 1, rng.randint(1, brokers), rng.randint(1, 20) * 10, price)
        open_orders.append(row)
        yield Event(side, row, 1)
