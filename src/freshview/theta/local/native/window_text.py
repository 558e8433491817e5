"""The C++ of windows over times that are integers, and of the ordered index over times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from freshview.temporal import (
    Between,
    FullHistory,
    Hopping,
    Landmark,
    Sliding,
    Tumbling,
    TupleCount,
    Window,
)


@dataclass(frozen=True, slots=True)
class Reached:
    """An ordered index: its kind of key, the keys of rows of both sides, the interval of a probe.

    `body` sets `low` and `high` from `at`, the key of the probe, and from its `side`.
    """

    key: str
    of_r: str
    of_s: str
    body: tuple[str, ...] = ("low = high = at;",)
    before: str = "key < low"
    upto: str = "key <= high"


class Names(Protocol):
    """Gives names to constants."""

    def int(self, value: int) -> str:
        """The name of an integer."""
        ...


def window_text(window: Window, constants: Names) -> str:
    """Whether row `i` of `r` and row `j` of `s` are in one window: `temporal.joins`.

    Which array has the times depends on the columns of a side, so the text asks the form.
    """
    r, s = (known(row, "Time") for row in "rs")
    match window:
        case Sliding(length):
            n = constants.int(int(length))
            return f"{r} - {s} < {n} && {s} - {r} < {n}"
        case Between(low, high):
            a, b = constants.int(int(low)), constants.int(int(high))
            return f"lies({s} - {r}, {a}, {b})"
        case Tumbling(length, origin):
            n, o = constants.int(int(length)), constants.int(int(origin))
            return f"floor_div({r} - {o}, {n}) == floor_div({s} - {o}, {n})"
        case Hopping():
            a, b = _panes(window, constants, f"greatest({r}, {s})", f"least({r}, {s})")
            return f"{a} <= {b}"
        case Landmark(start):
            a = constants.int(int(start))
            return f"{r} >= {a} && {s} >= {a}"
        case TupleCount(rows):
            n = constants.int(rows)
            at_r, at_s = (known(row, "Position") for row in "rs")
            by_r, by_s = (known(row, "Seen") for row in "rs")
            return f"{by_s} > {at_r} ? {at_r} >= {by_s} - {n} : {at_s} >= {by_r} - {n}"
        case FullHistory():
            return "true"


def reach_of(window: Window, constants: Names) -> Reached | None:
    """An index over the times, as wide as `temporal.reach`; None where a window bounds no time."""
    key = "x.as<i64>(env.form[side].known(Time))[i]"
    match window:
        case Sliding(length):
            n = constants.int(int(length))
            body: tuple[str, ...] = (f"low = at - {n}, high = at + {n};",)
        case Between(low, high):
            a, b = constants.int(int(low)), constants.int(int(high))
            body = (
                f"low = at + (side == R ? {a} : -{b});",
                f"high = at + (side == R ? {b} : -{a});",
            )
        case Tumbling(length, origin):
            n, o = constants.int(int(length)), constants.int(int(origin))
            body = (f"low = floor_div(at - {o}, {n}) * {n} + {o}, high = low + {n};",)
        case Hopping(length, slide, origin):
            first, last = _panes(window, constants, "at", "at")
            n, by, o = (constants.int(int(x)) for x in (length, slide, origin))
            body = (
                f"low = ({first}) * {by} + {o};",
                f"high = ({last}) * {by} + {o} + {n};",
            )
        case FullHistory() | Landmark() | TupleCount():
            return None
    return Reached("i64", key, key, body)


def known(side: str, which: str) -> str:
    """What a joiner knows of a row."""
    row = "i" if side == "r" else "j"
    return f"{side}.as<i64>(env.form[{side.upper()}].known({which}))[{row}]"


def _panes(window: Hopping, constants: Names, of_first: str, of_last: str) -> tuple[str, str]:
    """The first pane of one time, and the last of another."""
    n, by, o = (constants.int(int(x)) for x in (window.length, window.slide, window.origin))
    return (
        f"floor_div({of_first} - {o} - {n}, {by}) + 1",
        f"floor_div({of_last} - {o}, {by})",
    )
