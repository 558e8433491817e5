"""Rows as the user gives them, made into rows as a relation declares them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Context, Decimal, InvalidOperation
from typing import Any, TypeAlias

from freshview.algebra import Number
from freshview.calculus.domain import DIGITS, is_decimal, is_int, is_text
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import DAY_TIME, Type, Value, fits
from freshview.errors import BadRow, Overflow, Place

Row: TypeAlias = tuple[Value, ...]
RowLike: TypeAlias = Sequence[Value] | Mapping[str, Value]

_WIDE = Context(prec=1000)
"""A context of its own: that of the thread has 28 digits, and may be anything."""

MOST_LISTED = (1 << 31) - 1
"""Rows of a table, those that come several times counted as often as they come."""

MOST_COPIES = 50_000_000
"""Rows of a list in Python that only repeat others."""

EXPECTED = {
    "int": "a 64-bit integer",
    "double": "a finite number",
    "date": "a date as YYYY-MM-DD",
    "timestamp": "a timestamp as YYYY-MM-DD HH:MM:SS, without time zone",
    "bool": "true or false",
    "string": "a text",
    "null": "NULL",
    "ring": "an element of a ring",
}


def expected(t: Type) -> str:
    """What a value of a type looks like, in words.

    >>> expected(Type("decimal", 2)), expected(Type("int", nullable=True))
    ('a decimal with at most 2 digits after the point', 'a 64-bit integer or NULL')
    """
    if t.kind == "decimal":
        words = f"a decimal with at most {t.scale} digits after the point"
    else:
        words = EXPECTED[t.kind]
    return f"{words} or NULL" if t.nullable and t.kind != "null" else words


def conform(value: Value, t: Type) -> Value:
    """A value as its type writes it: integers become doubles or decimals, decimals get their scale.

    A value of another type is taken where it stands for exactly one of this type (`convert.py`).
    Raises ValueError where the value does not belong to the type.

    >>> conform(2, Type("decimal", 2)), conform(2, Type("double"))
    (Decimal('2.00'), 2.0)
    """
    # A DataFrame's NaN would not be a key that equals itself, and infinities do not cancel.
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        raise ValueError(value)
    if not _belongs(value, t):
        from freshview.calculus.convert import converted  # few processes convert values

        value = converted(value, t)
    if value is None or isinstance(value, bool):
        return value
    if t.kind == "decimal" and isinstance(value, int | Decimal):
        return scaled(Decimal(value), t.scale)
    if t.kind == "double" and isinstance(value, int | float):
        return _as_double(value) + 0.0  # there is one zero
    value = plain(value)
    if isinstance(value, int) and not is_int(value):
        raise ValueError(value)
    if isinstance(value, str) and not is_text(value):
        raise ValueError(value)
    return value


def _belongs(value: object, t: Type) -> bool:
    """Whether a value is of a class that stands for values of the type, without a conversion."""
    if value is None:
        if not t.nullable:
            raise ValueError(value)
        return True
    if not isinstance(value, int | float | Decimal | str | date):
        return False
    if isinstance(value, datetime) and value.tzinfo is not None:
        return False
    return fits(value, t)


def plain(value: Value) -> Value:
    """A value of Python's own types: NumPy's text, pandas' moments and enumerations are others.

    Raises ValueError for a moment that is none of microseconds, such as NaT.

    >>> from enum import IntEnum
    >>> plain(IntEnum("Colour", ["RED"]).RED)
    1
    """
    kind = type(value)
    if kind is int or kind is str or kind is date:
        return value
    if isinstance(value, datetime):
        if getattr(value, "nanosecond", 0):
            raise ValueError(value)
        return _at(value) if kind is not datetime or value.fold else value
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__int__(value)
    return str.__str__(value) if isinstance(value, str) else value


def _at(value: datetime) -> datetime:
    """A moment by what it says of itself: that of a subclass may be none of the years 1 to 9999."""
    day = (value.year, value.month, value.day)
    time = (value.hour, value.minute, value.second, value.microsecond)
    try:
        return datetime(*day, *time, tzinfo=value.tzinfo)
    except TypeError as e:  # the year of NaT is not an integer
        raise ValueError(value) from e


def _as_double(value: float) -> float:
    try:
        return float(value)
    except OverflowError as e:
        raise ValueError(value) from e


def scaled(value: Decimal, scale: int) -> Decimal:
    """A decimal written with `scale` digits after the point, which must hold it exactly.

    >>> scaled(Decimal("1.5"), 2)
    Decimal('1.50')
    """
    if value and value.adjusted() > DIGITS:
        raise ValueError(value)  # before it is written out: 1E+999999 takes a while
    try:
        out = value.quantize(Decimal(1).scaleb(-scale), context=_WIDE)
    except InvalidOperation as e:
        raise ValueError(value) from e
    if out != value or not is_decimal(out):
        raise ValueError(value)
    return out or out.copy_abs()  # there is one zero


def as_declared(columns: Sequence[Column], rows: list[Row]) -> list[Row]:
    """Rows of a view as its columns write numbers: those on the way to it may be of other types.

    >>> as_declared([Column("x", Type("decimal", 2)), Column("y", Type("double"))], [(5, -0.0)])
    [(Decimal('5.00'), 0.0)]
    """
    digits = {i: c.type.scale for i, c in enumerate(columns) if c.type.kind == "decimal"}
    doubles = [i for i, c in enumerate(columns) if c.type.kind == "double"]
    spans = [i for i, c in enumerate(columns) if c.type.span == DAY_TIME.span]
    if not digits and not doubles and not spans:
        return rows
    units = [(i, Decimal(1).scaleb(-scale)) for i, scale in digits.items()]
    out = []
    for row in rows:
        values: list[Any] = list(row)
        for i, unit in units:
            if values[i] is not None:
                exact = Decimal(values[i]).quantize(unit, context=_WIDE)
                values[i] = exact or exact.copy_abs()
        for i in doubles:
            if values[i] is not None:
                values[i] = float(values[i]) + 0.0
        for i in spans:
            if values[i] is not None:
                values[i] = timedelta(microseconds=values[i])
        out.append(tuple(values))
    return out


def checked(relation: Relation, row: RowLike, at: Place | None = None) -> Row:
    """The row as a tuple in the order of the columns, or a BadRow that names what is wrong.

    A row may also be a mapping from column names to values.
    """
    row = in_order(relation, row, at)
    if len(row) != len(relation.columns):
        raise wrong_arity(relation, len(row), at)
    return tuple(_value(relation, c, v, at) for c, v in zip(relation.columns, row, strict=True))


def in_order(relation: Relation, row: RowLike, at: Place | None = None) -> Sequence[Value]:
    """The values of a row, which are not checked yet; what is not a row is refused."""
    if isinstance(row, Mapping):
        return by_name(relation, row, at)
    if isinstance(row, str | bytes) or not isinstance(row, Sequence):
        raise BadRow(
            f"a row of '{relation.name}' cannot be {row!r}",
            instead="give a tuple of values, or a mapping from column names to values",
            at=at,
        )
    return row


def conform_to(value: Value, column: Column) -> Value:
    """A value as its column writes it; ValueError where it is larger than the column is declared.

    >>> from freshview.calculus.types import INT
    >>> conform_to(-128, Column("x", INT, 8))
    -128
    """
    value = conform(value, column.type)
    if not column.size or value is None:
        return value
    if isinstance(value, str):
        large = len(value) > column.size
    elif isinstance(value, Decimal):
        large = value.adjusted() >= column.size - column.type.scale and bool(value)
    else:
        limit = 1 << (column.size - 1)
        large = isinstance(value, int) and not -limit <= value < limit
    if large:
        raise ValueError(value)
    return value


def _value(relation: Relation, column: Column, value: Value, at: Place | None) -> Value:
    try:
        return conform_to(value, column)
    except ValueError as e:
        raise bad_value(relation, column, value, at) from e


def by_name(
    relation: Relation, row: Mapping[str, Value], at: Place | None = None
) -> Sequence[Value]:
    """The values of a mapping in the order of the columns; a name that is missing gives NULL."""
    names = [c.name for c in relation.columns]
    values_by_name = {
        str(name).lower(): value for name, value in row.items()
    }  # as names are in SQL
    unknown = sorted(set(values_by_name) - {name.lower() for name in names})
    if unknown:
        raise BadRow(
            f"'{relation.name}' has no column '{unknown[0]}'",
            instead=f"its columns are {', '.join(names)}",
            at=at,
        )
    return [values_by_name.get(name.lower()) for name in names]


def wrong_arity(relation: Relation, count: int, at: Place | None = None) -> BadRow:
    """The error about a row that is too long or too short."""
    names = ", ".join(c.name for c in relation.columns)
    return BadRow(
        f"a row of '{relation.name}' has {count} values",
        instead=f"expected {len(relation.columns)}: {names}",
        at=at,
    )


def bad_value(relation: Relation, column: Column, value: object, at: Place | None = None) -> BadRow:
    """The error about a value that its column does not hold."""
    name = f"{relation.name}.{column.name}"
    if value is None:
        return BadRow(f"{name} is NOT NULL", instead=f"expected {expected(column.type)}", at=at)
    words = f"expected {_sized(column) or expected(column.type) + _beyond(value, column.type)}"
    return BadRow(f"{name} cannot hold {_shown(value)}", instead=words, at=at)


def _sized(column: Column) -> str:
    """What a value looks like that is as large as its column is declared; empty for any size."""
    if not column.size:
        return ""
    null = " or NULL" if column.type.nullable else ""
    match column.type.kind:
        case "int":
            limit = 1 << (column.size - 1)
            return f"an integer from {-limit} to {limit - 1}{null}"
        case "decimal":
            before, after = column.size - column.type.scale, column.type.scale
            digits = f"{after} digits after the point and {before} before it"
            return f"a decimal with at most {digits}{null}"
        case _:
            return f"a text of at most {column.size} characters{null}"


def _beyond(value: object, t: Type) -> str:
    """Why a value of the right kind is none of the domain, if it is so."""
    match value:
        case bool():
            return ""
        case int() if t.kind == "int" and not is_int(value):
            return ", from -9223372036854775807 to 9223372036854775807"
        case int() | Decimal() if t.kind == "decimal":
            return f", {DIGITS} in all"
        case str() if t.kind == "string":
            return " of whole characters, not half a surrogate pair"
    return ""


def _shown(value: object) -> str:
    """A value as Python writes it; a number that would fill the screen by its ends."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no integers of thousands of digits
        return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else "this"
    if isinstance(value, int | Decimal) and len(text) > 100:
        return f"{text[:40]}...{text[-20:]}"
    return text


def repeated(name: str, order: Iterable[Row], counts: Mapping[Row, Number]) -> list[Row]:
    """The rows of a view in an order, each as often as it counts.

    >>> repeated("v", [(1,), (2,)], {(1,): 2, (2,): 1})
    [(1,), (1,), (2,)]
    """
    total = sum(int(n) for n in counts.values())
    if total - len(counts) > MOST_COPIES:
        raise too_long(name, total)
    return [row for row in order for _ in range(int(counts[row]))]


def left_range(name: str) -> Overflow:
    """The error about a number that is computed when a view is read, and is too large."""
    return Overflow(
        f"a number of '{name}' leaves its range when it is read",
        instead="integers have 64 bits and decimals 38 digits; "
        "delete the rows that make it so large, or use DOUBLE in the view",
    )


def too_long(name: str, rows: int) -> Overflow:
    """The error about rows that come too often to be listed one by one."""
    return Overflow(
        f"'{name}' has {rows:,} rows, each counted as often as it comes: too many to list",
        instead="group them by their columns, with a COUNT(*)",
    )
