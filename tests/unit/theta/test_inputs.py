"""What goes into a join: rows, counts, times and options, and the sentences about wrong ones."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import freshview
from freshview.errors import BadRow, FreshviewError, Overflow
from freshview.temporal import (
    BadWindow,
    Between,
    CountingClock,
    Landmark,
    ManualClock,
    Sliding,
    TupleCount,
)
from freshview.theta import (
    Band,
    Comparison,
    Dynamic,
    Function,
    Metrics,
    Policy,
    Ranged,
    Source,
    ThetaJoin,
    prometheus,
)
from freshview.theta.controller import choose, least_load, start
from freshview.theta.operator.options import BadJoin
from freshview.theta.terms import Sizes

KEY = {"k": "int"}


def a_join(on: Any = (), columns: Any = None, **options: Any) -> ThetaJoin:
    retracts = options.pop("retracts", False)
    r, s = (Source(name, columns or KEY, retracts=retracts) for name in "rs")
    return ThetaJoin(r, s, on, **options)


def test_theta_is_a_public_room() -> None:
    assert freshview.theta.ThetaJoin is ThetaJoin


# --- rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "values", "words"),
    [
        ("int", pa.array(["1"]), "Arrow's string; expected a 64-bit integer"),
        ("int", pa.array([1.0]), "Arrow's double"),
        ("int", pa.array([True]), "Arrow's bool"),
        ("int", pa.array([2**63], pa.uint64()), "not in range"),
        ("int", pa.array([-(2**63)]), "cannot hold -9223372036854775808"),
        ("bool", pa.array([1]), "expected true or false"),
        ("timestamp", pa.array([0], pa.timestamp("us", "UTC")), "without time zone"),
        ("timestamp", pa.array([1], pa.timestamp("ns")), "would lose data"),
    ],
)
def test_arrow_columns_are_as_strict_as_rows(kind: str, values: Any, words: str) -> None:
    with pytest.raises(BadRow, match=words):
        a_join(columns={"k": kind}).push({"r": pa.table({"k": values})})


def test_columns_have_the_names_that_were_declared() -> None:
    both = {"k": "int", "v": "int"}
    for columns, words in (
        ({"k": [1], "vv": [1]}, "no column 'vv'"),
        ({"k": [1]}, "no column 'v'"),
        ({"k": [1], "v": [1, 2]}, "cannot be read"),
    ):
        with pytest.raises(BadRow, match=words):
            a_join(columns=both).push({"r": columns})


def test_dictionaries_and_zeros_of_arrow_are_plain() -> None:
    join = a_join(columns={"k": "double"})
    codes = pa.array([-0.0, 1.5, -0.0]).dictionary_encode()
    output = join.push({"r": pa.table({"k": codes}), "s": [(0.0,)]})
    assert sorted(str(row[0]) for row, _ in output.rows()) == ["0.0", "0.0", "1.5"]


def test_anything_with_an_arrow_stream_is_a_table() -> None:
    class Frame:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table({"k": [1, 2]}).__arrow_c_stream__(requested_schema)

    assert len(a_join().push({"r": Frame(), "s": [(1,)]})) == 2


# --- counts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((1,), "pairs of a row and how often"),
        (((1,), 1.5), "cannot come 1.5 times"),
        (((1,), "2"), "cannot come '2' times"),
        (((1,), True), "cannot come True times"),
        (((1,), 2**40), "2147483647 at most"),
    ],
)
def test_counts_are_integers(change: Any, words: str) -> None:
    with pytest.raises(BadRow, match=words):
        a_join().apply({"r": [change]})


def test_a_pair_that_64_bits_cannot_count_is_refused_before_anything_is_stored() -> None:
    join, many = a_join(retracts=True), 2**31 - 1
    for _ in range(3):
        join.apply({"r": [((1,), many)]})
    with pytest.raises(Overflow, match="2\\^63"):
        join.apply({"s": [((1,), many)]})
    assert join.push({"s": [(1,)]}).net() == Counter({(1, 1): 3 * many})


def test_a_row_that_comes_three_times_is_three_of_the_last_rows() -> None:
    join = a_join(window=TupleCount(4))
    join.apply({"r": [((1,), 2), ((2,), 3)]})
    assert join.push({"s": [(9,)]}).net() == Counter({(1, 9): 1, (2, 9): 3})
    with pytest.raises(BadRow, match="cannot be deleted"):
        join.apply({"r": [((1,), -1)]})


def test_sizes_count_a_row_as_often_as_it_is_there() -> None:
    join = a_join(Comparison("k", "<", "k"), retracts=True)
    for _ in range(10):
        join.apply({"r": [((1,), 3)]})
        join.apply({"r": [((1,), -1)] * 3})
    assert join._exchange.stored == {"R": 0, "S": 0}
    assert isinstance(join.scheme, Dynamic)
    assert join.scheme.counts.now == Sizes(0, 0)


# --- times --------------------------------------------------------------------------------------


def test_the_times_of_two_sources_are_of_one_kind() -> None:
    days, moments = Source("r", {"t": "date"}, time="t"), Source("s", {"t": "timestamp"}, time="t")
    with pytest.raises(BadWindow, match=r"a date, the other of a timestamp"):
        ThetaJoin(days, moments, window=Sliding(10))


def test_clocks_let_state_go() -> None:
    clock = CountingClock()
    r, s = (Source(name, KEY, clock=clock) for name in "rs")
    join = ThetaJoin(r, s, Comparison("k", "<", "k"), window=Sliding(5), joiners=1)
    for _ in range(200):
        join.push({"r": [(9,)], "s": [(1,)]})
    assert join.metrics.load <= 8 * 40


def test_explain_says_when_nothing_is_purged() -> None:
    r, s = Source("r", KEY, time="k"), Source("s", KEY, time="k", delay=3)
    words = "no row is purged before advance() tells the time of 'r'"
    assert words in ThetaJoin(r, s, window=Sliding(5)).explain()
    assert "'s'" not in ThetaJoin(r, s, window=Sliding(5)).explain()
    assert "purged" not in ThetaJoin(r, s).explain()


def test_the_rows_of_a_table_are_in_every_window_and_give_no_time() -> None:
    bids = Source("bids", {"t": "int"}, time="t", delay=0)
    table = Source("names", KEY, table=True)
    for window in (Sliding(5), TupleCount(2)):
        for which in ("min", "max"):
            join = ThetaJoin(bids, table, window=window, output_time=which)
            join.push({"names": [(k,) for k in range(5)]})
            output = join.push({"bids": [(-77,)]})
            assert len(output) == 5
            assert set(output.time.tolist()) == {-77}


def test_doubles_as_times_are_found_by_the_index_and_kept_as_long_as_they_join() -> None:
    random = np.random.default_rng(3)
    for window in (Between(-0.2, 0.2), Sliding(0.3)):
        r, s = (Source(name, {"t": "double"}, time="t", delay=0) for name in "rs")
        times = np.sort(np.round(random.random((60, 2)) * 9, 1), axis=0)
        join = ThetaJoin(r, s, window=window, joiners=1)
        pairs = sum(len(join.push({"r": [(a,)], "s": [(b,)]})) for a, b in times.tolist())
        apart = times[None, :, 1] - times[:, None, 0]
        inside = np.abs(apart) < 0.3 if isinstance(window, Sliding) else np.abs(apart) <= 0.2
        assert pairs == inside.sum()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Sliding(timedelta(minutes=5)), "microseconds for timestamps"),  # type: ignore[arg-type]
        (lambda: Between(0, timedelta(1)), "microseconds for timestamps"),  # type: ignore[arg-type]
        (lambda: Landmark(datetime(2020, 1, 1)), "microseconds for timestamps"),  # type: ignore[arg-type]
        (lambda: Between(-(2**63), 0), "at most"),
        (lambda: Source("r", KEY, time="k", delay=-4), "zero or more"),
        (lambda: Source("r", KEY, time="k", delay=timedelta(1)), "zero or more"),  # type: ignore[arg-type]
        (lambda: Source("r", KEY, delay=4), "a delay and no time"),
        (lambda: Source("r", KEY, time="k", clock=ManualClock()), "one of the two"),
        (lambda: Source("r", KEY, time="k", table=True), "is a table"),
        (lambda: a_join(window=5), "not a window"),
        (lambda: a_join().advance({"r": 5}), "have no time"),
    ],
)
def test_what_is_no_time_is_refused(build: Any, words: str) -> None:
    with pytest.raises(BadWindow, match=words):
        build()


def test_times_that_windows_cannot_add_to_are_refused() -> None:
    r, s = (Source(name, KEY, time="k") for name in "rs")
    join = ThetaJoin(r, s, window=Sliding(10))
    with pytest.raises(BadRow, match="has a time beyond"):
        join.push({"r": [(2**63 - 1,)]})
    with pytest.raises(BadWindow, match="cannot have passed"):
        join.advance({"s": 5, "r": datetime(2020, 1, 1)})  # type: ignore[dict-item]
    assert join._horizon().watermark_s is None


# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: a_join(scheme="gird"), "use one of auto, dynamic"),
        (lambda: a_join(Comparison("k", "=", "k"), joiners=0), "on 0 joiners"),
        (lambda: a_join(joiners=2.5), "on 2.5 joiners"),
        (lambda: a_join(output_time="last"), "use min or max"),
        (lambda: Policy(cap=0), "the cap is 0"),
        (lambda: a_join(Comparison("k", "=", "k"), scheme=Ranged([1])), "equality do not go"),
        (lambda: a_join(Comparison("k", "<", "k"), scheme=Ranged([1])), "only the rows of a band"),
        (lambda: a_join(Band("k", "k", 0, 1), scheme=Ranged([1.5])), "ranges of ints cannot end"),
        (lambda: a_join(Band("k", "k", 0, 1), scheme=Ranged([2, 1])), "do not ascend"),
        (lambda: a_join(Band("k", "k", 0, 1), scheme=Ranged([1 << 63])), "beyond 64 bits"),
        (
            lambda: a_join(Band("k", "k", 0, 1), scheme=Ranged([1])).migrate(start(2)),
            "ranges stay where they are",
        ),
    ],
)
def test_options_that_mean_nothing_are_refused(build: Any, words: str) -> None:
    with pytest.raises(FreshviewError, match=words):
        build()
    assert issubclass(BadJoin, FreshviewError)


# --- metrics ------------------------------------------------------------------------------------


def test_counters_have_all_their_digits() -> None:
    text = prometheus(Metrics(received_bytes=123_456_789, seconds=0.125), "j")
    assert 'freshview_theta_received_bytes_total{join="j"} 123456789\n' in text
    assert 'freshview_theta_busy_seconds_total{join="j"} 0.125\n' in text


@pytest.mark.parametrize("joiners", [3, 5, 7, 20])
def test_groups_are_measured_against_their_own_best_mappings(joiners: int) -> None:
    """The bound on what a joiner receives is not a bound on what a joiner of a group stores."""
    join = a_join(Comparison("k", "<", "k"), joiners=joiners, scheme="dynamic")
    for _ in range(5):
        join.push({"r": {"k": np.arange(10, 210)}, "s": {"k": np.zeros(200, np.int64)}})
        assert join.metrics.load_ratio >= 1
    groups = start(joiners)
    for sizes in (Sizes(1, 50), Sizes(40, 40)):
        assert least_load(groups, sizes) == least_load(choose(sizes, groups), sizes)


def test_functions_that_raise_change_no_state() -> None:
    def refuse(r: Any, s: Any) -> bool:
        raise ValueError("no")

    join = a_join(Function(refuse), joiners=3)
    join.push({"r": [(1,)] * 50})
    before = dict(join._exchange.stored), dict(join._counts), dict(join.metrics.storage)
    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            join.push({"s": [(1,)] * 10})
    assert before == (join._exchange.stored, join._counts, join.metrics.storage)
