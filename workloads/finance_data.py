"""An order book: two sides quoted around a price that walks.

All numbers are doubles that stand for integers, prices below 2**12 and volumes multiples of 8
below 2**10. A product of two worths (BSV) then has at most 38 significant bits, so its sums stay
exact up to about 4000 live bids and results can be compared without a tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from workloads.events import Pools, Relation, Row, Tables

_LOW, _HIGH = 1200, 2800  # the walk; far quotes lie more than 1000 beyond
BROKERS = 10


@dataclass(slots=True)
class Book:
    """What two successive orders share: the clock, the last order number and the mid price."""

    clock: int = 0
    order: int = 0
    mid: int = 2000

    def draw(self, rng: Random, pools: Pools, name: str, side: int) -> Row:
        """Draw the next order of one side; rarely an exact repetition of a live one."""
        repeated = pools[name].pick(rng, 1.0) if rng.random() < 0.02 else None
        if repeated:
            return repeated
        self.clock += rng.choice((0, 1, 1, 2))  # several orders may share an instant
        self.order += 1
        self.mid = min(_HIGH, max(_LOW, self.mid + rng.randint(-12, 12)))
        far = rng.random() < 0.15
        gap = rng.randint(1001, 1100) if far else rng.randint(-5, 60)
        price = min(4000, max(50, self.mid + side * gap))
        volume = 8 * (1 if rng.random() < 0.1 else rng.randint(1, 125))
        broker = int(BROKERS * rng.random() ** 1.5)  # some brokers trade more
        return float(self.clock), self.order, broker, float(volume), float(price)


def tables(seed: int, scale: float) -> Tables:
    """None: both sides stream."""
    return {}


def relations(seed: int, scale: float) -> tuple[Relation, ...]:
    """Bids below the mid price and asks above it."""
    book = Book()
    return (
        Relation("Bids", lambda rng, pools: book.draw(rng, pools, "Bids", -1)),
        Relation("Asks", lambda rng, pools: book.draw(rng, pools, "Asks", 1)),
    )
