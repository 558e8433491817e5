"""Order and limit: which rows come first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from freshview.algebra import Number
from freshview.calculus.rows import Row
from freshview.calculus.terms import Order, Top
from freshview.reference.values import plus


def arrange(rows: Sequence[Row], names: Sequence[str], order: Sequence[Order]) -> list[Row]:
    """The rows by `order`; ties by the other columns as they stand, NULL smallest.

    >>> by_x = (Order("x", descending=True),)
    >>> arrange([(1, 7), (None, 8), (2, 9), (2, None)], ("x", "y"), by_x)
    [(2, None), (2, 9), (1, 7), (None, 8)]
    """
    rest = [i for i, name in enumerate(names) if all(o.var != name for o in order)]
    out = sorted(rows, key=lambda row: [_null_smallest(row[i]) for i in rest])
    for o in reversed(order):
        out = _sorted_by(out, list(names).index(o.var), o)
    return out


def _null_smallest(value: object) -> tuple[bool, object]:
    return (value is not None, 0 if value is None else value)


def _sorted_by(rows: list[Row], at: int, order: Order) -> list[Row]:
    def value(row: Row) -> Any:
        return row[at]

    nulls = [row for row in rows if row[at] is None]
    there = [row for row in rows if row[at] is not None]
    there.sort(key=value, reverse=order.descending)  # stable, also in reverse
    return nulls + there if order.nulls_first else there + nulls


def first_rows(
    rows: Mapping[Row, Number], names: Sequence[str], top: Top
) -> Iterator[tuple[Row, Number]]:
    """Per valuation of the keys, rows in order until `limit` is counted, multiplicities included.

    A row with a negative multiplicity is not there; of the last row only as much as fits is count.

    >>> from freshview.calculus.build import ZERO
    >>> top = Top(("g",), (Order("x"),), 3, ZERO)
    >>> dict(first_rows({(1, 5): 2, (1, 6): 4, (2, 9): 1, (2, 0): -1}, ("g", "x"), top))
    {(1, 5): 2, (1, 6): 1, (2, 9): 1}
    """
    at = [list(names).index(k) for k in top.keys]
    groups: dict[Row, list[Row]] = {}
    for row, m in rows.items():
        if m > 0:
            groups.setdefault(tuple(row[i] for i in at), []).append(row)
    for group in groups.values():
        left: Number = top.limit
        for row in arrange(group, names, top.order):
            if left <= 0:
                break
            count = min(rows[row], left)
            yield row, count
            left = plus(left, -count)
