"""Views kept by hand with plain dictionaries: what an hour of Python gets, the floor of engines.

A program is a function per relation that takes a row and +1 or -1, as a kernel's triggers do. The
rows come as tuples of the columns that it needs, decimals as whole cents and dates as days, so
that Python has nothing to do but the maintenance. Filters come first, joins go through nested
dictionaries, and a group is there as long as it counts rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa

from bench.data import Stream

Handler = Callable[[tuple, int], None]
View = list[tuple[object, ...]]
Event = tuple[int, tuple, int]
"""The number of a relation, a row of it, and +1 or -1."""


@dataclass(frozen=True, slots=True)
class Program:
    """A view by hand: the columns it takes of each relation, and a start with no rows.

    `start` gives a handler for each of the relations, in their order, and a way to read the view.
    """

    columns: dict[str, tuple[str, ...]]
    start: Callable[[], tuple[tuple[Handler, ...], Callable[[], View]]]


def run(program: Program, events: list[Event]) -> Callable[[], View]:
    """Give the events to a program, one by one."""
    handlers, view = program.start()
    for relation, row, n in events:
        handlers[relation](row, n)
    return view


def exact(column: pa.Array) -> list[object]:
    """The values of a column: decimals as whole units of their last digit, dates as days."""
    if pa.types.is_decimal(column.type):
        words = np.frombuffer(column.buffers()[1], np.int64)[column.offset :]
        return words[: len(column)].tolist()
    if pa.types.is_date(column.type):
        return column.cast(pa.int32()).to_pylist()
    return column.to_pylist()


def floats(column: pa.Array) -> list[object]:
    """The values of a column, decimals as floats."""
    if pa.types.is_decimal(column.type):
        return [units / 10**column.type.scale for units in exact(column)]
    return exact(column)


def events_of(
    stream: Stream,
    columns: Mapping[str, Sequence[int | str]],
    values: Callable[[pa.Array], list[object]] = exact,
) -> list[Event]:
    """The events of a stream in order, as a program with dictionaries takes them."""
    events: list[Event | None] = [None] * len(stream)
    for number, (name, wanted) in enumerate(columns.items()):
        rows = zip(*(values(stream.rows[name].column(c)) for c in wanted), strict=True)
        counts, places = stream.counts[name].tolist(), stream.at[name].tolist()
        for place, row, count in zip(places, rows, counts, strict=True):
            events[place] = number, row, count
    return events  # type: ignore[return-value]


def _day(text: str) -> int:
    return (date.fromisoformat(text) - date(1970, 1, 1)).days


def _date(day: int) -> date:
    return date.fromordinal(date(1970, 1, 1).toordinal() + day)


def _exact(units: int, digits: int) -> Decimal:
    return Decimal(units).scaleb(-digits)


def _add(index: dict, key: object, item: object, n: int) -> None:
    """`index[key][item] += n`, where nothing counts 0."""
    entry = index.get(key)
    if entry is None:
        index[key] = {item: n}
        return
    total = entry.get(item, 0) + n
    if total:
        entry[item] = total
    else:
        del entry[item]
        if not entry:
            del index[key]


def _bump(counts: dict, key: object, n: int) -> int:
    """`counts[key] += n`, where nothing counts 0; the count before."""
    before: int = counts.get(key, 0)
    if before + n:
        counts[key] = before + n
    else:
        del counts[key]
    return before


def _sum(sums: dict, key: object, value: int, n: int) -> None:
    """`sums[key] += (value, n)`, where nothing counts 0 rows."""
    total = sums.get(key)
    if total is None:
        sums[key] = [value, n]
        return
    total[0] += value
    total[1] += n
    if not total[1]:
        del sums[key]


def _q01() -> tuple[tuple[Handler, ...], Callable[[], View]]:
    groups: dict[tuple[str, str], list[int]] = {}
    last = _day("1997-09-01")

    def lineitem(row: tuple, n: int) -> None:
        flag, status, quantity, price, discount, tax, shipped = row
        if shipped > last:
            return
        group = groups.get((flag, status))
        if group is None:
            group = groups[flag, status] = [0, 0, 0, 0, 0, 0]
        sold = n * price * (100 - discount)
        group[0] += n * quantity
        group[1] += n * price
        group[2] += sold
        group[3] += sold * (100 + tax)
        group[4] += n * discount
        group[5] += n
        if not group[5]:
            del groups[flag, status]

    def view() -> View:
        rows: View = []
        for key, (q, p, s, c, d, n) in groups.items():
            sums = _exact(q, 2), _exact(p, 2), _exact(s, 4), _exact(c, 6)
            rows.append((*key, *sums, q / n / 100, p / n / 100, d / n / 100, n))
        return rows

    return (lineitem,), view


def _q03() -> tuple[tuple[Handler, ...], Callable[[], View]]:
    limit = _day("1995-03-15")
    groups: dict[tuple, list[int]] = {}  # order -> revenue, rows
    lines: dict[int, list[int]] = {}  # orderkey -> revenue, rows
    orders: dict[int, dict[tuple, int]] = {}  # custkey -> order -> rows
    bought: dict[int, dict[tuple, int]] = {}  # orderkey -> order of a builder -> rows
    builders: dict[int, int] = {}  # custkey -> rows

    def lineitem(row: tuple, n: int) -> None:
        key, price, discount, shipped = row
        if shipped > limit:
            revenue = n * price * (100 - discount)
            _sum(lines, key, revenue, n)
            if key in bought:
                for order, m in bought[key].items():
                    _sum(groups, order, m * revenue, m * n)

    def order(row: tuple, n: int) -> None:
        key, customer, ordered, priority = row
        if ordered < limit:
            order = key, ordered, priority
            _add(orders, customer, order, n)
            if customer in builders:
                join(order, n * builders[customer])

    def customer(row: tuple, n: int) -> None:
        key, segment = row
        if segment == "BUILDING":
            _bump(builders, key, n)
            if key in orders:
                for order, m in orders[key].items():
                    join(order, m * n)

    def join(order: tuple, n: int) -> None:
        _add(bought, order[0], order, n)
        if order[0] in lines:
            revenue, m = lines[order[0]]
            _sum(groups, order, n * revenue, n * m)

    def view() -> View:
        return [(key, _date(d), p, _exact(r, 4)) for (key, d, p), (r, _) in groups.items()]

    return (lineitem, order, customer), view


def _q04() -> tuple[tuple[Handler, ...], Callable[[], View]]:
    start, stop = _day("1993-07-01"), _day("1993-10-01")
    groups: dict[str, int] = {}
    late: dict[int, int] = {}  # orderkey -> late lines
    orders: dict[int, dict[str, int]] = {}  # orderkey -> priority -> rows

    def lineitem(row: tuple, n: int) -> None:
        key, committed, received = row
        if committed < received:
            before = _bump(late, key, n)
            if (before == 0 or before + n == 0) and key in orders:
                for priority, m in orders[key].items():
                    _bump(groups, priority, m if before == 0 else -m)

    def order(row: tuple, n: int) -> None:
        key, ordered, priority = row
        if start <= ordered < stop:
            _add(orders, key, priority, n)
            if key in late:
                _bump(groups, priority, n)

    return (lineitem, order), lambda: list(groups.items())


def _q06() -> tuple[tuple[Handler, ...], Callable[[], View]]:
    start, stop = _day("1994-01-01"), _day("1995-01-01")
    revenue: dict[tuple, list[int]] = {}

    def lineitem(row: tuple, n: int) -> None:
        shipped, discount, quantity, price = row
        if start <= shipped < stop and 5 <= discount <= 7 and quantity < 2400:
            _sum(revenue, (), n * price * discount, n)

    return (lineitem,), lambda: [(_exact(r, 4),) for r, _ in revenue.values()] or [(None,)]


def _q12() -> tuple[tuple[Handler, ...], Callable[[], View]]:
    start, stop = _day("1994-01-01"), _day("1995-01-01")
    groups: dict[str, list[int]] = {}  # mode -> high, all
    lines: dict[int, dict[str, int]] = {}  # orderkey -> mode -> rows
    orders: dict[int, list[int]] = {}  # orderkey -> high, all

    def lineitem(row: tuple, n: int) -> None:
        key, mode, shipped, committed, received = row
        if shipped < committed < received and start <= received < stop:
            if mode == "MAIL" or mode == "SHIP":
                _add(lines, key, mode, n)
                if key in orders:
                    high, m = orders[key]
                    _sum(groups, mode, n * high, n * m)

    def order(row: tuple, n: int) -> None:
        key, priority = row
        high = n if priority == "1-URGENT" or priority == "2-HIGH" else 0
        _sum(orders, key, high, n)
        if key in lines:
            for mode, m in lines[key].items():
                _sum(groups, mode, m * high, m * n)

    return (lineitem, order), lambda: [(m, h, n - h) for m, (h, n) in groups.items()]


def _q14() -> tuple[tuple[Handler, ...], Callable[[], View]]:
    start, stop = _day("1995-09-01"), _day("1995-10-01")
    totals = [0, 0]  # revenue of promoted parts, of all
    lines: dict[int, list[int]] = {}  # partkey -> revenue, rows
    parts: dict[int, list[int]] = {}  # partkey -> promoted, all

    def lineitem(row: tuple, n: int) -> None:
        key, shipped, price, discount = row
        if start <= shipped < stop:
            revenue = n * price * (100 - discount)
            _sum(lines, key, revenue, n)
            if key in parts:
                promoted, m = parts[key]
                totals[0] += revenue * promoted
                totals[1] += revenue * m

    def part(row: tuple, n: int) -> None:
        key, kind = row
        promoted = n if kind.startswith("PROMO") else 0
        _sum(parts, key, promoted, n)
        if key in lines:
            revenue, _ = lines[key]
            totals[0] += revenue * promoted
            totals[1] += revenue * n

    return (lineitem, part), lambda: [(100 * totals[0] / max(10000, totals[1]),)]


def _q18() -> tuple[tuple[Handler, ...], Callable[[], View]]:
    groups: dict[tuple, list[int]] = {}  # name, order -> quantity, rows
    lines: dict[int, list[int]] = {}  # orderkey -> quantity, rows
    orders: dict[int, dict[tuple, int]] = {}  # orderkey -> order -> rows
    placed: dict[int, dict[tuple, int]] = {}  # custkey -> order -> rows
    names: dict[int, dict[str, int]] = {}  # custkey -> name -> rows

    def large(key: int) -> tuple[int, int]:
        quantity, n = lines.get(key, (0, 0))
        return (quantity, n) if quantity > 10000 else (0, 0)

    def lineitem(row: tuple, n: int) -> None:
        key, quantity = row
        q0, n0 = large(key)
        _sum(lines, key, n * quantity, n)
        q1, n1 = large(key)
        if (n0 or n1) and key in orders:
            for order, m in orders[key].items():
                for name, k in names.get(order[0], {}).items():
                    _sum(groups, (name, *order), k * m * (q1 - q0), k * m * (n1 - n0))

    def order(row: tuple, n: int) -> None:
        key, customer, ordered, price = row
        order = customer, key, ordered, price
        _add(orders, key, order, n)
        _add(placed, customer, order, n)
        quantity, m = large(key)
        if m:
            for name, k in names.get(customer, {}).items():
                _sum(groups, (name, *order), k * n * quantity, k * n * m)

    def customer(row: tuple, n: int) -> None:
        key, name = row
        _add(names, key, name, n)
        for order, k in placed.get(key, {}).items():
            quantity, m = large(order[1])
            if m:
                _sum(groups, (name, *order), k * n * quantity, k * n * m)

    def view() -> View:
        return [
            (name, customer, key, _date(ordered), _exact(price, 2), _exact(quantity, 2))
            for (name, customer, key, ordered, price), (quantity, _) in groups.items()
        ]

    return (lineitem, order, customer), view


def _join_sum() -> tuple[tuple[Handler, ...], Callable[[], View]]:
    groups: dict[int, list[int]] = {}  # g -> total, rows
    lines: dict[int, list[int]] = {}  # oid -> price, rows
    orders: dict[int, dict[tuple, int]] = {}  # oid -> (g, w) -> rows

    def line(row: tuple, n: int) -> None:
        oid, price = row
        _sum(lines, oid, n * price, n)
        if oid in orders:
            for (g, w), m in orders[oid].items():
                _sum(groups, g, m * n * price * w, m * n)

    def order(row: tuple, n: int) -> None:
        oid, g, w = row
        _add(orders, oid, (g, w), n)
        if oid in lines:
            price, m = lines[oid]
            _sum(groups, g, n * price * w, n * m)

    return (line, order), lambda: [(g, total, n) for g, (total, n) in groups.items()]


_SUMMED = ("quantity", "extendedprice", "discount", "tax", "shipdate")
_DATES = ("shipdate", "commitdate", "receiptdate")

PROGRAMS = {
    "q01": Program({"Lineitem": ("returnflag", "linestatus", *_SUMMED)}, _q01),
    "q03": Program(
        {
            "Lineitem": ("orderkey", "extendedprice", "discount", "shipdate"),
            "Orders": ("orderkey", "custkey", "orderdate", "shippriority"),
            "Customer": ("custkey", "mktsegment"),
        },
        _q03,
    ),
    "q04": Program(
        {
            "Lineitem": ("orderkey", "commitdate", "receiptdate"),
            "Orders": ("orderkey", "orderdate", "orderpriority"),
        },
        _q04,
    ),
    "q06": Program({"Lineitem": ("shipdate", "discount", "quantity", "extendedprice")}, _q06),
    "q12": Program(
        {
            "Lineitem": ("orderkey", "shipmode", *_DATES),
            "Orders": ("orderkey", "orderpriority"),
        },
        _q12,
    ),
    "q14": Program(
        {
            "Lineitem": ("partkey", "shipdate", "extendedprice", "discount"),
            "Part": ("partkey", "type"),
        },
        _q14,
    ),
    "q18": Program(
        {
            "Lineitem": ("orderkey", "quantity"),
            "Orders": ("orderkey", "custkey", "orderdate", "totalprice"),
            "Customer": ("custkey", "name"),
        },
        _q18,
    ),
    "join_sum": Program({"L": ("oid", "price"), "O": ("oid", "g", "w")}, _join_sum),
}
