"""INTERVAL constants: one number and a unit, several of them, or a text of fields.

A constant is a number of months, of days, of seconds or of microseconds: the largest of these units
that tells its length. Months and days do not go together, as in Spark.
"""

from __future__ import annotations

import re

from freshview.errors import TypeProblem
from freshview.sql.frames import Unit
from freshview.sql.parse.node import Node
from freshview.sql.terms import Interval, Scalar

UNITS: dict[str, tuple[Unit, int]] = {
    "MICROSECOND": ("micros", 1),
    "MILLISECOND": ("micros", 1000),
    "SECOND": ("seconds", 1),
    "MINUTE": ("seconds", 60),
    "HOUR": ("seconds", 3600),
    "DAY": ("days", 1),
    "WEEK": ("days", 7),
    "MONTH": ("months", 1),
    "QUARTER": ("months", 3),
    "YEAR": ("months", 12),
}

DAY_SECONDS = 86_400
MICROS = 1_000_000

MOST_APART: dict[Unit, int] = {
    "months": 12 * 10_000,
    "days": 366 * 10_000,
    "seconds": DAY_SECONDS * 366 * 10_000,
    "micros": DAY_SECONDS * 366 * 10_000 * MICROS,
}

IN_MICROS: dict[Unit, int] = {"micros": 1, "seconds": MICROS, "days": DAY_SECONDS * MICROS}

_FIELDS = {
    "YEAR TO MONTH": re.compile(r"([+-]?)(\d+)-(\d{1,2})", re.ASCII),
    "DAY TO HOUR": re.compile(r"([+-]?)(\d+) (\d{1,2})", re.ASCII),
    "DAY TO MINUTE": re.compile(r"([+-]?)(\d+) (\d{1,2}):(\d{1,2})", re.ASCII),
    "DAY TO SECOND": re.compile(
        r"([+-]?)(\d+) (\d{1,2}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)", re.ASCII
    ),
    "HOUR TO MINUTE": re.compile(r"([+-]?)(\d+):(\d{1,2})", re.ASCII),
    "HOUR TO SECOND": re.compile(r"([+-]?)(\d+):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)", re.ASCII),
    "MINUTE TO SECOND": re.compile(r"([+-]?)(\d+):(\d{1,2}(?:\.\d{1,9})?)", re.ASCII),
}
_ORDER = ("DAY", "HOUR", "MINUTE", "SECOND")
_MOST = {"MONTH": 11, "HOUR": 23, "MINUTE": 59, "SECOND": 59}
_PART = re.compile(r"([+-]?\d{1,18}(?:\.\d{1,9})?)\s*([A-Za-z]+)\s*", re.ASCII)
_NUMBER = re.compile(r"([+-]?)(\d{1,1000})(?:\.(\d{1,9}))?", re.ASCII)


def read_interval(node: Node) -> Scalar:
    """INTERVAL '3' MONTH, INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 day 2 hours'."""
    node.only("this", "unit")
    amount = node["this"]
    text = amount.raw.name.strip() if amount.key == "literal" else ""
    unit = node.get("unit")
    constant: Interval | None = None
    if unit is None:
        constant = _parts(text, node)
    elif unit.key == "intervalspan":
        constant = _fields(text, f"{unit.word('this')} TO {unit.word('expression')}", node)
    else:
        constant = _counted(text, node.word("unit"), node)
    if constant is None:
        node.refuse("this INTERVAL", "write it as INTERVAL '3' MONTH or INTERVAL '1 day 2 hours'")
    if abs(constant.count) > MOST_APART[constant.unit]:
        shown = " ".join(word for word in (f"'{text[:40]}'", node.word("unit")) if word)
        raise TypeProblem(
            f"INTERVAL {shown} is longer than the years 1 to 9999",
            instead="write a shorter one",
            at=node.at,
        )
    return constant


def together(left: Interval, right: Interval, sign: int = 1) -> Interval | None:
    """The sum of two constants; None of months and days."""
    if left.unit == right.unit:
        return Interval(left.count + sign * right.count, left.unit, left.at)
    if "months" in (left.unit, right.unit):
        return None
    micros = left.count * IN_MICROS[left.unit] + sign * right.count * IN_MICROS[right.unit]
    return _of_micros(micros, left)


def _of_micros(micros: int, like: Interval) -> Interval:
    if micros % MICROS:
        return Interval(micros, "micros", like.at)
    return Interval(micros // MICROS, "seconds", like.at)


def _counted(text: str, unit: str, node: Node) -> Interval | None:
    """A number of one unit; seconds may have a fraction."""
    unit = unit.removesuffix("S")
    number = _NUMBER.fullmatch(text)
    if unit not in UNITS or number is None:
        return None
    kind, factor = UNITS[unit]
    sign = -1 if number[1] == "-" else 1
    whole = sign * int(number[2]) * factor
    if number[3] is None:
        return Interval(whole, kind, node.at)
    if kind not in ("seconds", "micros"):
        return None
    digits = int(number[3].ljust(9, "0"))
    micros = whole * IN_MICROS[kind] + sign * (digits * factor * IN_MICROS[kind] // 10**9)
    return _of_micros(micros, Interval(0, "micros", node.at))


def _parts(text: str, node: Node) -> Interval | None:
    """'1 day 2 hours': numbers with their units, one after the other."""
    total: Interval | None = None
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        one = _counted(part[1], part[2].upper(), node) if part else None
        if part is None or one is None:
            return None
        total = one if total is None else together(total, one)
        if total is None:
            return None
        at = part.end()
    return total


def _fields(text: str, span: str, node: Node) -> Interval | None:
    """'1 02:03:04.5' DAY TO SECOND: fields from the largest to the smallest."""
    form = _FIELDS.get(span)
    match = None if form is None else form.fullmatch(text)
    if match is None:
        return None
    sign = -1 if match[1] == "-" else 1
    first = span.split()[0]
    names = ("YEAR", "MONTH") if first == "YEAR" else _ORDER[_ORDER.index(first) :]
    total = Interval(0, "months" if first == "YEAR" else "seconds", node.at)
    for i, (name, value) in enumerate(zip(names, match.groups()[1:], strict=False)):
        if i and float(value) >= _MOST[name] + 1:
            return None
        one = _counted(value, name, node)
        both = None if one is None else together(total, one, sign)
        if both is None:
            return None
        total = both
    return total
