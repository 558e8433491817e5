"""The frame of a window function: which rows beside the row at hand it is about."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

Unit: TypeAlias = Literal["days", "months", "seconds", "micros"]
"""The units of time of an interval that are always of one length."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Where a frame begins or ends: so many rows, groups, units or spans from the row at hand.

    Those before it have a `count` below zero; without one there is no end on that side.
    """

    count: int | float | Decimal | None
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """ROWS, RANGE or GROUPS BETWEEN start AND end EXCLUDE ..."""

    unit: Literal["rows", "range", "groups"]
    start: Edge
    end: Edge
    exclude: Literal["", "current row", "group", "ties"] = ""
