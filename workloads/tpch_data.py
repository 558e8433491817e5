"""TPC-H rows: small skewed ones for tests, real ones for benchmarks.

The test rows follow the benchmark's rules where queries can see them (dates follow the order
date, flags follow the dates, phone codes follow the nation), but draw from domains built around
the queries' constants: uniform rows would leave most views empty at a few hundred rows. Column
order is the benchmark's, so the same rows serve prefixed and unprefixed schemas.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

from workloads.events import Pools, Relation, Row, Tables, Value, money, weighted

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
NATIONS = (
    ("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4),
    ("ETHIOPIA", 0), ("FRANCE", 3), ("GERMANY", 3), ("INDIA", 2), ("INDONESIA", 2),
    ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4), ("KENYA", 0),
    ("MOROCCO", 0), ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2), ("ROMANIA", 3),
    ("SAUDI ARABIA", 4), ("VIETNAM", 2), ("RUSSIA", 3), ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
)  # fmt: skip

_HOT_NATIONS = {  # named by a predicate, or in a region or phone code that is
    "GERMANY": 15, "FRANCE": 13, "CANADA": 17, "SAUDI ARABIA": 14, "BRAZIL": 14, "INDIA": 18,
    "CHINA": 4, "ROMANIA": 3, "UNITED STATES": 3, "JORDAN": 2,
}  # fmt: skip
_NATION_WEIGHTS = {k: float(_HOT_NATIONS.get(n, 0.6)) for k, (n, _) in enumerate(NATIONS)}

_NATION_KEYS = {name: key for key, (name, _) in enumerate(NATIONS)}
_ASIA = {key for key, (_, region) in enumerate(NATIONS) if REGIONS[region] == "ASIA"}
_SAUDI = _NATION_KEYS["SAUDI ARABIA"]
_PARTNERS = {  # who trades abroad; the others mostly at home
    _NATION_KEYS["FRANCE"]: _NATION_KEYS["GERMANY"],
    _NATION_KEYS["GERMANY"]: _NATION_KEYS["FRANCE"],
}
_SEGMENTS = {"BUILDING": 5.0, "AUTOMOBILE": 2.0, "MACHINERY": 1.0, "FURNITURE": 1.0}
_PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
_MODES = {"AIR": 4.0, "AIR REG": 3.0, "MAIL": 4.0, "SHIP": 4.0, "TRUCK": 1.0, "RAIL": 1.0}
_INSTRUCTIONS = {"DELIVER IN PERSON": 4.0, "COLLECT COD": 1.0, "TAKE BACK RETURN": 1.0, "NONE": 1.0}
_TYPES = {
    "ECONOMY ANODIZED STEEL": 8.0, "PROMO BURNISHED COPPER": 3.0, "PROMO PLATED BRASS": 2.0,
    "LARGE BRUSHED BRASS": 4.0, "MEDIUM POLISHED TIN": 2.0, "STANDARD PLATED NICKEL": 2.0,
}  # fmt: skip
_NAMES = {"green": 3.0, "forest": 4.0, "ivory": 1.0, "azure": 1.0}
_COLOURS = ("lace", "green", "almond", "misty", "thistle")
_KINDS: dict[tuple[str, tuple[str, ...], tuple[int, ...]], float] = {  # brand, containers, sizes
    ("Brand#12", ("SM CASE", "SM BOX", "SM PACK", "SM PKG"), (1, 2, 3, 5, 6)): 3.0,
    ("Brand#23", ("MED BOX", "MED BOX", "MED BAG", "MED PACK"), (1, 3, 9, 10, 11)): 5.0,
    ("Brand#34", ("LG CASE", "LG BOX", "LG PACK", "LG PKG"), (3, 9, 14, 15, 16)): 3.0,
    ("Brand#45", ("JUMBO PKG", "WRAP CASE"), (49, 14, 23)): 1.0,
    (
        "Brand#13",
        ("JUMBO PKG", "SM BOX"),
        (15, 15, 15, 15, 15, 49, 14, 23, 45, 19, 3, 36, 9, 7),
    ): 5.0,
}
_WINDOWS: dict[tuple[date, date], float] = {  # order dates, in reach of some predicate
    (date(1992, 1, 1), date(1993, 6, 30)): 0.5,
    (date(1993, 6, 20), date(1993, 10, 5)): 2.0,
    (date(1993, 9, 25), date(1994, 1, 5)): 2.0,
    (date(1994, 1, 1), date(1994, 12, 31)): 5.0,
    (date(1995, 1, 15), date(1995, 3, 20)): 2.0,
    (date(1995, 6, 1), date(1995, 9, 25)): 2.5,
    (date(1995, 10, 1), date(1996, 3, 31)): 2.0,
    (date(1996, 6, 1), date(1996, 12, 31)): 1.0,
    (date(1997, 1, 1), date(1997, 12, 31)): 2.5,
    (date(1998, 5, 1), date(1998, 8, 2)): 1.5,
}
_CURRENT = date(1995, 6, 17)  # the benchmark's "today": decides flags and statuses
_SPREAD = 1.05  # keys per parent: most references find theirs, some dangle
_ROAD = "carefully ironic deposits sleep slyly"


def tables(seed: int, scale: float) -> Tables:
    """Nation and region, the same at every seed and scale."""
    return {
        "nation": [(k, name, region, _ROAD) for k, (name, region) in enumerate(NATIONS)],
        "region": [(k, name, _ROAD) for k, name in enumerate(REGIONS)],
    }


def relations(seed: int, scale: float) -> tuple[Relation, ...]:
    """List the six stream relations; children outnumber parents, as in the benchmark."""
    return (
        Relation("lineitem", _lineitem, key=(0, 3), share=1.0),
        Relation("orders", _order, key=(0,), share=0.4, pace=0.7),
        Relation("customer", _customer, key=(0,), share=0.2, pace=0.4),
        Relation("part", _part, key=(0,), share=0.2, pace=0.4),
        Relation("supplier", _supplier, key=(0,), share=0.12, pace=0.4),
        Relation("partsupp", _partsupp, key=(0, 1), share=0.5),
    )


def _nation_and_phone(rng: Random) -> tuple[int, str]:
    nation = weighted(rng, _NATION_WEIGHTS)
    local = f"{rng.randint(100, 999)}-{rng.randint(100, 999)}-{rng.randint(1000, 9999)}"
    return nation, f"{nation + 10}-{local}"


def _part(rng: Random, pools: Pools) -> Row:
    key = rng.randint(1, pools["part"].domain(_SPREAD))
    brand, containers, sizes = weighted(rng, _KINDS)
    size = rng.choice(sizes)
    kind = weighted(rng, _TYPES)
    if size == 15 and rng.random() < 0.7:
        kind = "LARGE BRUSHED BRASS"  # size and metal must meet in one part
    return (
        key,
        f"{weighted(rng, _NAMES)} {rng.choice(_COLOURS)} {rng.choice(_COLOURS)}",
        f"Manufacturer#{brand[6]}",
        brand,
        kind,
        size,
        rng.choice(containers),
        _retail_price(key),
        rng.choice(("final accounts", "ironic foxes", "slyly bold")),
    )


def _retail_price(partkey: int) -> Decimal:
    return money(90000 + partkey // 10 % 20001 + 100 * (partkey % 1000))


def _supplier(rng: Random, pools: Pools) -> Row:
    key = rng.randint(1, pools["supplier"].domain(_SPREAD))
    nation, phone = _nation_and_phone(rng)
    comment = "Customer slow Complaints about freight" if rng.random() < 0.2 else _ROAD
    balance = money(rng.randint(-99999, 999999))
    return key, f"Supplier#{key:09d}", f"{key % 97} Quay", nation, phone, balance, comment


def _partsupp(rng: Random, pools: Pools) -> Row:
    supplier = _reference(rng, pools, "supplier")
    part = _reference(rng, pools, "part")
    if _from_nation(pools, supplier, _NATION_KEYS["CANADA"]):
        part = _forest_part(rng, pools) or part  # Canada sells wood
    stock = int(10 ** (4 * rng.random()))  # log-uniform: shares of a total on both sides
    return part, supplier, stock, money(100 * rng.randint(1, 60) + rng.choice((0, 50))), _ROAD


def _forest_part(rng: Random, pools: Pools) -> int | None:
    parts = (p for _ in range(6) if (p := pools["part"].pick(rng, 1.0)))
    return next((_key(p) for p in parts if str(p[1]).startswith("forest")), None)


def _customer(rng: Random, pools: Pools) -> Row:
    key = rng.randint(1, pools["customer"].domain(_SPREAD))
    nation, phone = _nation_and_phone(rng)
    return (
        key,
        f"Customer#{key:09d}",
        f"{key % 89} High Street",
        nation,
        phone,
        money(rng.randint(-99999, 999999)),
        weighted(rng, _SEGMENTS),
        _ROAD,
    )


def _order(rng: Random, pools: Pools) -> Row:
    key = rng.randint(1, pools["orders"].domain(_SPREAD))
    customer = _reference(rng, pools, "customer")
    if customer % 3 == 0 and rng.random() < 0.9:
        customer += 1  # a third of the customers hardly ever order
    buyer = pools["customer"].find(customer)
    first, last = weighted(rng, _WINDOWS)
    if buyer and buyer[3] in _ASIA and rng.random() < 0.3:
        first, last = date(1994, 1, 1), date(1994, 12, 31)  # region and year must meet
    ordered = first + timedelta(days=rng.randint(0, (last - first).days))
    pending = (date(1995, 3, 1) < ordered < date(1995, 6, 30)) and rng.random() < 0.5
    status = "P" if pending else "F" if ordered < _CURRENT else "O"
    special = rng.random() < 0.25
    return (
        key,
        customer,
        status,
        money(rng.randint(100_000, 50_000_000)),
        ordered,
        rng.choice(_PRIORITIES),
        f"Clerk#{rng.randint(1, 20):09d}",
        0,
        "special packages wake requests" if special else "furiously even instructions",
    )


def _lineitem(rng: Random, pools: Pools) -> Row:
    order = _open_order(rng, pools)
    orderkey = _key(order) if order else rng.randint(1, pools["orders"].domain(_SPREAD))
    ordered = order[4] if order else date(1994, 3, 1)
    assert isinstance(ordered, date)
    bulk = _is_bulk(orderkey)
    line = rng.randint(1, 10 if bulk else 7)
    small = rng.random() < 0.35
    quantity = rng.randint(38, 50) if bulk else rng.randint(1, 3 if small else 40)
    # odd orders are on time but for their first line, so that a single supplier may be to blame
    odd = orderkey % 2 == 1
    partkey, suppkey = _stock(rng, pools, order, _SAUDI if odd and line == 1 else None)
    punctual = odd and line > 1
    shipped = ordered + timedelta(days=rng.randint(1, 50 if punctual else 121))
    received = shipped + timedelta(days=rng.randint(1, 30))
    committed = ordered + timedelta(days=rng.randint(81, 110) if punctual else rng.randint(30, 75))
    return (
        orderkey,
        partkey,
        suppkey,
        line,
        money(quantity * 100),
        quantity * _retail_price(partkey),
        money(rng.choice((0, 2, 4, 5, 6, 6, 7, 8, 10))),
        money(rng.randint(0, 8)),
        rng.choice("RRA") if received <= _CURRENT else "N",
        "O" if shipped > _CURRENT else "F",
        shipped,
        committed,
        received,
        weighted(rng, _INSTRUCTIONS),
        weighted(rng, _MODES),
        rng.choice(("bold courts", "final dolphins", "regular pinto beans")),
    )


def _is_bulk(orderkey: int) -> bool:
    """Whether the order passes 300 pieces when most of its lines are there."""
    return orderkey % 4 == 0


def _open_order(rng: Random, pools: Pools) -> Row | None:
    """Choose a live order for a line, bulk ones more often; seldom none, for a line without."""
    if rng.random() < 0.04:
        return None
    order = pools["orders"].pick(rng, 1.5)
    if rng.random() < 0.35:
        bulk = (o for _ in range(8) if (o := pools["orders"].pick(rng, 3.0)) and _is_bulk(_key(o)))
        order = next(bulk, order)
    return order


def _stock(rng: Random, pools: Pools, order: Row | None, nation: int | None) -> tuple[int, int]:
    """Choose a part and its supplier, from the given nation or often the customer's partner."""
    offers = [o for _ in range(12) if (o := pools["partsupp"].pick(rng, 1.5))]
    if not offers or rng.random() < 0.04:
        return _reference(rng, pools, "part"), _reference(rng, pools, "supplier")
    chosen = next((o for o in offers if _is_whole(pools, o)), offers[0])
    customer = pools["customer"].find(order[1]) if order else None
    if nation is None and customer and rng.random() < 0.6:
        home = _key(customer, 3)
        nation = _PARTNERS.get(home, home)
    if nation is not None:
        chosen = next((o for o in offers if _from_nation(pools, _key(o, 1), nation)), chosen)
    return _key(chosen), _key(chosen, 1)


def _is_whole(pools: Pools, offer: Row) -> bool:
    return bool(pools["part"].find(offer[0]) and pools["supplier"].find(offer[1]))


def _from_nation(pools: Pools, suppkey: int, nation: int) -> bool:
    supplier = pools["supplier"].find(suppkey)
    return supplier is not None and supplier[3] == nation


def _reference(rng: Random, pools: Pools, relation: str) -> int:
    """Choose the key of a live row, or now and then any: children may precede their parents."""
    row = pools[relation].pick(rng, 1.3) if rng.random() < 0.97 else None
    return _key(row) if row else rng.randint(1, pools[relation].domain(_SPREAD))


def _key(row: Row, at: int = 0) -> int:
    key = row[at]
    assert isinstance(key, int)
    return key


_TYPES_OF = {  # i int, d decimal of scale 2, t date, s string
    "region": "iss",
    "nation": "isis",
    "supplier": "issisds",
    "customer": "issisdss",
    "part": "issssisds",
    "partsupp": "iiids",
    "orders": "iisdtssis",
    "lineitem": "iiiiddddsstttsss",
}
_CENT = Decimal("0.01")
_READERS: dict[str, Callable[[str], Value]] = {
    "i": int,
    "d": lambda text: Decimal(text).quantize(_CENT),
    "t": date.fromisoformat,
    "s": str,
}


def dbgen(
    scale_factor: float, directory: Path, names: Sequence[str] = tuple(_TYPES_OF)
) -> Iterator[tuple[str, Row]]:
    """Yield the benchmark's own rows, table by table, as (table, row).

    Needs the `tpchgen-cli` wheel. The files stay in `directory`, and a table whose file is there
    is not generated again, so give every scale factor a directory of its own.
    """
    missing = [n for n in names if not (directory / f"{n}.tbl").exists()]
    if missing:
        _generate(scale_factor, directory, missing)
    for name in names:
        readers = [_READERS[t] for t in _TYPES_OF[name]]
        with (directory / f"{name}.tbl").open(encoding="utf-8") as lines:
            for line in lines:
                fields = line.rstrip("\n").split("|")[:-1]  # each field ends in a bar
                yield name, tuple(read(f) for read, f in zip(readers, fields, strict=True))


def _generate(scale_factor: float, directory: Path, names: Sequence[str]) -> None:
    beside_python = Path(sys.executable).parent / "tpchgen-cli"
    tool = str(beside_python) if beside_python.exists() else shutil.which("tpchgen-cli")
    if tool is None:
        raise FileNotFoundError("tpchgen-cli is not installed: pip install tpchgen-cli")
    directory.mkdir(parents=True, exist_ok=True)
    command = [tool, "tbl", "-q", "-s", str(scale_factor), "-o", str(directory)]
    subprocess.run([*command, "-T", ",".join(names)], check=True)
