"""Windows are predicates on stamps; what they forget could not have joined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.temporal import (
    BadWindow,
    Between,
    CountingClock,
    FullHistory,
    Hopping,
    Horizon,
    Landmark,
    Sliding,
    Stamps,
    SystemClock,
    Tumbling,
    TupleCount,
    Watermark,
    Window,
    expired,
    joins,
    panes,
    reach,
)

TIMES = st.integers(-30, 30)
LENGTHS = st.integers(1, 12)
TIMED = st.one_of(
    st.builds(Sliding, LENGTHS),
    st.builds(lambda a, b: Between(min(a, b), max(a, b)), TIMES, TIMES),
    st.builds(Tumbling, LENGTHS, TIMES),
    st.builds(lambda a, b, o: Hopping(max(a, b), min(a, b), o), LENGTHS, LENGTHS, TIMES),
)
WINDOWS = st.one_of(TIMED, st.builds(Landmark, TIMES), st.just(FullHistory()))


def at(*times: float) -> Stamps:
    zeros = np.zeros(len(times), np.int64)
    return Stamps(np.array(times), zeros, zeros)


def by_definition(window: Window, r: int, s: int) -> bool:
    """The definition of each window, by listing where it has windows to list."""
    match window:
        case Sliding(length):
            return abs(r - s) < length
        case Between(low, high):
            return low <= s - r <= high
        case Tumbling() | Hopping():
            return bool(set(panes(window, r)) & set(panes(window, s)))
        case Landmark(start):
            return min(r, s) >= start
        case _:
            return True


@given(WINDOWS, TIMES, TIMES)
def test_a_window_is_what_its_definition_says(window: Window, r: int, s: int) -> None:
    assert joins(window, at(r), at(s)).tolist() == [by_definition(window, r, s)]


@given(WINDOWS, TIMES, TIMES)
def test_doubles_join_as_integers_do(window: Window, r: int, s: int) -> None:
    assert joins(window, at(float(r)), at(float(s))) == joins(window, at(r), at(s))


@given(st.one_of(st.builds(Tumbling, LENGTHS, TIMES), TIMED), TIMES)
def test_panes_are_the_windows_around_a_time(window: Window, time: int) -> None:
    if isinstance(window, Tumbling | Hopping):
        around_time = panes(window, time)
        assert all(start <= time < end for start, end in around_time)
        slide = window.slide if isinstance(window, Hopping) else window.length
        around = [window.origin + k * slide for k in range(-100, 100)]
        assert [a for a, _ in around_time] == [a for a in around if a <= time < a + window.length]


@given(TIMED, TIMES, TIMES)
def test_partners_are_within_reach(window: Window, r: int, s: int) -> None:
    bounds_r, bounds_s = reach(window, "R", np.array([r])), reach(window, "S", np.array([s]))
    assert bounds_r is not None
    assert bounds_s is not None
    if joins(window, at(r), at(s))[0]:
        assert bounds_r[0][0] <= s <= bounds_r[1][0]
        assert bounds_s[0][0] <= r <= bounds_s[1][0]


@given(WINDOWS, TIMES, TIMES)
def test_a_row_expires_exactly_when_nothing_can_join_it(
    window: Window, time: int, watermark: int
) -> None:
    future = range(watermark, watermark + 200)
    r_joins = any(by_definition(window, time, s) for s in future)
    s_joins = any(by_definition(window, r, time) for r in future)
    horizon = Horizon(watermark_r=watermark, watermark_s=watermark)
    assert expired(window, "R", at(time), horizon)[0] == (not r_joins)
    assert expired(window, "S", at(time), horizon)[0] == (not s_joins)


@given(st.lists(st.sampled_from("RS"), max_size=30), st.integers(1, 5))
def test_the_last_rows_are_counted_as_they_come(arrivals: list[str], rows: int) -> None:
    window, counts = TupleCount(rows), {"R": 0, "S": 0}
    stamps: dict[str, list[tuple[int, int]]] = {"R": [], "S": []}
    pairs = set()
    for side in arrivals:
        other = "S" if side == "R" else "R"
        mine, last = counts[side], range(max(0, counts[other] - rows), counts[other])
        pairs |= {(mine, o) if side == "R" else (o, mine) for o in last}
        stamps[side].append((mine, counts[other]))
        counts[side] += 1
    for i, r in enumerate(stamps["R"]):
        for j, s in enumerate(stamps["S"]):
            zero = np.zeros(1, np.int64)
            one = Stamps(zero, np.array([r[0]]), np.array([r[1]]))
            two = Stamps(zero, np.array([s[0]]), np.array([s[1]]))
            assert joins(window, one, two)[0] == ((i, j) in pairs)
    positions = np.arange(counts["R"])
    all_r = Stamps(positions, positions, positions)
    forgotten = expired(window, "R", all_r, Horizon(count_r=counts["R"]))
    assert (~forgotten).sum() == min(rows, counts["R"])


@given(st.lists(st.lists(TIMES, max_size=5), max_size=8), st.integers(0, 9))
def test_a_watermark_never_goes_back(batches: list[list[int]], delay: int) -> None:
    watermark, seen = Watermark(delay), []
    for batch in batches:
        later = watermark.observe(np.array(batch, np.int64))
        assert watermark.at is None or (later.at is not None and later.at >= watermark.at)
        watermark, seen = later, [*seen, *batch]
        assert watermark.at == (max(seen) - delay if seen else None)


def test_windows_that_hold_nothing_are_refused() -> None:
    for build in (
        lambda: Sliding(0),
        lambda: Between(2, 1),
        lambda: TupleCount(0),
        lambda: Hopping(5, 6),
        lambda: Tumbling(-1),
    ):
        with pytest.raises(BadWindow):
            build()


def test_clocks_never_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([5_000, 3_000, 9_000])
    monkeypatch.setattr("time.time_ns", lambda: next(times))
    clock = SystemClock()
    assert [clock.stamp(1).tolist() for _ in range(3)] == [[5], [5], [9]]
    counting = CountingClock()
    assert [*counting.stamp(3), *counting.stamp(2)] == [0, 1, 2, 3, 4]
