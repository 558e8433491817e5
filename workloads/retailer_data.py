"""What shops have in stock: a snowflake of five relations, 43 attributes in all.

The shape of F-IVM 2018's Retailer: Inventory by location, date and product; Item by product;
Weather by location and date; Location with its zip code; Census by zip code.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from workloads.events import Pools, Relation, Row, Tables, money

_LOCATION_FACTS, _CENSUS_FACTS = 13, 15


def tables(seed: int, scale: float) -> Tables:
    """None: all five stream."""
    return {}


def relations(seed: int, scale: float) -> tuple[Relation, ...]:
    """Stock, with the few places, days and products that it refers to."""
    return (
        Relation("Inventory", _inventory, key=(0, 1, 2)),
        Relation("Item", _item, key=(0,), share=0.1, pace=0.5),
        Relation("Weather", _weather, key=(0, 1), share=0.2),
        Relation("Location", _location, key=(0,), share=0.03, pace=0.5),
        Relation("Census", _census, key=(0,), share=0.02, pace=0.5),
    )


def bulk(seed: int, rows: int) -> dict[str, Iterator[Row]]:
    """Whole relations for a measurement; `rows` is the size of Inventory.

    As in the data of F-IVM 2018, there are few locations, a few hundred days and many products.
    Stock is counted day by day, shop by shop.
    """
    places, days = max(2, round(rows**0.25)), max(2, round(rows**0.3))
    counts = places * days
    products = max(2, round(2 * rows / counts))

    def inventory() -> Iterator[Row]:
        rng = Random(f"{seed} Inventory")
        for n in range(counts):
            day, place = divmod(n, places)
            for product in range((rows - n + counts - 1) // counts):
                yield place, day, product * 2 + rng.randrange(2), rng.randint(0, 9)

    def each(name: str, keys: Iterator[Row]) -> Iterator[Row]:
        rng = Random(f"{seed} {name}")
        for key in keys:
            yield _facts(rng, name, key)

    zips = max(1, places * 2 // 3)
    return {
        "Inventory": inventory(),
        "Item": each("Item", ((p,) for p in range(products + 2))),
        "Weather": each("Weather", ((p, d) for p in range(places) for d in range(days))),
        "Location": each("Location", ((p, p % zips) for p in range(places))),
        "Census": each("Census", ((z,) for z in range(zips))),
    }


def _facts(rng: Random, name: str, key: Row) -> Row:
    match name:
        case "Item":
            kinds = rng.randrange(30), rng.randrange(10), rng.randrange(4)
            return (*key, *kinds, money(rng.randint(99, 9999)))
        case "Weather":
            wet = int(rng.random() < 0.3), int(rng.random() < 0.1)
            low = rng.randint(-10, 25)
            wind, thunder = rng.randint(0, 40), int(rng.random() < 0.05)
            return (*key, *wet, low + rng.randint(0, 15), low, wind, thunder)
        case "Location":
            return (*key, *(rng.randint(1, 90) for _ in range(_LOCATION_FACTS)))
        case _:
            return (*key, *(rng.randint(0, 5000) for _ in range(_CENSUS_FACTS)))


def _inventory(rng: Random, pools: Pools) -> Row:
    place, day = rng.randrange(_places(pools)), rng.randrange(_days(pools))
    product = rng.randrange(pools["Item"].domain(1.2))
    return place, day, product, rng.randint(0, 9)


def _item(rng: Random, pools: Pools) -> Row:
    return _facts(rng, "Item", (rng.randrange(pools["Item"].domain(1.2)),))


def _weather(rng: Random, pools: Pools) -> Row:
    return _facts(rng, "Weather", (rng.randrange(_places(pools)), rng.randrange(_days(pools))))


def _location(rng: Random, pools: Pools) -> Row:
    return _facts(rng, "Location", (rng.randrange(_places(pools)), rng.randrange(_zips(pools))))


def _census(rng: Random, pools: Pools) -> Row:
    return _facts(rng, "Census", (rng.randrange(_zips(pools)),))


def _places(pools: Pools) -> int:
    return pools["Location"].domain(1.2)


def _days(pools: Pools) -> int:
    return max(4, pools["Weather"].domain(1.5) // _places(pools))


def _zips(pools: Pools) -> int:
    return pools["Census"].domain(1.2)
