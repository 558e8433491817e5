"""CAST, as Spark SQL has it in ANSI mode: one function a type, for constants and for rows.

What a type cannot hold is refused with one sentence: a cast never answers with something else.
Two domains are narrower than Spark's: doubles are finite, and years go from 1 to 9999.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from freshview.algebra import Number
from freshview.calculus.domain import DIGITS, INT_MAX
from freshview.calculus.timestamps import WHITE, read_date, read_timestamp, show_moment
from freshview.calculus.types import Kind, Type, Value
from freshview.errors import BadValue

BLANK = WHITE[:33]
"""What is taken off both ends of the text of a number with a point."""

WIDE = Context(prec=400)
"""Holds every double, and rounds every decimal: the exact context of a caller rounds nothing."""

MOST_DIGITS = DIGITS
LIMIT = INT_MAX + 1
"""Integers are smaller than this; its negative is NULL in kernels, and no integer either."""

TRUE = frozenset(("t", "true", "y", "yes", "1"))
FALSE = frozenset(("f", "false", "n", "no", "0"))

_INT = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?"
_DECIMAL = re.compile(_NUMBER, re.ASCII)
_DOUBLE = re.compile(_NUMBER + r"[dDfF]?", re.ASCII)

SOURCES: dict[Kind, tuple[Kind, ...]] = {
    "int": ("int", "decimal", "double", "bool", "string"),
    "decimal": ("int", "decimal", "double", "bool", "string"),
    "double": ("int", "decimal", "double", "bool", "string"),
    "bool": ("int", "decimal", "double", "bool", "string"),
    "string": ("int", "decimal", "double", "bool", "string", "date", "timestamp"),
    "date": ("date", "timestamp", "string"),
    "timestamp": ("date", "timestamp", "string"),
}
"""From which types there is a CAST to a type; the others have none in Spark either."""

_HINTS: dict[str, str] = {
    "int": "a 64-bit integer is digits with at most a sign before them",
    "double": "a double is a finite number like 1.5 or 2e3",
    "bool": "a boolean is true, false, t, f, yes, no, y, n, 1 or 0",
    "date": "a date is written as 2024-02-29, in a year from 1 to 9999",
    "timestamp": "a timestamp is written as 2024-02-29 12:30:00, without a time zone",
}


def refused(value: Value, to: str, hint: str = "") -> BadValue:
    """The error about a value that a type cannot hold."""
    shown = f"'{value}'" if isinstance(value, str) else plain(value)
    return BadValue(
        f"{shown} cannot be cast to {to.upper()}: {hint or _HINTS[to]}",
        instead="correct the value, or use TRY_CAST, which gives NULL",
        values=(value,),
    )


NAMES_OF_BITS = {8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT"}


def to_int(x: Number | str, bits: int = 64) -> int:
    """An integer of so many bits: the part before the point of a number, toward zero.

    >>> to_int(" +12 "), to_int(Decimal("-1.9")), to_int(True), to_int(-128.9, 8)
    (12, -1, 1, -128)
    """
    if isinstance(x, str):
        if not _INT.fullmatch(x.strip(WHITE)) or len(x) > 1000:
            raise refused(x, "int")
        n = int(x.strip(WHITE))
    elif isinstance(x, float) and x == float(LIMIT):
        n = LIMIT - 1  # as Spark does: the double stands for all that round to it
    else:
        n = int(x)
    if not -LIMIT < n < LIMIT:
        raise refused(x, "int", "64-bit integers end before 9223372036854775808")
    end = 1 << (bits - 1)
    if not -end <= n < end:
        name = NAMES_OF_BITS.get(bits, "INT")
        raise refused(x, name, f"{name} goes from {-end} to {end - 1}")
    return n


def to_double(x: Number | str) -> float:
    """A double; a text may have an exponent, and Java's d or f behind it.

    >>> to_double("1.5e3"), to_double(".5d"), to_double(Decimal("0.1"))
    (1500.0, 0.5, 0.1)
    """
    if not isinstance(x, str):
        return float(x)
    text = x.strip(BLANK)
    answer = float(text.rstrip("dDfF")) if _DOUBLE.fullmatch(text) else math.nan
    if not math.isfinite(answer):
        raise refused(x, "double")
    return answer


def to_decimal(x: Number | str, digits: int, like: Decimal) -> Decimal:
    """A decimal of so many digits, as many after the point as `like` has; halves go away from 0.

    >>> to_decimal("1.005", 10, Decimal("0.00")), to_decimal(2.675, 3, Decimal("0.00"))
    (Decimal('1.01'), Decimal('2.68'))
    """
    if isinstance(x, str):
        exact = _read_decimal(x)
    else:
        exact = Decimal(show_double(x)) if isinstance(x, float) else Decimal(x)
    scale = -int(like.as_tuple().exponent)
    if not exact:
        return Decimal(0).scaleb(-scale, WIDE)
    if exact.adjusted() <= MOST_DIGITS:
        rounded = exact.quantize(Decimal(1).scaleb(-scale, WIDE), ROUND_HALF_UP, WIDE)
        if rounded.adjusted() < digits - scale:
            return rounded if rounded else abs(rounded)
    most = f"{digits - scale} digits before the point"
    raise refused(x, "decimal", f"DECIMAL({digits}, {scale}) has {most}")


def _read_decimal(x: str) -> Decimal:
    number = _DECIMAL.fullmatch(x.strip(BLANK))
    if number is None or abs(int(number[1] or 0)) >= 1 << 31:
        raise refused(x, "decimal", "a decimal is a number like 1.50 or 2e3")
    return Decimal(number[0])


def to_bool(x: object) -> bool:
    """True or false; of numbers, whether it is not 0.

    >>> to_bool(" Yes "), to_bool("f"), to_bool(Decimal("0.5"))
    (True, False, True)
    """
    if not isinstance(x, str):
        return bool(x)
    word = x.strip(WHITE).lower()
    if word not in TRUE and word not in FALSE:
        raise refused(x, "bool")
    return word in TRUE


def to_date(x: date | str) -> date:
    """A date; of a timestamp, its day."""
    if isinstance(x, datetime):
        return x.date()
    if isinstance(x, date):
        return x
    try:
        return read_date(x)
    except ValueError:
        raise refused(x, "date") from None


def to_timestamp(x: Any) -> datetime:
    """A timestamp; of a date, its midnight."""
    if isinstance(x, datetime):
        return x
    if isinstance(x, date):
        return datetime(x.year, x.month, x.day)
    try:
        return read_timestamp(x)
    except ValueError:
        raise refused(x, "timestamp") from None


def to_string(x: object) -> str:
    """A value as text.

    >>> to_string(True), to_string(Decimal("1.50")), to_string(1e7), to_string(-0.0)
    ('true', '1.50', '1.0E7', '0.0')
    """
    return x if isinstance(x, str) else plain(x)


def plain(x: object) -> str:
    """What CAST writes for a value that is not text."""
    match x:
        case bool():
            return "true" if x else "false"
        case float():
            return show_double(x + 0.0)  # keys have one zero
        case Decimal():
            return format(x, "f")
        case date():
            return show_moment(x)
        case _:
            return str(x)


def show_double(x: float) -> str:
    """The shortest text that reads back, of at least two digits, in Java's form.

    >>> show_double(0.001), show_double(1e-4), show_double(123.456), show_double(5e-324)
    ('0.001', '1.0E-4', '123.456', '4.9E-324')
    """
    if not math.isfinite(x):
        return "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"
    digits = Decimal(repr(x)).normalize(WIDE).as_tuple().digits
    mantissa, _, exponent = f"{x:.{max(1, len(digits) - 1)}e}".partition("e")
    power = int(exponent)
    if -3 <= power < 7:
        whole, _, part = format(Decimal(mantissa).scaleb(power, WIDE), "f").partition(".")
        return f"{whole}.{part.rstrip('0') or 0}"
    return f"{mantissa}E{power}"


CASTS: dict[Kind, Callable[..., Value]] = {
    "int": to_int,
    "double": to_double,
    "decimal": to_decimal,
    "bool": to_bool,
    "date": to_date,
    "timestamp": to_timestamp,
    "string": to_string,
}
"""The cast to each type; that to decimals also takes how many digits they have, and one of them."""


def attempt(to: Kind) -> Callable[..., Value]:
    """TRY_CAST: NULL where CAST refuses.

    >>> attempt("int")("abc"), attempt("int")("12")
    (None, 12)
    """
    compute = CASTS[to]

    def tried(*args: Value) -> Value:
        try:
            return compute(*args)
        except BadValue:
            return None

    return tried


NARROW_BITS = (8, 16, 32)
"""How many bits an integer may be cast to, but for 64."""


def never_fails(source: Type, to: Type, digits: int = MOST_DIGITS) -> bool:
    """Whether every value of a type can be cast to another one, of so many digits.

    >>> from freshview.calculus.types import DATE, INT, STRING, decimal
    >>> never_fails(INT, STRING), never_fails(STRING, INT), never_fails(INT, decimal(2), 20)
    (True, False, False)
    """
    match source.kind, to.kind:
        case "string", _:
            return to.kind == "string"
        case "decimal", "decimal":
            return digits == MOST_DIGITS and to.scale <= source.scale
        case "int", "int":
            return digits not in NARROW_BITS
        case "int" | "bool", "decimal":
            return digits - to.scale >= (19 if source.kind == "int" else 1)
        case "double" | "decimal", "int" | "decimal":
            return False
        case _:
            return True


MOVES = ("add_days", "add_months", "add_seconds", "add_micros")

REFUSING = frozenset((*(f"cast_{kind}" for kind in CASTS), *MOVES))
"""The functions that may refuse a value: engines call them when all other tests are passed."""
