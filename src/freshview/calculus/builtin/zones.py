"""Moments in other time zones than that of the session, which is UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from freshview.calculus.builtin.entry import Entry, bad, entry

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")


@lru_cache(maxsize=512)
def zone(name: str) -> tzinfo:
    """The zone of a name or offset."""
    if name in ("Z", "UTC", "GMT", "UT"):
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset:
        hours, minutes = int(offset[2]), int(offset[3] or 0)
        if hours * 60 + minutes <= 18 * 60 and minutes < 60:
            gap = timedelta(hours=hours, minutes=minutes)
            return timezone(gap if offset[1] == "+" else -gap)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise bad("from_utc_timestamp", f"there is no time zone '{name}'", name) from None


def from_utc(t: datetime, name: str) -> datetime:
    """What a clock of a zone shows at a moment of UTC."""
    return t.replace(tzinfo=UTC).astimezone(zone(name)).replace(tzinfo=None)


def to_utc(t: datetime, name: str) -> datetime:
    """The moment of UTC at which a clock of a zone shows this; of a gap, by the offset before."""
    return t.replace(tzinfo=zone(name)).astimezone(UTC).replace(tzinfo=None)


def convert(source: str, target: str, t: datetime) -> datetime:
    """What a clock of the target shows when that of the source shows this."""
    return from_utc(to_utc(t, source), target)


ENTRIES: tuple[Entry, ...] = (
    entry("from_utc_timestamp", "timestamp, string -> timestamp!", from_utc),
    entry("to_utc_timestamp", "timestamp, string -> timestamp!", to_utc),
    entry("convert_timezone", "string, string, timestamp -> timestamp!", convert),
)
