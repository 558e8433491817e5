"""Functions of dates and timestamps, as Spark SQL has them; the session is in UTC."""

from __future__ import annotations

import calendar
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from freshview.calculus.builtin.entry import Entry, bad, entry
from freshview.calculus.builtin.maths import int64
from freshview.calculus.casts import to_date, to_timestamp
from freshview.calculus.scalars import add_months
from freshview.calculus.types import decimal
from freshview.errors import BadValue

EPOCH = date(1970, 1, 1)
START = datetime(1970, 1, 1)
MICRO = timedelta(microseconds=1)

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS: tuple[str, ...] = ("January", "February", "March", "April", "May", "June", "July", "August")
MONTHS += ("September", "October", "November", "December")


def days_of(day: date) -> int:
    """Days since 1970."""
    return (to_date(day) - EPOCH).days


def micros_of(moment: date) -> int:
    """Microseconds since 1970."""
    return (to_timestamp(moment) - START) // MICRO


def moment(fn: str, micros: int) -> datetime:
    """The timestamp of microseconds since 1970."""
    try:
        return START + timedelta(microseconds=micros)
    except OverflowError:
        raise bad(fn, f"{micros} microseconds leave the years 1 to 9999", micros) from None


def day_of(fn: str, days: int) -> date:
    """The date of days since 1970."""
    try:
        return EPOCH + timedelta(days=days)
    except OverflowError:
        raise bad(fn, f"{days} days leave the years 1 to 9999", days) from None


def last_day(day: date) -> date:
    """The last day of the month."""
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def next_day(day: date, name: str) -> date:
    """The first day of a name after a date."""
    short = name.strip(" ").lower()
    number = next((i for i, d in enumerate(DAYS) if short in (d, d[:2], d[:3])), None)
    if number is None:
        raise bad("next_day", f"'{name}' is no day of the week", name)
    return day_of("next_day", days_of(day) + (number - day.weekday() - 1) % 7 + 1)


def months_between(a: datetime, b: datetime, rounded: bool = True) -> float:
    """Months from b to a: whole ones between equal days or last days, else parts of 31 days."""
    months = (a.year - b.year) * 12 + a.month - b.month
    ends = a.day == last_day(a).day and b.day == last_day(b).day
    if a.day == b.day or ends:
        return float(months)
    seconds = (a.day - b.day) * 86400 + _second_of_day(a) - _second_of_day(b)
    answer = months + seconds / (31 * 86400)
    return round(answer, 8) if rounded else answer


def _second_of_day(t: datetime) -> int:
    return t.hour * 3600 + t.minute * 60 + t.second


_UNITS = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
    **dict.fromkeys(("QUARTER",), "quarter"),
    **dict.fromkeys(("MONTH", "MM", "MON"), "month"),
    **dict.fromkeys(("WEEK",), "week"),
    **dict.fromkeys(("DAY", "DD"), "day"),
    **{unit.upper(): unit for unit in ("hour", "minute", "second", "millisecond", "microsecond")},
}


def trunc(day: date, unit: str) -> date | None:
    """The first day of the year, quarter, month or week; NULL of other units."""
    match _UNITS.get(unit.upper()):
        case "year":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day_of("trunc", days_of(day) - day.weekday())
        case _:
            return None


def window_of_number(x: int, step: int, offset: int, back: int) -> int:
    """Where the last window begins that a number is in, or one some steps before it."""
    return int64("window", x - (x - offset) % step - back * step)


def window_of_time(t: datetime, step: int, offset: int, back: int) -> datetime:
    """The same of a moment; steps are in seconds, and counted from 1970."""
    second = 1_000_000
    start = window_of_number(micros_of(t), step * second, offset * second, back)
    return moment("window", start)


def date_trunc(unit: str, t: datetime) -> datetime | None:
    """The start of the unit in which a moment is; NULL of units that there are not."""
    kind = _UNITS.get(unit.upper())
    match kind:
        case None:
            return None
        case "year" | "quarter" | "month" | "week":
            day = trunc(t.date(), unit)
            return None if day is None else to_timestamp(day)
        case "day":
            return t.replace(hour=0, minute=0, second=0, microsecond=0)
        case "hour":
            return t.replace(minute=0, second=0, microsecond=0)
        case "minute":
            return t.replace(second=0, microsecond=0)
        case "second":
            return t.replace(microsecond=0)
        case "millisecond":
            return t.replace(microsecond=t.microsecond // 1000 * 1000)
        case _:
            return t


def make_date(year: int, month: int, day: int) -> date:
    """A date of its parts."""
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        raise bad("make_date", f"{year}-{month}-{day} is no date", year, month, day) from None


def make_timestamp(
    year: int, month: int, day: int, hour: int, minute: int, second: Decimal
) -> datetime:
    """A timestamp of its parts; 60 seconds are the next minute."""
    micros = int(second * 1_000_000)
    try:
        if not (0 <= micros < 60_000_000 or micros == 60_000_000):
            raise ValueError
        start = datetime(year, month, day, hour, minute)
        return start + timedelta(microseconds=micros)
    except (ValueError, OverflowError):
        shown = f"{year}-{month}-{day} {hour}:{minute}:{second}"
        raise bad("make_timestamp", f"{shown} is no moment", year, month, day) from None


def try_make_timestamp(*parts: Any) -> datetime | None:
    """MAKE_TIMESTAMP, or NULL."""
    try:
        return make_timestamp(*parts)
    except BadValue:
        return None


def timestamp_seconds(x: int | Decimal | float) -> datetime:
    """The moment of seconds since 1970."""
    exact = Decimal(x) * 1_000_000
    if isinstance(x, Decimal) and exact != int(exact):
        raise bad("timestamp_seconds", f"{x} has more digits than microseconds", x)
    return moment("timestamp_seconds", int(exact))


def add(unit: str, count: int, t: datetime) -> datetime:
    """A moment so many units later."""
    months = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}.get(unit.upper())
    micros = {
        "MICROSECOND": 1,
        "MILLISECOND": 1000,
        "SECOND": 10**6,
        "MINUTE": 60 * 10**6,
        "HOUR": 3600 * 10**6,
        "DAY": 86400 * 10**6,
        "DAYOFYEAR": 86400 * 10**6,
        "WEEK": 7 * 86400 * 10**6,
    }.get(unit.upper())
    try:
        if months is not None:
            return add_months(t, months * count)  # type: ignore[return-value]
        if micros is not None:
            return moment("timestampadd", micros_of(t) + micros * count)
    except (OverflowError, ValueError):
        raise bad(
            "timestampadd", f"{t} moved by {count} {unit} leaves the years 1 to 9999"
        ) from None
    raise bad("timestampadd", f"there is no unit {unit}", unit)


def difference(unit: str, a: datetime, b: datetime) -> int:
    """Whole units from a to b, toward zero."""
    months = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}.get(unit.upper())
    if months is not None:
        low, high = (a, b) if a <= b else (b, a)
        count = (high.year - low.year) * 12 + high.month - low.month
        if (high.day, high.time()) < (low.day, low.time()):
            count -= 1
        count //= months
        return count if a <= b else -count
    micros = {
        "MICROSECOND": 1,
        "MILLISECOND": 1000,
        "SECOND": 10**6,
        "MINUTE": 60 * 10**6,
        "HOUR": 3600 * 10**6,
        "DAY": 86400 * 10**6,
        "WEEK": 7 * 86400 * 10**6,
    }.get(unit.upper())
    if micros is None:
        raise bad("timestampdiff", f"there is no unit {unit}", unit)
    gap = (b - a) // MICRO
    return gap // micros if gap >= 0 else -(-gap // micros)


def seconds(t: datetime) -> Decimal:
    """The seconds of the minute, with six digits after the point."""
    return (Decimal(t.second) + Decimal(t.microsecond) / 1_000_000).quantize(Decimal("0.000001"))


ENTRIES: tuple[Entry, ...] = (
    entry("dayofweek", "date -> int", lambda d: d.isoweekday() % 7 + 1),
    entry("isodayofweek", "date -> int", lambda d: d.isoweekday()),
    entry("weekday", "date -> int", lambda d: d.weekday()),
    entry("dayofyear", "date -> int", lambda d: d.timetuple().tm_yday),
    entry("weekofyear", "date -> int", lambda d: d.isocalendar().week),
    entry("yearofweek", "date -> int", lambda d: d.isocalendar().year),
    entry("dayname", "date -> string", lambda d: DAYS[d.weekday()][:3].title()),
    entry("monthname", "date -> string", lambda d: MONTHS[d.month - 1][:3]),
    entry("last_day", "date -> date", last_day),
    entry("next_day", "date, string -> date!", next_day),
    entry("months_between", "timestamp, timestamp, [bool] -> double", months_between),
    entry("trunc", "date, string -> date?!", trunc),
    entry("date_trunc", "string, timestamp -> timestamp?!", date_trunc),
    entry("window_of_time", "timestamp, long, long, long -> timestamp!", window_of_time),
    entry("window_of_number", "long, long, long, long -> int!", window_of_number),
    entry("make_date", "int, int, int -> date!", make_date),
    entry(
        "make_timestamp make_timestamp_ntz make_timestamp_ltz",
        "int, int, int, int, int, number -> timestamp!",
        make_timestamp,
    ),
    entry(
        "try_make_timestamp try_make_timestamp_ntz try_make_timestamp_ltz",
        "int, int, int, int, int, number -> timestamp?",
        try_make_timestamp,
    ),
    entry("unix_date", "date -> int", days_of),
    entry("unix_micros", "timestamp -> int", micros_of),
    entry("unix_millis", "timestamp -> int", lambda t: micros_of(t) // 1000),
    entry("unix_seconds", "timestamp -> int", lambda t: micros_of(t) // 1_000_000),
    entry("date_from_unix_date", "int -> date!", lambda n: day_of("date_from_unix_date", n)),
    entry("timestamp_micros", "long -> timestamp!", lambda n: moment("timestamp_micros", n)),
    entry("timestamp_millis", "long -> timestamp!", lambda n: moment("timestamp_millis", n * 1000)),
    entry("timestamp_seconds", "number -> timestamp!", timestamp_seconds),
    entry("seconds_of", "timestamp -> number", seconds, result=lambda _: decimal(6)),
    entry("add_units", "string, long, timestamp -> timestamp!", add),
    entry("units_between", "string, timestamp, timestamp -> int!", difference),
)
