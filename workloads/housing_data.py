"""Houses and what is near them: six relations that share a postcode, and nothing else.

The shape of F-IVM 2018's Housing: 27 attributes in all. As a stream, a postcode has about two rows
of each relation, so that the join stays small enough for an oracle to list. As tables
(`bulk`), the houses, shops and restaurants of a postcode grow with the scale and the join with
its cube: 150,000 rows at scale 1, 1.4 million at scale 20.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from workloads.events import Draw, Pools, Relation, Row, Tables

COLUMNS = {
    "House": 10,
    "Shop": 5,
    "Institution": 2,
    "Restaurant": 2,
    "Demographics": 4,
    "Transport": 3,
}
"""Attributes beside the postcode."""

POSTCODES = 25_000
_GROWING = {"House": 1.0, "Shop": 1.0, "Restaurant": 0.65}
_LARGEST = 99


def tables(seed: int, scale: float) -> Tables:
    """None: all six stream."""
    return {}


def relations(seed: int, scale: float) -> tuple[Relation, ...]:
    """Rows over half as many postcodes as a relation may have rows."""
    return tuple(Relation(name, _drawing(name)) for name in COLUMNS)


def bulk(seed: int, scale: int, postcodes: int = POSTCODES) -> dict[str, Iterator[Row]]:
    """Give whole relations for a measurement."""
    return {name: _all_rows(name, seed, scale, postcodes) for name in COLUMNS}


def _drawing(name: str) -> Draw:
    def draw(rng: Random, pools: Pools) -> Row:
        return _row(rng, name, rng.randrange(pools[name].domain(0.5)))

    return draw


def _row(rng: Random, name: str, postcode: int) -> Row:
    return (postcode, *(rng.randint(0, _LARGEST) for _ in range(COLUMNS[name])))


def _all_rows(name: str, seed: int, scale: int, postcodes: int) -> Iterator[Row]:
    rng = Random(f"{seed} {name}")
    each = max(1, round(_GROWING.get(name, 0.0) * scale))
    for postcode in range(postcodes):
        for _ in range(each):
            yield _row(rng, name, postcode)
