"""RANGE 5 MINUTES at the end of a SELECT: rows join if their times are less than that apart."""

from __future__ import annotations

import re

from sqlglot.tokenizer_core import Token as RawToken
from sqlglot.tokenizer_core import TokenType

from freshview.calculus.domain import is_int
from freshview.calculus.types import DOUBLE, INT
from freshview.errors import Place, SyntaxProblem, UnsupportedSql
from freshview.sql.parse.literals import MOST_APART, UNITS
from freshview.sql.script import Script
from freshview.sql.terms import Interval, Literal

LONGEST = 4
"""RANGE INTERVAL '5' MINUTE: no window has more words."""

SHORT = {"MIN": "MINUTE", "SEC": "SECOND"}


def split_window(
    raw: list[RawToken], script: Script
) -> tuple[list[RawToken], Interval | Literal | None]:
    """The tokens of a SELECT without its window, and the window."""
    for start in range(len(raw) - 1):
        token, following = raw[start], raw[start + 1]
        begins = following.token_type in (TokenType.NUMBER, TokenType.STRING, TokenType.INTERVAL)
        if token.text.upper() == "RANGE" and token.token_type != TokenType.STRING and begins:
            at = script.place(token.start)
            if len(raw) - start > LONGEST:
                raise UnsupportedSql(
                    "RANGE stands at the end of a view, and nothing behind it",
                    instead="make a view of its own of a subquery that has a window",
                    at=at,
                )
            return raw[:start], _window(raw[start + 1 :], at)
    return raw, None


def _window(raw: list[RawToken], at: Place) -> Interval | Literal:
    words = [w for t in raw if t.token_type != TokenType.INTERVAL for w in t.text.split()]
    count, unit = (*words, "", "")[:2]
    unit = unit.upper().removesuffix("S")
    unit = SHORT.get(unit, unit)
    if len(words) == 1 and re.fullmatch(r"\d+(\.\d+)?", count, re.ASCII):
        if "." in count:
            return Literal(float(count), DOUBLE, at)
        if is_int(int(count)):
            return Literal(int(count), INT, at)
    if len(words) == 2 and unit in UNITS and re.fullmatch(r"\d{1,1000}", count, re.ASCII):
        kind, factor = UNITS[unit]
        total = int(count) * factor
        if kind != "months" and total <= MOST_APART[kind]:
            return Interval(total, kind, at)
    raise SyntaxProblem(
        f"RANGE {' '.join(words)} is no length of time",
        instead="write RANGE 5 MINUTES, with a unit from SECONDS to WEEKS; RANGE 5 where times are "
        "numbers",
        at=at,
    )
