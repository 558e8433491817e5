"""Dates and timestamps as text: what Spark's CAST reads, and what it writes."""

from __future__ import annotations

import re
from datetime import date, datetime

WHITE = "".join(map(chr, [*range(33), 127]))
"""What CAST takes off both ends of a text: white space and control characters of ASCII."""

_DATE = re.compile(r"[+]?(\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})([ T].*)?)?)?", re.ASCII | re.DOTALL)
_TIMESTAMP = re.compile(
    r"[+]?(\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](\d{1,2})(?::(\d{1,2})"
    r"(?::(\d{1,2})(?:\.(\d*))?([^\d.].*)?)?)?)?)?)?",
    re.ASCII | re.DOTALL,
)
_NO_ZONE = re.compile(r"Z|(UTC|GMT|UT)?([+-](00?(:00?)?|00:00:00|0{4}|0{6}))?")


def read_date(text: str) -> date:
    """A date: a year, a year and a month, or all three; a time behind the day is passed over.

    Raises ValueError where the text is none.

    >>> str(read_date(" 2024-2-29 ")), str(read_date("2024")), str(read_date("2024-02-29T12"))
    ('2024-02-29', '2024-01-01', '2024-02-29')
    """
    if text.strip(WHITE).lower() == "epoch":
        return date(1970, 1, 1)
    match = _DATE.fullmatch(text.strip(WHITE))
    if match is None:
        raise ValueError(text)
    return date(int(match[1]), int(match[2] or 1), int(match[3] or 1))


def read_timestamp(text: str) -> datetime:
    """A timestamp: a date, or one with a time to the hour, minute, second or a part of it.

    Digits beyond microseconds are cut off. A zone may be named where it changes nothing.

    >>> str(read_timestamp("2024-02-29 1:2")), str(read_timestamp("2024-02-29T01:02:03.5Z"))
    ('2024-02-29 01:02:00', '2024-02-29 01:02:03.500000')
    """
    if text.strip(WHITE).lower() == "epoch":
        return datetime(1970, 1, 1)
    match = _TIMESTAMP.fullmatch(text.strip(WHITE))
    if match is None:
        raise ValueError(text)
    zone = (match[8] or "").strip(WHITE)
    if match[8] and not (zone and _NO_ZONE.fullmatch(zone)):
        raise ValueError(text)
    year, month, day = (int(part or 1) for part in match.group(1, 2, 3))
    hour, minute, second = (int(part or 0) for part in match.group(4, 5, 6))
    micros = int((match[7] or "")[:6].ljust(6, "0"))
    return datetime(year, month, day, hour, minute, second, micros)


def show_moment(moment: date) -> str:
    """A date or timestamp as CAST writes it: no zeros at the end of a second's parts.

    >>> show_moment(datetime(2024, 2, 29, 1, 2, 3, 500000)), show_moment(date(99, 2, 1))
    ('2024-02-29 01:02:03.5', '0099-02-01')
    """
    if not isinstance(moment, datetime):
        return moment.isoformat()
    text = moment.isoformat(sep=" ")
    return text.rstrip("0") if moment.microsecond else text
