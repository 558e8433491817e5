"""What a window says about pairs of rows, and when a row can be forgotten."""

from __future__ import annotations

from math import isinf
from typing import assert_never

import numpy as np

from freshview.temporal.terms import (
    Between,
    FullHistory,
    Hopping,
    Horizon,
    Landmark,
    Mask,
    Side,
    Sliding,
    Stamps,
    Time,
    Times,
    Tumbling,
    TupleCount,
    Window,
)

_ROUNDING = 8 * np.finfo(np.float64).eps


def joins(window: Window, r: Stamps, s: Stamps) -> Mask:
    """Whether row i of `r` and row i of `s` are in one window, for each i.

    >>> import numpy as np
    >>> def at(*times): return Stamps(np.array(times), *[np.zeros(len(times), np.int64)] * 2)
    >>> joins(Sliding(5), at(10, 10, 10), at(6, 5, 14)).tolist()
    [True, False, True]
    >>> joins(Hopping(10, 5), at(4, 4, 4), at(9, 10, -5)).tolist()
    [True, False, True]
    """
    match window:
        case FullHistory():
            return np.ones(len(r), np.bool_)
        case Sliding(length):
            return np.asarray(np.abs(r.time - s.time) < length)
        case Between(low, high):
            apart = s.time - r.time
            return (apart >= low) & (apart <= high)
        case Tumbling(length, origin):
            return np.asarray((r.time - origin) // length == (s.time - origin) // length)
        case Hopping():
            first, last = np.minimum(r.time, s.time), np.maximum(r.time, s.time)
            return _first_pane(window, last) <= _last_pane(window, first)
        case Landmark(start):
            return np.asarray((r.time >= start) & (s.time >= start))
        case TupleCount(rows):
            s_came_later = s.seen > r.position
            r_in_reach = r.position >= s.seen - rows
            s_in_reach = s.position >= r.seen - rows
            return np.where(s_came_later, r_in_reach, s_in_reach)
        case _:
            assert_never(window)


def reach(window: Window, side: Side, time: Times) -> tuple[Times, Times] | None:
    """The times, both ends included, among which lie those of all partners of rows of `side`.

    None where a window bounds no time. The interval may be wider than the window; `joins` decides.
    Where times are doubles it is wider by what rounding may have taken.

    >>> low, high = reach(Between(0, 7), "S", np.array([100]))
    >>> low.tolist(), high.tolist()
    ([93], [100])
    """
    match window:
        case FullHistory() | Landmark() | TupleCount():
            return None
        case Sliding(length):
            return _widened(time - length, time + length, time, length)
        case Between(low, high):
            first, last = (low, high) if side == "R" else (-high, -low)
            return _widened(time + first, time + last, time, low, high)
        case Tumbling(length, origin):
            start = (time - origin) // length * length + origin
            return _widened(start, start + length, time, length, origin)
        case Hopping(length, slide, origin):
            start = _first_pane(window, time) * slide + origin
            end = _last_pane(window, time) * slide + origin + length
            return _widened(start, end, time, length, origin)
        case _:
            assert_never(window)


def expired(window: Window, side: Side, stamps: Stamps, horizon: Horizon) -> Mask:
    """Which rows of `side` no row can join any more that the other input may still bring.

    >>> rows = Stamps(np.array([1, 5, 6]), *[np.arange(3)] * 2)
    >>> expired(Sliding(5), "R", rows, Horizon(watermark_s=10)).tolist()
    [True, True, False]
    """
    ahead = horizon.watermark_s if side == "R" else horizon.watermark_r
    match window:
        case FullHistory():
            return np.zeros(len(stamps), np.bool_)
        case Landmark(start):
            return np.asarray(stamps.time < start)
        case TupleCount(rows):
            count = horizon.count_r if side == "R" else horizon.count_s
            return stamps.position < count - rows
        case Sliding() | Between() | Tumbling() | Hopping():
            if ahead is None:
                return np.zeros(len(stamps), np.bool_)
            bounds = reach(window, side, stamps.time)
            assert bounds is not None
            last = bounds[1]
            return np.asarray(last < ahead if isinstance(window, Between) else last <= ahead)
        case _:
            assert_never(window)


def panes(window: Tumbling | Hopping, time: Time) -> list[tuple[Time, Time]]:
    """The windows `[start, end)` that a time falls into, the earliest first.

    >>> panes(Hopping(20, 5), 12)
    [(-5, 15), (0, 20), (5, 25), (10, 30)]
    >>> panes(Tumbling(20), 12)
    [(0, 20)]
    """
    hop = window if isinstance(window, Hopping) else _as_hopping(window)
    at = np.array([time])
    first, last = int(_first_pane(hop, at)[0]), int(_last_pane(hop, at)[0])
    starts = [hop.origin + k * hop.slide for k in range(first, last + 1)]
    return [(start, start + hop.length) for start in starts]


def _widened(low: Times, high: Times, time: Times, *lengths: Time) -> tuple[Times, Times]:
    """An interval around all that rounding may have cut off; integers are exact."""
    if not np.issubdtype(np.result_type(low, high), np.floating):
        return low, high
    size = np.abs(time) + sum(abs(length) for length in lengths if not isinf(length))
    pad = _ROUNDING * size
    return low - pad, high + pad


def _as_hopping(window: Tumbling) -> Hopping:
    return Hopping(window.length, window.length, window.origin)


def _first_pane(window: Hopping, time: Times) -> Times:
    return (time - window.origin - window.length) // window.slide + 1


def _last_pane(window: Hopping, time: Times) -> Times:
    return (time - window.origin) // window.slide
