"""Rows as the user gives them, made into rows as a relation declares them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Context, Decimal, InvalidOperation
from typing import Any, TypeAlias

from freshview.calculus.domain import DIGITS, is_decimal, is_int, is_text
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import Type, Value, fits
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

    Raises ValueError where the value does not belong to the type.

    >>> conform(2, Type("decimal", 2)), conform(2, Type("double"))
    (Decimal('2.00'), 2.0)
    """
    # A DataFrame's NaN would be no key that equals itself, and infinities do not cancel.
    if value is not None and not isinstance(value, int | float | Decimal | str | date):
        raise ValueError(value)
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        raise ValueError(value)
    if not fits(value, t):
        raise ValueError(value)
    if value is None or isinstance(value, bool):
        return value
    if t.kind == "int" and isinstance(value, int) and not is_int(value):
        raise ValueError(value)
    if t.kind == "string" and isinstance(value, str) and not is_text(value):
        raise ValueError(value)
    if t.kind == "double" and isinstance(value, int):
        return _as_double(value)
    if t.kind == "double" and isinstance(value, float):
        return value + 0.0  # there is one zero
    if t.kind == "decimal" and isinstance(value, int | Decimal):
        return scaled(Decimal(value), t.scale)
    if t.kind == "timestamp" and getattr(value, "tzinfo", None) is not None:
        raise ValueError(value)
    return value


def _as_double(value: int) -> float:
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


def checked(relation: Relation, row: RowLike, at: Place | None = None) -> Row:
    """The row as a tuple in the order of the columns, or a BadRow that names what is wrong.

    A row may also be a mapping from column names to values.
    """
    if isinstance(row, Mapping):
        row = by_name(relation, row, at)
    if isinstance(row, str | bytes) or not isinstance(row, Sequence):
        raise BadRow(
            f"a row of '{relation.name}' cannot be {row!r}",
            instead="give a tuple of values, or a mapping from column names to values",
            at=at,
        )
    if len(row) != len(relation.columns):
        raise wrong_arity(relation, len(row), at)
    return tuple(_value(relation, c, v, at) for c, v in zip(relation.columns, row, strict=True))


def _value(relation: Relation, column: Column, value: Value, at: Place | None) -> Value:
    try:
        return conform(value, column.type)
    except ValueError as e:
        raise bad_value(relation, column, value, at) from e


def by_name(
    relation: Relation, row: Mapping[str, Value], at: Place | None = None
) -> Sequence[Value]:
    """The values of a mapping in the order of the columns; a name that is missing gives NULL."""
    names = [c.name for c in relation.columns]
    values_by_name = {name.lower(): value for name, value in row.items()}  # as names are in SQL
    unknown = sorted(set(values_by_name) - {name.lower() for name in names})
    if unknown:
        raise BadRow(
            f"'{relation.name}' has no column '{unknown[0]}'",
            instead=f"its columns are {', '.join(names)}",
            at=at,
        )
    return [values_by_name.get(name.lower()) for name in names]


def wrong_arity(relation: Relation, found: int, at: Place | None = None) -> BadRow:
    """The complaint about a row that is too long or too short."""
    names = ", ".join(c.name for c in relation.columns)
    return BadRow(
        f"a row of '{relation.name}' has {found} values",
        instead=f"expected {len(relation.columns)}: {names}",
        at=at,
    )


def bad_value(relation: Relation, column: Column, value: object, at: Place | None = None) -> BadRow:
    """The complaint about a value that its column does not hold."""
    name = f"{relation.name}.{column.name}"
    if value is None:
        return BadRow(f"{name} is NOT NULL", instead=f"expected {expected(column.type)}", at=at)
    words = f"expected {expected(column.type)}{_beyond(value, column.type)}"
    return BadRow(f"{name} cannot hold {_shown(value)}", instead=words, at=at)


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


def repeated(name: str, order: Iterable[Row], counts: Mapping[Row, Any]) -> list[Row]:
    """The rows of a view in an order, each as often as it counts.

    >>> repeated("v", [(1,), (2,)], {(1,): 2, (2,): 1})
    [(1,), (1,), (2,)]
    """
    total = sum(int(n) for n in counts.values())
    if total - len(counts) > MOST_COPIES:
        raise too_long(name, total)
    return [row for row in order for _ in range(int(counts[row]))]


def too_long(name: str, rows: int) -> Overflow:
    """The complaint about rows that come too often to be listed one by one."""
    return Overflow(
        f"'{name}' has {rows:,} rows, each counted as often as it comes: too many to list",
        instead="group them by their columns, with a COUNT(*)",
    )
