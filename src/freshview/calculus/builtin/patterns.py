"""Patterns of dates and timestamps, as DATE_FORMAT and TO_TIMESTAMP of Spark have them."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import TypeAlias

from freshview.calculus.builtin.dates import DAYS, MONTHS, START, micros_of
from freshview.calculus.builtin.entry import Entry, bad, entry
from freshview.calculus.casts import to_date, to_timestamp
from freshview.errors import BadValue

DEFAULT = "yyyy-MM-dd HH:mm:ss"
Piece: TypeAlias = tuple[str, int]
"""A letter with how often it stands; or a text, with 0."""

_WRITES = "GyMLdDQqEFaHhKkmsSVzOXxZ"
_READS = "yMLdDHhmsSaE"


@lru_cache(maxsize=512)
def pieces(pattern: str, letters: str = _WRITES) -> tuple[Piece, ...]:
    """The pieces of a pattern.

    >>> pieces("yyyy-'d'MM")
    (('y', 4), ('-', 0), ('d', 0), ('M', 2))
    """
    out: list[Piece] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        end = i + 1
        if c == "'":
            end = pattern.find("'", i + 1)
            if end < 0:
                raise bad("date_format", f"'{pattern}' has a quote that nothing closes", pattern)
            out.append((pattern[i + 1 : end] or "'", 0))
            end += 1
        elif c.isascii() and c.isalpha():
            while end < len(pattern) and pattern[end] == c:
                end += 1
            if c not in letters or not _is_good(c, end - i):
                raise bad(
                    "date_format",
                    f"'{pattern}' has '{pattern[i:end]}', which is no part of a date",
                    pattern,
                )
            out.append((c, end - i))
        elif c in "[]{}#":
            raise bad("date_format", f"'{pattern}' has '{c}', which is not supported", pattern)
        else:
            out.append((c, 0))
        i = end
    return tuple(out)


def _is_good(letter: str, count: int) -> bool:
    if letter in "dHhKkms":
        return count <= 2
    if letter in "aF":
        return count == 1
    most = {"D": 3, "S": 9, "y": 6, "V": 2, "z": 4, "Q": 4, "q": 4, "X": 5, "x": 5, "Z": 5}
    if letter == "V":
        return count == 2
    if letter == "O":
        return count in (1, 4)
    return count <= most.get(letter, 4)


def date_format(t: datetime, pattern: str) -> str:
    """A moment, written by a pattern.

    >>> date_format(datetime(2024, 2, 9, 15, 4, 5), "EEE d MMM yy, h:mm a")
    'Fri 9 Feb 24, 3:04 PM'
    """
    return "".join(text if not n else _written(text, n, t) for text, n in pieces(pattern))


def _written(letter: str, n: int, t: datetime) -> str:
    match letter:
        case "y":
            return f"{t.year % 100:02}" if n == 2 else str(t.year).zfill(n)
        case "M" | "L":
            return _named(MONTHS[t.month - 1], t.month, n)
        case "E":
            day = DAYS[t.weekday()].title()
            return day if n == 4 else day[:3]
        case "Q" | "q":
            quarter = (t.month + 2) // 3
            word = ("1st", "2nd", "3rd", "4th")[quarter - 1] + " quarter"
            return str(quarter).zfill(n) if n < 3 else f"Q{quarter}" if n == 3 else word
        case "S":
            return f"{t.microsecond:06}000"[:n]
        case "a":
            return "AM" if t.hour < 12 else "PM"
        case "G":
            return "Anno Domini" if n == 4 else "AD"
        case _:
            return _zone(letter, n) or str(_number(letter, t)).zfill(n)


def _named(name: str, number: int, n: int) -> str:
    return str(number).zfill(n) if n < 3 else name[:3] if n == 3 else name


def _zone(letter: str, n: int) -> str:
    """UTC, by the letters of zones."""
    match letter:
        case "V":
            return "UTC"
        case "z":
            return "Coordinated Universal Time" if n == 4 else "UTC"
        case "O":
            return "GMT"
        case "X":
            return "Z"
        case "x":
            return "+00" if n == 1 else "+0000" if n in (2, 4) else "+00:00"
        case "Z":
            return "GMT" if n == 4 else "Z" if n == 5 else "+0000"
        case _:
            return ""


def _number(letter: str, t: datetime) -> int:
    match letter:
        case "d":
            return t.day
        case "D":
            return t.timetuple().tm_yday
        case "F":
            return (t.day - 1) % 7 + 1
        case "H":
            return t.hour
        case "h":
            return (t.hour + 11) % 12 + 1
        case "K":
            return t.hour % 12
        case "k":
            return t.hour or 24
        case "m":
            return t.minute
        case _:
            return t.second


def read_moment(text: str, pattern: str) -> datetime:
    """The moment that a text says by a pattern; ValueError where it says none."""
    fields: dict[str, int] = {}
    at = 0
    parts = pieces(pattern, _READS)
    for i, (letter, n) in enumerate(parts):
        if not n:
            if not text.startswith(letter, at):
                raise ValueError(text)
            at += len(letter)
            continue
        fixed = n > 1 or (i + 1 < len(parts) and parts[i + 1][1] > 0)
        value, at = _field(text, at, letter, n, fixed)
        if fields.setdefault("M" if letter == "L" else letter, value) != value:
            raise ValueError(text)
    if at != len(text):
        raise ValueError(text)
    return _moment(fields)


def _field(text: str, at: int, letter: str, n: int, fixed: bool) -> tuple[int, int]:
    names: tuple[str, ...] = ()
    if letter in "ML" and n >= 3:
        names = tuple(m if n == 4 else m[:3] for m in MONTHS)
    elif letter == "E":
        names = tuple(d.title() if n == 4 else d[:3].title() for d in DAYS)
    elif letter == "a":
        names = ("AM", "PM")
    for i, name in enumerate(names):
        if text[at : at + len(name)].lower() == name.lower():
            return i + (letter in "ML"), at + len(name)
    if names:
        raise ValueError(text)
    most = (
        n
        if fixed and letter != "y"
        else n
        if letter == "y" and n == 2
        else 4
        if letter == "y"
        else 9
    )
    if letter == "y" and n != 2:
        most = 4 if n <= 4 else n
    if letter == "S":
        most = n
    end = at
    while end < len(text) and end - at < most and text[end] in "0123456789":
        end += 1
    if end == at or (end - at < n and letter != "S"):
        raise ValueError(text)
    digits = text[at:end]
    if letter == "S":
        return int(digits[:6].ljust(6, "0")), end
    if letter == "y" and n == 2:
        return 2000 + int(digits), end
    return int(digits), end


def _moment(fields: dict[str, int]) -> datetime:
    hour = fields.get("H", 0)
    if "h" in fields:
        if not 1 <= fields["h"] <= 12:
            raise ValueError
        hour = fields["h"] % 12 + 12 * fields.get("a", 0)
    year = fields.get("y", 1970)
    if "D" in fields and "M" not in fields and "d" not in fields:
        day = datetime(year, 1, 1) + timedelta(days=fields["D"] - 1)
        if day.year != year or fields["D"] < 1:
            raise ValueError
    else:
        day = datetime(year, fields.get("M", 1), fields.get("d", 1))
    if "E" in fields and fields["E"] != day.weekday():
        raise ValueError
    clock = (hour, fields.get("m", 0), fields.get("s", 0), fields.get("S", 0))
    return datetime(day.year, day.month, day.day, *clock)


def to_moment(text: str, pattern: str) -> datetime:
    """TO_TIMESTAMP of a text by a pattern."""
    try:
        return read_moment(text, pattern)
    except (ValueError, OverflowError):
        raise bad("to_timestamp", f"'{text}' is not written as {pattern}", text, pattern) from None


def try_moment(text: str, pattern: str) -> datetime | None:
    """TO_TIMESTAMP of a text by a pattern, or NULL."""
    try:
        return read_moment(text, pattern)
    except (ValueError, OverflowError):
        return None


def to_timestamp_by(x: str | date, pattern: str | None = None) -> datetime:
    """TO_TIMESTAMP."""
    return to_moment(x, pattern) if isinstance(x, str) and pattern is not None else to_timestamp(x)


def to_date_by(x: str | date, pattern: str | None = None) -> date:
    """TO_DATE."""
    return (
        to_moment(x, pattern).date() if isinstance(x, str) and pattern is not None else to_date(x)
    )


def try_timestamp_by(x: str | date, pattern: str | None = None) -> datetime | None:
    """TRY_TO_TIMESTAMP."""
    if isinstance(x, str) and pattern is not None:
        return try_moment(x, pattern)
    try:
        return to_timestamp(x)
    except BadValue:
        return None


def try_date_by(x: str | date, pattern: str | None = None) -> date | None:
    """TRY_TO_DATE."""
    t = try_timestamp_by(x, pattern) if isinstance(x, str) and pattern is not None else None
    if isinstance(x, str) and pattern is not None:
        return None if t is None else t.date()
    try:
        return to_date(x)
    except BadValue:
        return None


def unix_timestamp(x: str | date, pattern: str = DEFAULT) -> int:
    """Seconds since 1970 of a moment, or of a text by a pattern."""
    t = to_moment(x, pattern) if isinstance(x, str) else to_timestamp(x)
    return micros_of(t) // 1_000_000


def from_unixtime(seconds: int, pattern: str = DEFAULT) -> str:
    """The moment of seconds since 1970, written by a pattern."""
    try:
        return date_format(START + timedelta(seconds=seconds), pattern)
    except OverflowError:
        raise bad("from_unixtime", f"{seconds} seconds leave the years 1 to 9999") from None


ENTRIES: tuple[Entry, ...] = (
    entry("date_format", "timestamp, string -> string!", date_format),
    entry(
        "to_timestamp to_timestamp_ntz to_timestamp_ltz",
        "any, [string] -> timestamp!",
        to_timestamp_by,
    ),
    entry("to_date", "any, [string] -> date!", to_date_by),
    entry("try_to_timestamp", "any, [string] -> timestamp?!", try_timestamp_by),
    entry("try_to_date", "any, [string] -> date?!", try_date_by),
    entry("unix_timestamp to_unix_timestamp", "any, [string] -> int!", unix_timestamp),
    entry("from_unixtime", "long, [string] -> string!", from_unixtime),
)
