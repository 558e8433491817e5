"""TPC-DS rows of the store channel, with the NULLs the benchmark has.

A sale is a line of a basket: all lines of a ticket share date, store, customer, address and
household, so the queries over baskets (15 to 20 lines, 1 to 5 lines) meet both kinds. Baskets
come in a few moods, one for each family of predicates; independent columns would hardly ever
satisfy five of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from itertools import product
from random import Random

from workloads.events import Draw, Pools, Relation, Row, Tables, Value, money, weighted

_FIRST_DAY, _LAST_DAY = date(1998, 1, 1), date(2002, 12, 31)
_FIRST_DAY_SK = 2450815  # a Julian day number, as in the benchmark
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_CITIES = ("Midway", "Fairview", "Midway", "Fairview", "Oakland", "Riverside")
_COUNTIES = ("Williamson County", "Williamson County", "Bronx County", "Ziebach County")
_ZIPS = ("31904", "35709", "31904", "60069")
_CATEGORIES = ("Books", "Home", "Music", "Shoes", "Women")
_POTENTIALS = (">10000", "Unknown", "0-500", "501-1000", "1001-5000", "5001-10000")
_EDUCATIONS = ("College", "Primary", "Secondary", "4 yr Degree", "Unknown")
_MARITAL = ("S", "M", "D", "W", "U")
_FIRST_NAMES = ("Ash", "Brook", "Clay", "Dale", "Glen", "Reed", "Sage")
_LAST_NAMES = ("Field", "Ford", "Hill", "Lake", "Marsh", "Stone", "Wood")
_STATES = ("TN", "TN", "TN", "LA", "NY")

_MOODS = {"month turn": 4.0, "weekend": 2.5, "november": 4.0, "college": 3.5, "any": 1.0}
_NULLS = 0.03
_FULL = 22  # lines of a full basket; NULLs and deletes bring it down to the 15 to 20 asked for


def tables(seed: int, scale: float) -> Tables:
    """Make the static dimensions; items grow with the scale, the others are what they are."""
    return {
        "date_dim": _dates(),
        "item": _items(seed, scale),
        "store": _stores(seed),
        "household_demographics": _households(),
        "customer_demographics": _customer_kinds(),
        "promotion": _promotions(seed),
    }


def relations(seed: int, scale: float) -> tuple[Relation, ...]:
    """Sales with the customers and addresses they refer to."""
    draw: Draw = _Baskets.over(tables(seed, scale)).line
    return (
        Relation("store_sales", draw, key=(2, 9), share=1.0),
        Relation("customer", _customer, key=(0,), share=0.25),
        Relation("customer_address", _address, key=(0,), share=0.2),
    )


def _holes(rng: Random, row: Sequence[Value], keys: int) -> Row:
    """Copy the row with a few NULLs behind its first `keys` columns."""
    return tuple(v if i < keys or rng.random() >= _NULLS else None for i, v in enumerate(row))


def _id(sk: int) -> str:
    return f"AAAAAAAA{sk:08d}"


def _dates() -> list[Row]:
    rows: list[Row] = []
    for n in range((_LAST_DAY - _FIRST_DAY).days + 1):
        day = _FIRST_DAY + timedelta(days=n)
        sk, dow = _FIRST_DAY_SK + n, day.isoweekday() % 7
        month, quarter = (day.year - 1900) * 12 + day.month - 1, (day.month + 2) // 3
        week = (sk + 1) // 7
        coordinates = (month, week, day.year, dow, day.month, day.day, quarter, _DAYS[dow])
        rows.append((sk, _id(sk), day, *coordinates))
    return rows


def _items(seed: int, scale: float) -> list[Row]:
    rng = Random(f"item {seed}")
    rows: list[Row] = []
    for sk in range(1, max(24, round(40 * scale)) + 1):
        brand, category = rng.randint(1, 8), rng.randint(1, len(_CATEGORIES))
        maker = rng.choice((128, 128, 127, 350))
        row = (
            sk, _id((sk + 1) // 2),  # two versions of an item share its id
            money(rng.randint(99, 9999)), 1001000 + brand, f"corpbrand #{brand}",
            category, _CATEGORIES[category - 1],
            maker, f"maker{maker}", (1, 8, 28, 8, 40)[sk % 5],
        )  # fmt: skip
        rows.append(_holes(rng, row, 2))
    return rows


def _stores(seed: int) -> list[Row]:
    rng = Random(f"store {seed}")
    rows: list[Row] = []
    for sk in range(1, 13):
        row = (
            sk, _id((sk + 1) // 2), ("ought", "able", "ese")[sk % 3], 190 + 13 * (sk % 10),
            _CITIES[sk % len(_CITIES)], _COUNTIES[sk % len(_COUNTIES)], _STATES[sk % len(_STATES)],
            _ZIPS[sk % len(_ZIPS)], Decimal("-6.00") if sk % 4 == 0 else Decimal("-5.00"),
        )  # fmt: skip
        rows.append(_holes(rng, row, 2))
    return rows


def _households() -> list[Row]:
    kinds = product(_POTENTIALS, range(10), range(-1, 5))
    return [(n, n % 20 + 1, *kind) for n, kind in enumerate(kinds, start=1)]


def _customer_kinds() -> list[Row]:
    kinds = product("MF", _MARITAL, _EDUCATIONS, ("Good", "High Risk"))
    return [(n, *kind) for n, kind in enumerate(kinds, start=1)]


def _promotions(seed: int) -> list[Row]:
    rng = Random(f"promotion {seed}")
    rows: list[Row] = []
    for sk in range(1, 13):
        channels = rng.choice(("NN", "NY", "YN", "YY"))
        row = (sk, _id(sk), ("ought", "able", "pri")[sk % 3], channels[0], channels[1])
        rows.append(_holes(rng, row, 2))
    return rows


def _customer(rng: Random, pools: Pools) -> Row:
    sk = rng.randint(1, pools["customer"].domain(1.2))
    row = (
        sk, _id(sk), rng.randint(1, 100), rng.randint(1, 360),
        _reference(rng, pools, "customer_address"),
        rng.choice(("Dr.", "Ms.", "Mr.", "Sir")), rng.choice(_FIRST_NAMES),
        rng.choice(_LAST_NAMES), rng.choice("YN"), rng.choice(("CHILE", "GHANA", "NEPAL")),
    )  # fmt: skip
    return _holes(rng, row, 2)


def _address(rng: Random, pools: Pools) -> Row:
    sk = rng.randint(1, pools["customer_address"].domain(1.2))
    row = (
        sk, _id(sk), rng.choice(_CITIES), rng.choice(_COUNTIES), rng.choice(_STATES),
        rng.choice(_ZIPS) + rng.choice(("", "-1234")), "United States",
        rng.choice((Decimal("-5.00"), Decimal("-6.00"))),
    )  # fmt: skip
    return _holes(rng, row, 2)


def _reference(rng: Random, pools: Pools, relation: str) -> int:
    """Choose the key of a live row, or now and then any: children may precede their parents."""
    row = pools[relation].pick(rng, 1.3) if rng.random() < 0.97 else None
    sk = row[0] if row else rng.randint(1, pools[relation].domain(1.2))
    assert isinstance(sk, int)
    return sk


@dataclass(frozen=True, slots=True)
class _Header:
    """What the lines of a ticket have in common."""

    date: Value
    time: int
    customer: int
    kind: Value
    household: Value
    address: int
    store: Value


@dataclass(slots=True)
class _Baskets:
    """Tickets seen so far, and the dimension keys each mood draws from."""

    items: list[Value]
    promotions: list[Value]
    dates: dict[str, list[Value]]
    stores: dict[str, list[Value]]
    households: dict[str, list[Value]]
    kinds: dict[str, list[Value]]
    headers: dict[int, _Header] = field(default_factory=dict)

    @classmethod
    def over(cls, dims: Tables) -> _Baskets:
        """Sort the dimension rows by the moods they suit; mood `any` takes all."""
        days, homes = dims["date_dim"], dims["household_demographics"]
        stores, kinds = dims["store"], dims["customer_demographics"]
        turns = (1, 2, 3, 28)
        years = (1999, 2000, 2001)
        return cls(
            items=[r[0] for r in dims["item"]],
            promotions=[r[0] for r in dims["promotion"]],
            dates={
                "any": [r[0] for r in days],
                "month turn": [r[0] for r in days if r[8] in turns and r[5] in years],
                "weekend": [r[0] for r in days if r[6] in (6, 0, 1) and r[5] in years],
                "november": [r[0] for r in days if r[7] == 11 and r[5] in (1998, 1999, 2000)],
                "college": [r[0] for r in days if r[5] in (2000, 2002)],
            },
            stores={
                "any": [r[0] for r in stores],
                "month turn": [r[0] for r in stores if r[5] == "Williamson County"],
                "weekend": [r[0] for r in stores if r[4] in ("Midway", "Fairview")],
                "college": [r[0] for r in stores if r[6] == "TN"],
            },
            households={
                "any": [r[0] for r in homes],
                "month turn": [
                    r[0]
                    for r in homes
                    if r[2] in _POTENTIALS[:2] and r[4] == 3 and r[3] in (3, 4, 5, 6, 8)
                ],
                "weekend": [r[0] for r in homes if r[3] == 4 or r[4] in (3, 4)],
            },
            kinds={
                "any": [r[0] for r in kinds],
                "college": [r[0] for r in kinds if r[1:4] == ("M", "S", "College")],
            },
        )

    def line(self, rng: Random, pools: Pools) -> Row:
        """One more line, mostly for a ticket that has some."""
        ticket = self._ticket(rng, pools)
        head = self.headers[ticket]
        quantity = rng.randint(1, 100)
        cost, listed = rng.randint(100, 9000), rng.randint(200, 18000)
        sold = listed * rng.randint(2, 10) // 10
        coupon = sold * quantity * rng.choice((0, 0, 0, 1, 3)) // 10
        paid = sold * quantity - coupon
        tax = paid * rng.randint(0, 9) // 100
        amounts = (
            cost, listed, sold, (listed - sold) * quantity, sold * quantity, cost * quantity,
            listed * quantity, tax, coupon, paid, paid + tax, paid - cost * quantity,
        )  # fmt: skip
        promotion = rng.choice(self.promotions)
        item = rng.choice(self.items[:_FULL] if _is_full(ticket) else self.items)
        header = (head.date, head.time, item, head.customer, head.kind, head.household)
        row = (*header, head.address, head.store, promotion, ticket, quantity, *map(money, amounts))
        holed = _holes(rng, row, 0)
        return (*holed[:2], item, *holed[3:9], ticket, *holed[10:])

    def _ticket(self, rng: Random, pools: Pools) -> int:
        """Choose a ticket: a full basket, the ticket of a live line, or any."""
        sales = pools["store_sales"]
        mood = rng.random()
        line = sales.pick(rng, 1.5) if mood < 0.85 else None
        ticket = line[9] if line else rng.randint(1, sales.domain(0.5))
        assert isinstance(ticket, int)
        if mood < 0.38:
            ticket = 10 * rng.randint(1, max(4, sales.cap // 100))
        if ticket not in self.headers:
            self.headers[ticket] = self._header(rng, pools, _is_full(ticket))
        return ticket

    def _header(self, rng: Random, pools: Pools, full: bool) -> _Header:
        mood = "month turn" if full else weighted(rng, _MOODS)
        return _Header(
            date=rng.choice(self.dates[mood]),
            time=rng.randint(28800, 75600),
            customer=_reference(rng, pools, "customer"),
            kind=rng.choice(self.kinds.get(mood, self.kinds["any"])),
            household=rng.choice(self.households.get(mood, self.households["any"])),
            address=_reference(rng, pools, "customer_address"),
            store=rng.choice(self.stores.get(mood, self.stores["any"])),
        )


def _is_full(ticket: int) -> bool:
    """Whether the ticket is one of the few that fill up to `_FULL` lines."""
    return ticket % 10 == 0
