"""Functions that are written by other expressions, and the names that functions have besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from freshview.calculus.builtin.table import ALIASES
from freshview.calculus.types import BOOL, INT, STRING
from freshview.calculus.types import NULL as NULL_TYPE
from freshview.errors import TypeProblem, UnsupportedSql
from freshview.sql.frames import Unit
from freshview.sql.terms import (
    Arith,
    Call,
    Case,
    Compare,
    Interval,
    IsNull,
    IsTruth,
    Literal,
    Not,
    Same,
    Scalar,
)

Write: TypeAlias = Callable[..., Scalar]

RENAMED = {
    **ALIASES,
    "nvl": "coalesce",
    "ifnull": "coalesce",
    "len": "length",
    "char_length": "length",
    "character_length": "length",
    "lcase": "lower",
    "ucase": "upper",
    "substr": "substring",
    "ceiling": "ceil",
    "pow": "power",
    "dayofmonth": "day",
}
"""Names of SQL for functions of ours."""

PARTS = {
    **dict.fromkeys(("year", "y", "years", "yr", "yrs"), "year"),
    "yearofweek": "yearofweek",
    **dict.fromkeys(("quarter", "qtr"), "quarter"),
    **dict.fromkeys(("month", "mon", "mons", "months"), "month"),
    **dict.fromkeys(("week", "w", "weeks"), "weekofyear"),
    **dict.fromkeys(("day", "d", "days"), "day"),
    **dict.fromkeys(("dayofweek", "dow"), "dayofweek"),
    **dict.fromkeys(("dayofweek_iso", "dow_iso"), "isodayofweek"),
    "doy": "dayofyear",
    **dict.fromkeys(("hour", "h", "hours", "hr", "hrs"), "hour"),
    **dict.fromkeys(("minute", "m", "min", "mins", "minutes"), "minute"),
    **dict.fromkeys(("second", "s", "sec", "seconds", "secs"), "seconds_of"),
}
"""What EXTRACT and DATE_PART know, with the function of each."""

_ZERO = Literal(0, INT)
_MINUS = Literal(-1, INT)


def _nullif(a: Scalar, b: Scalar) -> Scalar:
    return Case(((Compare("=", a, b), Literal(None, NULL_TYPE)),), a)


def _assert_true(condition: Scalar, message: Scalar | None = None) -> Scalar:
    """NULL where the condition holds; else, and where it is unknown, the row is refused."""
    words = message or Literal("the condition of ASSERT_TRUE does not hold", STRING)
    holds = IsTruth(condition, True)
    return Case(((holds, Literal(None, NULL_TYPE)),), Call("raise_error", (words,)))


def _nvl2(a: Scalar, there: Scalar, missing: Scalar) -> Scalar:
    return Case(((Not(IsNull(a)), there),), missing)


def _decode(value: Scalar, *rest: Scalar) -> Scalar:
    """DECODE(x, a, 1, b, 2, 3): the answer of the first that x is, NULL among them."""
    if len(rest) < 2:
        raise TypeProblem("DECODE takes a value, then pairs of a value and an answer")
    default = rest[-1] if len(rest) % 2 else None
    pairs = zip(rest[::2], rest[1::2], strict=False)
    return Case(tuple((Same(value, sought), answer) for sought, answer in pairs), default)


def _date_part(part: Scalar, moment: Scalar) -> Scalar:
    name = part.value if isinstance(part, Literal) else None
    fn = PARTS.get(str(name).strip().lower())
    if fn is None:
        raise UnsupportedSql(
            f"DATE_PART of {name!r} is not supported",
            instead=f"name one of {', '.join(sorted(set(PARTS)))}",
        )
    return Call(fn, (moment,))


def _date_add(*args: Scalar) -> Scalar:
    if len(args) == 3:
        return Call("add_units", args)
    return Call("add_days", args)


def _date_sub(day: Scalar, count: Scalar) -> Scalar:
    return Call("add_days", (day, Arith("*", count, _MINUS)))


def _date_diff(*args: Scalar) -> Scalar:
    if len(args) == 3:
        return Call("units_between", args)
    return Call("days_between", args)


def _interval_of(*units: Unit | tuple[int, Unit]) -> Write:
    """A sum of numbers, each of a unit: MAKE_DT_INTERVAL(days, hours, minutes, seconds)."""

    def write(*counts: Scalar) -> Scalar:
        total: Scalar = Interval(0, units[0] if isinstance(units[0], str) else units[0][1])
        for unit, count in zip(units, counts, strict=False):
            one = Interval(1, unit) if isinstance(unit, str) else Interval(*unit)
            total = Arith("+", total, Arith("*", one, count))
        return total

    return write


WRITTEN: dict[str, tuple[int, int, Write]] = {
    "make_dt_interval": (0, 4, _interval_of("days", (3600, "seconds"), (60, "seconds"), "seconds")),
    "make_ym_interval": (0, 2, _interval_of((12, "months"), "months")),
    "assert_true": (1, 2, _assert_true),
    "nullif": (2, 2, _nullif),
    "nullifzero": (1, 1, lambda a: _nullif(a, _ZERO)),
    "zeroifnull": (1, 1, lambda a: Call("coalesce", (a, _ZERO))),
    "nvl2": (3, 3, _nvl2),
    "nanvl": (2, 2, lambda a, _: a),
    "isnan": (1, 1, lambda _: Literal(False, BOOL)),
    "isnull": (1, 1, IsNull),
    "isnotnull": (1, 1, lambda a: Not(IsNull(a))),
    "equal_null": (2, 2, Same),
    "decode": (3, 1000, _decode),
    "mod": (2, 2, lambda a, b: Arith("%", a, b)),
    "div": (2, 2, lambda a, b: Call("int_div", (a, b))),
    "date_part": (2, 2, _date_part),
    "datepart": (2, 2, _date_part),
    "date_add": (2, 3, _date_add),
    "dateadd": (2, 3, _date_add),
    "timestampadd": (3, 3, _date_add),
    "date_sub": (2, 2, _date_sub),
    "date_diff": (2, 3, _date_diff),
    "datediff": (2, 3, _date_diff),
    "timestampdiff": (3, 3, _date_diff),
}
"""Functions by others: the fewest arguments, the most, and the expression of them."""


def rewritten(fn: str, args: tuple[Scalar, ...]) -> Scalar | None:
    """The expression by which a function is written; None for those that are there."""
    low, high, write = WRITTEN.get(fn, (0, 0, None))
    if write is None:
        return None
    if not low <= len(args) <= high:
        most = "" if low == high else f" to {high}"
        raise TypeProblem(
            f"{fn.upper()} takes {low}{most} arguments, {len(args)} are given",
            instead="give it the right number",
        )
    return write(*args)
