"""Calls of functions, with the answers of Spark in `functions.txt`; `record_functions` asks."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

from freshview.calculus.builtin.table import ENTRIES

D = Decimal
NULL = None

POOLS: dict[str, tuple[Any, ...]] = {
    "string": ("", "a", "Hello World", "naïve ÄÖß", "  x y ", "abcabc", "123", "ABC", NULL),
    "int": (0, 1, -1, 2, 5, 100, NULL),
    "long": (0, 1, -1, 7, 255, 2**40, -(2**62), 2**63 - 1, NULL),
    "double": (0.0, 0.5, -0.5, 1.0, -1.0, 2.5, 100.0, 1e10, -3.7, NULL),
    "number": (D("0.00"), D("2.50"), D("-2.50"), D("3.14"), D("-0.01"), D("12345.67"), NULL),
    "bool": (True, False, NULL),
    "date": (date(2024, 2, 29), date(1970, 1, 1), date(1969, 12, 31), date(2023, 12, 31), NULL),
    "timestamp": (
        datetime(2024, 2, 29, 12, 34, 56, 789012),
        datetime(1970, 1, 1),
        datetime(1969, 12, 31, 23, 59, 59, 999999),
        datetime(2023, 12, 31, 0, 0, 1),
        NULL,
    ),
    "any": ("abc", "", "ß", NULL),
}
"""Values of each word of a signature: edges first."""

ALONE = 12
"""How many calls of a function are drawn from the pools."""

TEMPLATES = {
    "bit_and_of": "{0} & {1}",
    "bit_or_of": "{0} | {1}",
    "bit_xor_of": "{0} ^ {1}",
    "bit_not": "~{0}",
    "int_div": "{0} DIV {1}",
    "seconds_of": "EXTRACT(SECOND FROM {0})",
    "isodayofweek": "EXTRACT(DAYOFWEEK_ISO FROM {0})",
    "yearofweek": "EXTRACT(YEAROFWEEK FROM {0})",
    "add_units": "TIMESTAMPADD(HOUR, {1}, {2})",
    "split_item": "SPLIT({0}, {1}, {3})[{2}]",
    "split_element": "ELEMENT_AT(SPLIT({0}, {1}, {3}), {2})",
    "split_size": "SIZE(SPLIT({0}, {1}, {2}))",
    "units_between": "TIMESTAMPDIFF(MONTH, {1}, {2})",
}
"""How a function is written that SQL has no name for."""

PATH = Path(__file__).with_name("functions.txt")
UNASKED = "?"
REFUSED = object()
"""What Spark answers with an error."""

OURS = {
    *("bit_and_of_counts", "bit_or_of_counts", "bit_xor_of_counts", "bit_pair"),
    *("window_of_time", "window_of_number", "regr_coefficient_of"),
}
"""What aggregates and windows are put together from: Spark has no function of this kind."""

BY_NAME = {name: e for e in ENTRIES for name in e.names if name not in OURS}


@dataclass(frozen=True)
class Call:
    """A call, and what Spark answers."""

    name: str
    args: tuple[Any, ...]
    answer: Any


def lines() -> list[tuple[str, str, str]]:
    """The lines of the text; a function that has none gets some, drawn from the pools."""
    out = []
    for line in PATH.read_text().splitlines()[1:]:
        name, _, rest = line.partition(" | ")
        args, _, answer = rest.rpartition(" | ")
        out.append((name, args, answer))
    there = {name for name, _, _ in out}
    return out + [
        (name, repr(args), UNASKED) for name in BY_NAME if name not in there for args in drawn(name)
    ]


def drawn(name: str) -> list[tuple[Any, ...]]:
    """Calls of a function, drawn from the pools."""
    e = BY_NAME[name]
    count = max(e.fewest, min(e.most, len(e.words) + 1)) if e.words else 0
    rows = list(itertools.product(*(POOLS[e.word(i)] for i in range(count))))
    rows.sort(key=lambda row: crc32(repr((name, row)).encode()))
    return rows[:ALONE]


def sql(name: str, args: list[str]) -> str:
    """The call in SQL."""
    template = TEMPLATES.get(name)
    return template.format(*args) if template else f"{name}({', '.join(args)})"


def read(text: str) -> Any:
    """A value or a tuple of them, as the text has it."""
    known = {"nan": math.nan, "inf": math.inf, "Decimal": Decimal, "bytearray": bytearray}
    return eval(text, {**known, "datetime": __import__("datetime")})


@cache
def table() -> tuple[Call, ...]:
    """The calls, with the answers that we give."""
    return tuple(
        ours(Call(name, read(args), REFUSED if answer == "refused" else read(answer)))
        for name, args, answer in lines()
    )


def ours(c: Call) -> Call:
    """Where we differ: what the documentation says about each is said here by a condition."""
    answer = c.answer
    if isinstance(answer, float) and not math.isfinite(answer):
        answer = None  # doubles are finite
    elif answer == -(1 << 63) and isinstance(answer, int):
        answer = REFUSED  # is not an integer of ours
    elif c.name in ("pmod", "int_div") and c.args[1] == 0 and answer is REFUSED:
        answer = None  # division by zero is NULL, as that by / and %
    return replace(c, answer=answer)
