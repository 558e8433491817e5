"""What the built-in scalar functions compute, as Spark SQL does; NULL is handled by the caller."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

from freshview.algebra import Number
from freshview.calculus.casts import LIMIT, WIDE, show_double, to_date
from freshview.calculus.types import Value
from freshview.errors import BadValue

T = TypeVar("T")
Day = TypeVar("Day", bound=date)

ESCAPE = "\\"
"""What takes the meaning of % and _ in LIKE, unless ESCAPE names another character."""


def divide(a: Number, b: Number) -> float | None:
    """The quotient as a double; NULL by 0."""
    return None if b == 0 else float(a) / float(b)


def modulo(a: Any, b: Any) -> Any:
    """The remainder with the sign of the left side; NULL by 0."""
    if b == 0:
        return None
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(a, b)
    remainder = abs(a) % abs(b)
    return -remainder if a < 0 else remainder


def when(count: object, value: T) -> T | None:
    """The value of an aggregate over `count` rows: NULL over none."""
    return value if count else None


def like_parts(pattern: str, escape: str = ESCAPE) -> list[str | None]:
    r"""A LIKE pattern as its characters: "" for %, None for _, and those that stand for themselves.

    >>> like_parts(r"a_\%%")
    ['a', None, '%', '']
    """
    parts: list[str | None] = []
    letters = iter(pattern)
    for c in letters:
        if c == escape:
            following = next(letters, "nothing")
            if following not in ("%", "_", escape):
                raise BadValue(
                    f"'{pattern}' is not a pattern: behind its escape character {escape} stands "
                    f"{following}",
                    instead=f"write %, _ or {escape} behind it",
                    values=(pattern,),
                )
            parts.append(following)
        else:
            parts.append("" if c == "%" else None if c == "_" else c)
    return parts


@lru_cache(maxsize=512)
def like_pattern(pattern: str, escape: str = ESCAPE) -> re.Pattern[str]:
    """The regular expression of a LIKE pattern: % is any text, _ any character.

    What stands between two % is found where it comes first, and not sought again: the rest has
    the most room then, and no text takes more than its length times that of the pattern.
    """
    runs: list[str] = [""]
    for c in like_parts(pattern, escape):
        if c == "":
            runs.append("")
        else:
            runs[-1] += "." if c is None else re.escape(c)
    first, *others = runs
    if not others:
        return re.compile(first, re.DOTALL)
    *between, last = others
    middle = "".join(f"(?>.*?{run})" for run in between if run)
    return re.compile(f"{first}{middle}.*{last}", re.DOTALL)


def like(text: str, pattern: str, escape: str = ESCAPE) -> bool:
    """Text LIKE pattern ESCAPE escape."""
    return like_pattern(pattern, escape).fullmatch(text) is not None


def extreme(pick: Callable[..., Value]) -> Callable[..., Value]:
    """The greatest or the least of the arguments, of which there may be one.

    >>> extreme(max)("abc"), extreme(min)(3, 2)
    ('abc', 2)
    """
    return lambda *values: pick(values)


def among(x: Value, *choices: Value) -> bool:
    """Whether x is one of the choices."""
    return x in choices


def substring(text: str, start: int, length: int | None = None) -> str:
    """From a position on: they count from 1, 0 means 1, a negative one counts from the end.

    A start before the text uses up its part of the length.

    >>> substring("abc", -8), substring("abc", -8, 6), substring("abc", 0, 2)
    ('abc', 'a', 'ab')
    """
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    end = len(text) if length is None else begin + length
    return text[max(begin, 0) : max(end, 0)]


def trim(text: str) -> str:
    """The text without the blanks at both ends; other white space stays, as in Spark."""
    return text.strip(" ")


def in_range(shift: Callable[[Day, int], Day], unit: str) -> Callable[[Day, int], Day]:
    """A way to move dates that refuses to leave the years 1 to 9999."""

    def moved(day: Day, count: int) -> Day:
        try:
            return shift(day, count)
        except (OverflowError, ValueError):
            raise BadValue(
                f"{day} moved by {count} {unit} leaves the years 1 to 9999",
                instead="use a shorter interval",
                values=(day, count),
            ) from None

    return moved


def add_days(day: Day, count: int) -> Day:
    """A date or timestamp some days later."""
    return day + timedelta(days=count)


def add_seconds(moment: Day, count: int) -> Day:
    """A timestamp some seconds later."""
    return moment + timedelta(seconds=count)


def add_micros(moment: Day, count: int) -> Day:
    """A timestamp some microseconds later."""
    return moment + timedelta(microseconds=count)


def add_months(day: date, months: int) -> date:
    """A date or timestamp some months later; a month without such a day has its last one."""
    month = day.month - 1 + months
    year, month = day.year + month // 12, month % 12 + 1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    last = (
        29 if month == 2 and leap else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]
    )
    return day.replace(year=year, month=month, day=min(day.day, last))


def days_between(a: date, b: date) -> int:
    """The days from b to a."""
    return (to_date(a) - to_date(b)).days


def clock(part: str) -> Callable[[date], int]:
    """The hour, minute or second of a moment; a date is its midnight."""
    return lambda d: getattr(d, part) if isinstance(d, datetime) else 0


def round_(x: Number, digits: int = 0) -> Number:
    """To so many digits after the point, halves away from zero; doubles by the digits they show.

    >>> round_(1.005, 2), round_(0.49999999999999994), round_(Decimal("2.50")), round_(125, -1)
    (1.01, 0.0, Decimal('3.00'), 130)
    """
    if isinstance(x, bool | int):
        return _within(int(_rounded(Decimal(x), digits)), "round", x, digits)
    if isinstance(x, Decimal):
        return _rounded(x, digits).quantize(x, context=WIDE)
    return float(_rounded(Decimal(show_double(x)), digits)) + 0.0


def _rounded(x: Decimal, digits: int) -> Decimal:
    if -int(x.as_tuple().exponent) <= digits:
        return x
    if x.adjusted() < -digits - 1:
        return Decimal(0)
    return x.quantize(Decimal(1).scaleb(-digits, WIDE), ROUND_HALF_UP, WIDE)


def whole(name: str, of: Callable[[Number], int]) -> Callable[[Number], int]:
    """FLOOR or CEIL: a 64-bit integer."""
    return lambda x: _within(of(x), name, x)


def _within(n: int, fn: str, *args: Value) -> int:
    if -LIMIT < n < LIMIT:
        return n
    raise BadValue(
        f"{fn.upper()} of {args[0]} leaves the 64-bit integers",
        instead="use a smaller number",
        values=args,
    )


def vec_length(x: float, y: float, z: float) -> float:
    """The length of a vector."""
    return math.sqrt(x * x + y * y + z * z)


def dihedral_angle(*c: float) -> float:
    """The angle between the planes through points 1-2-3 and 2-3-4, in radians."""
    points = [c[i : i + 3] for i in range(0, 12, 3)]
    v1, v2, v3 = (tuple(b - a for a, b in zip(p, q, strict=True)) for p, q in pairwise(points))
    n1, n2 = _cross(v1, v2), _cross(v2, v3)
    return math.atan2(vec_length(*v2) * _dot(v1, n2), _dot(n1, n2))


def _cross(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float, float]:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _dot(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def sqrt(x: Number) -> float | None:
    """The square root; NULL of negative numbers."""
    return None if x < 0 else math.sqrt(x)


def power(a: Number, b: Number) -> float | None:
    """A to the power of b; NULL where that is not a real number, or none that a double holds."""
    try:
        return math.pow(a, b)
    except (ValueError, OverflowError):
        return None


def coalesce(*args: Value) -> Value:
    """The first that is not NULL."""
    return next((a for a in args if a is not None), None)
