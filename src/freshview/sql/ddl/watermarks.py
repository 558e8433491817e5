"""WATERMARK FOR column AS column - delay, among the columns of a stream."""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.schema import Column, EventTime
from freshview.calculus.types import Kind, Type
from freshview.errors import Place, SyntaxProblem, TypeProblem, UnsupportedSql
from freshview.sql.ddl.cursor import Cursor, shown
from freshview.sql.script import Token

SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86_400, "WEEK": 604_800}
DAYS = {"DAY": 1, "WEEK": 7}
MOST_DELAY = 1 << 60
"""Far below the ends of 64 bits, so that a time less its delay stays within them."""

KINDS: tuple[Kind, ...] = ("int", "double", "date", "timestamp")


def read_watermark(cursor: Cursor, columns: Iterable[Column], *, static: bool) -> EventTime:
    """The rest of WATERMARK FOR t AS t - INTERVAL '5' MINUTE, from the column on.

    The columns must have been declared before it.
    """
    at = cursor.peek().at
    name = cursor.name()
    if static:
        raise UnsupportedSql(
            "a static table has no watermark: all its rows come before the streams",
            instead="leave WATERMARK out, or declare it with CREATE STREAM",
            at=at,
        )
    column = _time_column(name, columns, at)
    cursor.expect("AS")
    again = cursor.peek()
    if cursor.name().lower() != column.name.lower():
        raise UnsupportedSql(
            f"a watermark follows its own column, not '{again.text}'",
            instead=f"write WATERMARK FOR {name} AS {name}, or {name} less a delay",
            at=again.at,
        )
    if not cursor.accept("-"):
        return EventTime(column.name)
    if cursor.accept("INTERVAL"):
        return EventTime(column.name, _interval(cursor, column.type))
    return EventTime(column.name, _number(cursor, column.type))


def _time_column(name: str, columns: Iterable[Column], at: Place) -> Column:
    column = next((c for c in columns if c.name.lower() == name.lower()), None)
    if column is None:
        raise SyntaxProblem(
            f"the watermark is for '{name}', which is no column before it",
            instead="declare the column first",
            at=at,
        )
    if column.type.kind not in KINDS:
        raise TypeProblem(
            f"'{column.name}' is {column.type.not_null()}, which is no time",
            instead="use a column of INT, DOUBLE, DATE or TIMESTAMP",
            at=at,
        )
    if column.type.nullable:
        raise TypeProblem(
            f"'{column.name}' admits NULL, and every row needs a time",
            instead=f"declare {column.name} NOT NULL",
            at=at,
        )
    return column


def _interval(cursor: Cursor, t: Type) -> int | float:
    """INTERVAL '5' MINUTE, INTERVAL 5 MINUTES or INTERVAL '5 minutes'."""
    amount = cursor.next()
    words = amount.text.split()
    if amount.kind == "string" and len(words) == 2:
        count, unit = words
    else:
        count, unit = amount.text.strip(), cursor.next().text
    unit = unit.upper().removesuffix("S")
    units = DAYS if t.kind == "date" else SECONDS
    if t.kind not in ("date", "timestamp"):
        raise TypeProblem(
            f"an interval cannot be taken from {t}", instead="give a number", at=amount.at
        )
    if not (count.isascii() and count.isdigit()) or unit not in units:
        raise UnsupportedSql(
            f"a delay cannot be INTERVAL '{count}' {unit}",
            instead=f"write INTERVAL '5' and one of {', '.join(units)}",
            at=amount.at,
        )
    micros = 1 if t.kind == "date" else 1_000_000
    return _checked(int(count) * units[unit] * micros, amount)


def _number(cursor: Cursor, t: Type) -> int | float:
    amount = cursor.next()
    if t.kind == "timestamp" or amount.kind != "number":
        raise SyntaxProblem(
            f"expected a delay but found {shown(amount)}",
            instead="write INTERVAL '5' MINUTE" if t.kind == "timestamp" else "write a number",
            at=amount.at,
        )
    if t.kind == "double":
        return _checked(float(amount.text), amount)
    if not amount.text.isdigit():
        raise TypeProblem(f"the delay of {t} is a whole number, not {amount.text}", at=amount.at)
    return _checked(int(amount.text), amount)


def _checked(delay: int | float, at: Token) -> int | float:
    if delay > MOST_DELAY:
        raise TypeProblem(
            f"a delay of {delay} is too long", instead="write a shorter one", at=at.at
        )
    return delay
