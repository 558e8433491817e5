"""An auction house: people, auctions and bids, with NULLs, ties and times out of order."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from workloads.events import Pools, Relation, Row, Tables, Value

_START = datetime(2024, 3, 1, 17, 59)
_SECONDS = 150
"""How long the house is open: some windows of every query, and two hours of the day."""

_STATES = ("OR", "ID", "CA", "WY", "AZ")
_CHANNELS = ("Google", "apple", "baidu", "shop", None)
_NULLS = 0.04


def tables(seed: int, scale: float) -> Tables:
    """Make what the side input says of auctions."""
    del seed, scale
    return {"side_input": [(k, f"value {k}") for k in range(6)]}


def relations(seed: int, scale: float) -> tuple[Relation, ...]:
    """Bids with the auctions and people that they refer to."""
    del seed, scale
    return (
        Relation("bid", _bid, share=1.0),
        Relation("auction", _auction, key=(0,), share=0.3, pace=0.6),
        Relation("person", _person, key=(0,), share=0.2, pace=0.5),
    )


def _time(rng: Random) -> datetime:
    return _START + timedelta(milliseconds=500 * rng.randint(0, 2 * _SECONDS))


def _or_null(rng: Random, value: Value) -> Value:
    return None if rng.random() < _NULLS else value


def _number(rng: Random, pools: Pools, name: str) -> Value:
    """The number of a row that is there, or now and then of none."""
    row = pools[name].pick(rng)
    return row[0] if row is not None and rng.random() < 0.9 else rng.randint(1, 40)


def _person(rng: Random, pools: Pools) -> Row:
    number = rng.randint(1, pools["person"].domain())
    city = rng.choice(("Ash", "Brook", "Clay"))
    name = _or_null(rng, f"person {number}")
    state = _or_null(rng, rng.choice(_STATES))
    return number, name, f"p{number}@example.com", city, state, _or_null(rng, _time(rng))


def _auction(rng: Random, pools: Pools) -> Row:
    number, opens = rng.randint(1, pools["auction"].domain()), _time(rng)
    expires = _or_null(rng, opens + timedelta(seconds=rng.randint(5, 90)))
    seller = _or_null(rng, _number(rng, pools, "person"))
    price = rng.randint(1, 100)
    category = rng.choice((10, 10, 11, 12, None))
    return number, f"item {number % 7}", price, price + 50, opens, expires, seller, category


def _bid(rng: Random, pools: Pools) -> Row:
    time, channel = _time(rng), rng.choice(_CHANNELS)
    url = f"https://www.example.com/{rng.choice('abc')}/{rng.choice('xy')}/{rng.randint(1, 3)}"
    if rng.random() < 0.3:
        url = f"query=1&channel_id={rng.randint(1, 5)}"
    return (
        _or_null(rng, _number(rng, pools, "auction")),
        _or_null(rng, _number(rng, pools, "person")),
        _or_null(rng, int(10 ** rng.uniform(1, 4))),
        channel,
        _or_null(rng, url),
        _or_null(rng, time),
        time + timedelta(seconds=rng.randint(0, 8)),
        _or_null(rng, rng.choice(("abc", "ccc", "xyz", ""))),
    )
