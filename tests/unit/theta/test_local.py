"""Local joins find what a nested loop finds, by every index and kind of value."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.errors import FreshviewError, TypeProblem, UnknownName
from freshview.temporal import FullHistory
from freshview.theta import Band, Comparison, Function, Source
from freshview.theta.local import runs
from freshview.theta.local.columns import column, concat, python_rows, python_values
from freshview.theta.local.common_kind import hash_values
from freshview.theta.local.indexes import HashIndex, OrderedIndex, Scan
from freshview.theta.local.predicate import BadPredicate, Condition, bind
from freshview.theta.local.runs import SortedRuns
from freshview.theta.local.store import ArrayStore, Shape
from freshview.theta.operator.intake import read_columns, stamped

INTS = st.lists(st.integers(-9, 9), max_size=30)


def tuples(source: Source, side: Any, theta: Any, rows: list[Any], weights: Any = 1) -> Any:
    columns = read_columns(source, rows)
    each = np.full(len(rows), weights) if isinstance(weights, int) else np.array(weights)
    return stamped(source, side, theta, columns, each.astype(np.int64), 0, 0, 0)


def joined(
    kinds: tuple[str, str], conditions: tuple[Condition, ...], r: list[Any], s: list[Any]
) -> tuple[set[tuple[int, int]], ArrayStore]:
    """Row numbers that join: S stored in two batches, R probing."""
    one, two = Source("r", {"a": kinds[0]}), Source("s", {"b": kinds[1]})
    theta = bind(conditions, one.relation, two.relation)
    store = ArrayStore(Shape(theta, FullHistory()), "S")
    half = len(s) // 2
    for part in (s[:half], s[half:]):
        store.add(tuples(two, "S", theta, [(v,) for v in part]))
    rows, slots = store.probe(tuples(one, "R", theta, [(v,) for v in r]))
    pairs = list(zip(rows.tolist(), slots.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    return set(pairs), store


OPS: dict[str, Any] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
VALUES: dict[str, list[Any]] = {
    "int?": [None, -5, 0, 3, 3, 2**62, -(2**62)],
    "double?": [None, -0.0, 0.0, 3.0, 2.5, -5.0],
    "decimal(2)?": [None, Decimal("3.00"), Decimal("2.50"), Decimal("-5"), Decimal(0)],
    "string?": [None, "", "a", "ab", "B", "é"],
    "date?": [None, date(2020, 1, 1), date(1969, 12, 31), date(2020, 1, 2)],
    "timestamp?": [None, datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 0, 0, 1)],
    "bool?": [None, True, False, True],
}
COMPARABLE = [
    *((k, k) for k in VALUES),
    ("int?", "double?"),
    ("decimal(2)?", "int?"),
    ("double?", "decimal(2)?"),
    ("date?", "timestamp?"),
]


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("kinds", COMPARABLE, ids=" ".join)
def test_comparisons_of_every_kind(kinds: tuple[str, str], op: Any) -> None:
    r, s = VALUES[kinds[0]], VALUES[kinds[1]]

    def moment(v: Any) -> Any:
        is_day = isinstance(v, date) and not isinstance(v, datetime)
        return datetime(v.year, v.month, v.day) if is_day else v

    wanted = {
        (i, j)
        for i, a in enumerate(r)
        for j, b in enumerate(s)
        if a is not None and b is not None and OPS[op](moment(a), moment(b))
    }
    assert joined(kinds, (Comparison("a", op, "b"),), r, s)[0] == wanted


@given(INTS, INTS, st.integers(-4, 4), st.integers(0, 5))
def test_bands(r: list[int], s: list[int], low: int, width: int) -> None:
    band = Band("a", "b", low, low + width)
    wanted = {
        (i, j) for i, a in enumerate(r) for j, b in enumerate(s) if low <= b - a <= low + width
    }
    assert joined(("int", "int"), (band,), r, s)[0] == wanted


def test_bands_reach_the_ends_of_the_range() -> None:
    most = 2**63 - 1
    band = Band("a", "b", -5, 5)
    pairs, _ = joined(("int", "int"), (band,), [most, -most, most - 7], [most - 3, -most + 1])
    assert pairs == {(0, 0), (1, 1), (2, 0)}


def test_bands_of_decimals_and_days() -> None:
    cents = [Decimal("1.00"), Decimal("1.05")]
    pairs, _ = joined(("decimal(2)", "decimal(2)"), (Band("a", "b", 0.05, 1),), cents, cents)
    assert pairs == {(0, 1)}
    days = [date(2020, 2, 28), date(2020, 3, 1)]
    pairs, _ = joined(("date", "date"), (Band("a", "b", 1, 2),), days, days)
    assert pairs == {(0, 1)}


def test_the_first_useful_condition_has_the_index() -> None:
    def index(*conditions: Condition) -> Any:
        return joined(("int", "int"), conditions, [1], [1])[1]._index

    less, equal, unlike = (Comparison("a", op, "b") for op in ("<", "=", "!="))
    call = Function(lambda r, s: True)
    assert isinstance(index(less, equal), HashIndex)
    assert isinstance(index(unlike, less), OrderedIndex)
    assert isinstance(index(unlike), Scan)
    assert isinstance(index(call), Scan)
    assert isinstance(index(), Scan)


@given(st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=20), max_size=12))
def test_runs_are_few_and_hold_everything(batches: list[list[int]]) -> None:
    index, values = SortedRuns(), []
    for batch in batches:
        slots = np.arange(len(values), len(values) + len(batch))
        index.add(np.array(batch), slots)
        values += batch
        sizes = [len(run.values) for run in index.runs]
        assert sum(sizes) == len(values)
        assert all(a > 2 * b for a, b in pairwise(sizes))
    low, high = np.array([10, 30]), np.array([20, 30])
    pairs = {
        (p, s)
        for probe, slot in index.search(low, high, False, True, 2)
        for p, s in zip(probe.tolist(), slot.tolist(), strict=True)
    }
    assert pairs == {
        (p, i) for p in range(2) for i, v in enumerate(values) if low[p] <= v < high[p]
    }


def test_many_candidates_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_CANDIDATES", 7)
    r, s = list(range(20)), list(range(15))
    pairs, _ = joined(("int", "int"), (Comparison("a", "!=", "b"),), r, s)
    assert pairs == {(i, j) for i in r for j in s if i != j}


def test_equal_values_hash_equally() -> None:
    def hashed(kind: Any, *values: Any) -> list[int]:
        hashes: list[int] = hash_values(column(kind, values).values, kind).tolist()
        return hashes

    assert hashed("double", 0.0) == hashed("double", -0.0)
    assert hashed("decimal", Decimal("1.0")) == hashed("decimal", Decimal("1.00"))
    assert hashed("string", "é", "e") == [3394012004367669963, 5700765136896514064]


def test_equal_hashes_of_unequal_values_do_not_join(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_equal(values: Any, kind: Any) -> Any:
        return np.zeros(len(values), np.uint64)

    monkeypatch.setattr("freshview.theta.local.indexes.hash_values", all_equal)
    pairs, _ = joined(("int", "int"), (Comparison("a", "=", "b"),), [1, 2], [2, 3])
    assert pairs == {(1, 0)}


def test_deletions_cancel_rows_and_give_their_room_back() -> None:
    source = Source("r", {"a": "int?"}, retracts=True)
    theta = bind((), source.relation, Source("s", {"b": "int"}).relation)
    store = ArrayStore(Shape(theta, FullHistory(), retracts_r=True), "R")
    random, counts = Random(3), dict.fromkeys((None, *range(9)), 0)
    for _ in range(300):
        value = random.choice(list(counts))
        weight = -1 if counts[value] and random.random() < 0.7 else random.choice([1, 2])
        counts[value] += weight
        store.add(tuples(source, "R", theta, [(value,)], weight))
        alive = sum(n != 0 for n in counts.values())
        assert store.bytes == 8 * alive
        assert len(store) <= 2 * alive + 130
    stored = store.all()
    assert stored is not None
    values = python_values(stored.columns[0])
    stored_counts = {v: n for v, n in zip(values, stored.weight.tolist(), strict=True) if n}
    assert stored_counts == {v: n for v, n in counts.items() if n}


def test_columns_go_and_come_back() -> None:
    for kind, values in VALUES.items():
        source = Source("r", {"a": kind})
        theta = bind((), source.relation, Source("s", {"b": "int"}).relation)
        whole = tuples(source, "R", theta, [(v,) for v in values])
        parts = concat([whole.take(np.array([i])) for i in range(len(values))])
        assert python_rows(parts.columns) == [(v,) for v in values]


def test_predicates_that_do_not_fit_are_refused() -> None:
    def binding(kinds: tuple[str, str], condition: Condition) -> None:
        bind(
            (condition,),
            Source("r", {"a": kinds[0]}).relation,
            Source("s", {"b": kinds[1]}).relation,
        )

    refused: list[tuple[type[FreshviewError], tuple[str, str], Condition]] = [
        (TypeProblem, ("int", "string"), Comparison("a", "=", "b")),
        (UnknownName, ("int", "int"), Comparison("a", "=", "c")),
        (BadPredicate, ("string", "string"), Band("a", "b", 0, 1)),
        (BadPredicate, ("int", "int"), Band("a", "b", 0, 1.5)),
    ]
    for error, kinds, condition in refused:
        with pytest.raises(error):
            binding(kinds, condition)
