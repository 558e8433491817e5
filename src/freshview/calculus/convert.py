"""Values of other types that stand for exactly one value of a column's type.

Users have floats and texts for decimals, texts and moments for dates, and scalars of NumPy.
What would have to be rounded or cut off is refused.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from freshview.calculus.types import Kind, Type, Value

_NUMBER = re.compile(r"[+-]?(?:\d{1,60}(?:\.\d{0,60})?|\.\d{1,60})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)(?:Z|\+00(?::?00)?)?)?", re.ASCII
)

WHOLE_DOUBLES = 1 << 53
"""Up to here a double is one integer, and no integer beside it."""


def converted(value: object, t: Type) -> Value:
    """The one value of a type that a value of another type stands for.

    Raises ValueError where there is none.

    >>> converted(45.83, Type("decimal", 2)), converted("2024-02-29", Type("date"))
    (Decimal('45.83'), datetime.date(2024, 2, 29))
    """
    if type(value).__module__ == "numpy":
        value = _without_numpy(value, t.kind)
    match t.kind:
        case "int":
            return _integer(value)
        case "decimal":
            return _decimal(value)
        case "date":
            return _date(value)
        case "timestamp":
            return _timestamp(value)
        case "double" if isinstance(value, float | int) and not isinstance(value, bool):
            return value
        case "bool" if isinstance(value, bool):
            return value
        case "string" if isinstance(value, str):
            return value
    raise ValueError(value)


def _without_numpy(value: Any, kind: Kind) -> object:
    """A scalar of NumPy as Python has it; a float as the shortest digits that NumPy shows."""
    if value.dtype.kind == "M":
        fine = value.astype("datetime64[us]")
        if fine != value:  # finer than a microsecond, or no moment
            raise ValueError(value)
        return fine.item()
    if value.dtype.kind == "f" and kind == "decimal":
        return float(value) if value.dtype.itemsize == 8 else Decimal(str(value))
    return value.item()


def _integer(value: object) -> int:
    if isinstance(value, float) and value.is_integer() and abs(value) <= WHOLE_DOUBLES:
        return int(value)
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(value)


def _decimal(value: object) -> Decimal:
    """A number with the digits that Python shows: the shortest ones that mean this double."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, Decimal):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return Decimal(value)
    raise ValueError(value)


def _date(value: object) -> date:
    if isinstance(value, str) and _DATE.fullmatch(value):
        return date.fromisoformat(value)
    if isinstance(value, datetime):
        moment = _timestamp(value)
        if moment.time() == datetime.min.time():
            return moment.date()
    elif isinstance(value, date):
        return value
    raise ValueError(value)


def _timestamp(value: object) -> datetime:
    """A moment without a time zone: that of UTC is left out, others are refused."""
    if isinstance(value, datetime):
        if value.tzinfo is not None and value.utcoffset() != timedelta(0):
            raise ValueError(value)
        return value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    parts = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if parts is None:
        raise ValueError(value)
    day, time = parts.groups()
    return datetime.fromisoformat(f"{day} {time or '00:00'}")
