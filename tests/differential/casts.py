"""The casts that Spark was asked for, and where we differ on purpose."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

REFUSED = object()
"""What Spark answers with an error."""

TYPES = {
    str: "STRING",
    bool: "BOOLEAN",
    int: "BIGINT",
    float: "DOUBLE",
    Decimal: "DECIMAL(38, 10)",
    date: "DATE",
    datetime: "TIMESTAMP",
}
"""The columns that hold the values of the table."""


@dataclass(frozen=True)
class Asked:
    """CAST(value AS type) and its answer."""

    value: Any
    type: str
    answer: Any

    @property
    def constant(self) -> str:
        """The value in SQL."""
        match self.value:
            case str():
                return "'" + "".join(f"\\u{ord(c):04x}" for c in self.value) + "'"
            case float():
                text = repr(self.value)
                return text if "e" in text else text + "e0"
            case Decimal():
                return f"{self.value:f}BD"
            case datetime():
                return f"TIMESTAMP '{self.value}'"
            case date():
                return f"DATE '{self.value}'"
            case _:
                return str(self.value).upper()


@cache
def table() -> tuple[Asked, ...]:
    """What Spark was asked, with the answers that we give."""
    path = Path(__file__).with_name("casts.txt")
    rows = []
    for line in path.read_text().splitlines()[1:]:
        value, kind, answer = line.rsplit(" | ", 2)
        result = REFUSED if answer == "refused" else _read(answer)
        rows.append(ours(Asked(_read(value), kind.replace("TIMESTAMP_NTZ", "TIMESTAMP"), result)))
    return tuple(a for a in rows if not _needs_a_zone(a))


def _needs_a_zone(a: Asked) -> bool:
    """Whether only Spark's TIMESTAMP has the cast, by the zone of the session: `constants.txt`."""
    if a.type == "TIMESTAMP" and a.answer is REFUSED:
        return isinstance(a.value, int | float | Decimal) or bool(_ZONE.search(str(a.value)))
    numbers = ("BIGINT", "DOUBLE", "DECIMAL")
    return isinstance(a.value, datetime) and a.type.startswith(numbers)


_ZONE = re.compile(r":\d\d ?(?:[A-Z]{3})?(?:[+-]\d|[A-Z][a-z]+/)")


def _read(text: str) -> Any:
    known = {"nan": math.nan, "inf": math.inf, "Decimal": Decimal}
    return eval(text, {**known, "datetime": __import__("datetime")})


def ours(a: Asked) -> Asked:
    """Where we differ: what the documentation says about each is said here by a condition."""
    value, answer = a.value, a.answer
    if isinstance(answer, float) and not math.isfinite(answer):
        answer = REFUSED  # doubles are finite
    elif answer == -(1 << 63) and isinstance(answer, int):
        answer = REFUSED  # is not an integer of ours
    elif isinstance(value, str) and not value.isascii() and answer is not REFUSED:
        answer = REFUSED  # digits are those of ASCII
    elif value == "0x1p3":
        answer = REFUSED  # a hexadecimal number
    elif a.type == "TIMESTAMP" and isinstance(value, str) and _in_a_zone(value):
        answer = REFUSED  # which would be dropped
    elif value == 0 and isinstance(value, float) and a.type == "STRING":
        answer = "0.0"  # there is one zero
    elif value == 1e23 and a.type == "STRING":
        answer = "1.0E23"  # the shortest text: Java writes another up to release 18
    elif value == 1e23 and a.type == "DECIMAL(38,2)":
        answer = Decimal("1E23").quantize(Decimal("0.00"))
    return Asked(value, a.type, answer)


def _in_a_zone(text: str) -> bool:
    zones = ("+02:00", "+2", "-0800", "Europe/Paris", "CET", "PST", "GMT+1")
    return text.endswith(zones)
