"""RANGE 5 MINUTES at the end of a SELECT: rows join if their times are less than that apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from freshview.calculus.domain import is_int
from freshview.calculus.types import DOUBLE, INT
from freshview.errors import Place, SyntaxProblem, UnsupportedSql
from freshview.sql.parse.intervals import MOST_APART, UNITS
from freshview.sql.script import Token
from freshview.sql.terms import Interval, Literal

LONGEST = 4
"""RANGE INTERVAL '5' MINUTE: no window has more words."""

SHORT = {"MIN": "MINUTE", "SEC": "SECOND"}


def find_window(tokens: Sequence[Token]) -> tuple[int, Interval | Literal | None]:
    """Where the window of a SELECT begins, or where its tokens end; and the window."""
    frames: list[bool] = []  # for each open parenthesis, whether RANGE in it is a frame's
    before = ""
    for start, (token, following) in enumerate(pairwise(tokens)):
        if token.text == "(":
            frames.append(before in ("OVER", "AS") and following.word not in ("SELECT", "WITH"))
        elif token.text == ")":
            frames[-1:] = []
        before = token.word
        begins = following.kind in ("number", "string") or following.word == "INTERVAL"
        if token.word == "RANGE" and begins and True not in frames[-1:]:
            if len(tokens) - start > LONGEST:
                raise UnsupportedSql(
                    "RANGE stands at the end of a view, and nothing behind it",
                    instead="make a view of its own of a subquery that has a window",
                    at=token.at,
                )
            return start, _window(tokens[start + 1 :], token.at)
    return len(tokens), None


def _window(tokens: Sequence[Token], at: Place) -> Interval | Literal:
    words = [w for t in tokens if t.word != "INTERVAL" for w in t.text.split()]
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
        if kind not in ("months", "micros") and total <= MOST_APART[kind]:
            return Interval(total, kind, at)
    raise SyntaxProblem(
        f"RANGE {' '.join(words)} is no length of time",
        instead="write RANGE 5 MINUTES, with a unit from SECONDS to WEEKS; RANGE 5 where times are "
        "numbers",
        at=at,
    )
