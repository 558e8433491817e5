"""Rows as JSON holds them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

from freshview.calculus.rows import Row
from freshview.calculus.types import Value

Json = None | bool | int | float | str

LARGEST = (1 << 53) - 1
"""The largest integer that a reader of JSON in a browser keeps exactly."""


def to_json(value: Value) -> Json:
    """A value as JSON holds it; what a browser would round is text.

    >>> to_json(Decimal("1.50")), to_json(1 << 60), to_json(date(2024, 2, 29))
    ('1.50', '1152921504606846976', '2024-02-29')
    """
    match value:
        case None | bool() | float() | str():
            return value
        case int():
            return value if abs(value) <= LARGEST else str(value)
        case Decimal():
            return f"{value:f}"
        case datetime():
            return value.isoformat(" ")
        case date():
            return value.isoformat()
    return str(value)


def rows_to_json(rows: Iterable[Row]) -> list[list[Json]]:
    """Rows as lists of what JSON holds."""
    return [[to_json(v) for v in row] for row in rows]
