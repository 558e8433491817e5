"""Predicates at the edges of their values: rounding, digits, rows that are gone."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from freshview.temporal import Sliding
from freshview.theta import Band, Comparison, Function, Source, ThetaJoin
from freshview.theta.local.predicate import BadPredicate


def a_join(kind: str, on: Any, **options: Any) -> ThetaJoin:
    retracts = options.pop("retracts", False)
    r, s = (Source(name, {"x": kind}, retracts=retracts) for name in "rs")
    return ThetaJoin(r, s, on, joiners=1, **options)


def test_a_band_of_doubles_does_not_depend_on_which_row_comes_first() -> None:
    """`r + 0.2` and `s - 0.2` are rounded apart; a pair that came by one must go by the other."""
    random = Random(1)
    pairs = [(round(random.random(), 1), random.choice([0.1, 0.2, 0.3])) for _ in range(300)]
    rows = [(r, random.choice([round(r + d, 1), r + d])) for r, d in pairs]
    for r, s in rows:
        wanted = Counter({(r, s): 1} if -0.2 <= s - r <= 0.2 else {})
        for first, last in (("r", "s"), ("s", "r")):
            join = a_join("double", Band("x", "x", -0.2, 0.2), retracts=True)
            total: Counter[Any] = Counter()
            row = {"r": (r,), "s": (s,)}
            for name in (first, last):
                total.update(join.push({name: [row[name]]}).net())
            assert total == wanted
            total.update(join.apply({first: [(row[first], -1)]}).net())
            assert not any(total.values())


@pytest.mark.parametrize("ends", [(float("-inf"), 0.5), (-0.5, float("inf")), (Decimal(-1), 1)])
def test_ends_of_a_band_of_doubles(ends: Any) -> None:
    join = a_join("double", Band("x", "x", *ends))
    output = join.push({"r": [(1.0,)], "s": [(-1e300,), (1.25,), (1e300,)]})
    wanted = [s for s in (-1e300, 1.25, 1e300) if ends[0] <= s - 1.0 <= ends[1]]
    assert Counter(row[1] for row, _ in output.rows()) == Counter(wanted)


def test_a_band_of_decimals_is_exact_to_the_last_of_38_digits() -> None:
    join = a_join("decimal(0)", Band("x", "x", 0, 0))
    large = 10**37
    output = join.push({"r": [(Decimal(large + 1),)], "s": [(Decimal(large + k),) for k in (0, 1)]})
    assert output.rows() == [((Decimal(large + 1), Decimal(large + 1)), 1)]


def picky(r: Any, s: Any) -> bool:
    if r[0] == 13:
        raise ValueError("unlucky")
    return True


def test_functions_never_see_rows_that_were_deleted() -> None:
    join = a_join("int", Function(picky), retracts=True)
    join.apply({"r": [((13,), 1), ((14,), 1)]})
    join.apply({"r": [((13,), -1)]})
    assert join.push({"s": [(1,)]}).rows() == [((14, 1), 1)]


def test_functions_never_see_pairs_out_of_the_window() -> None:
    r, s = (Source(name, {"t": "int", "k": "int"}, time="t") for name in "rs")
    equal = Comparison("k", "=", "k")
    join = ThetaJoin(r, s, [equal, Function(picky)], window=Sliding(5), joiners=1)
    join.push({"r": [(13, 1), (98, 1)]})
    assert len(join.push({"s": [(100, 1)]})) == 1


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Comparison("x", "<>", "x"), "use one of =, !="),  # type: ignore[arg-type]
        (lambda: Comparison("x", "==", "x"), "use one of =, !="),  # type: ignore[arg-type]
        (lambda: Band("x", "x", 3, 1), "between 3 and 1"),
        (lambda: Band("x", "x", float("nan"), 1), "between nan and 1"),
        (lambda: Function("x < x"), "not a function"),  # type: ignore[arg-type]
        (lambda: a_join("int", "x < x"), "not a condition"),
        (lambda: a_join("int", picky), "around a function"),
        (lambda: a_join("int", Band("x", "x", -(2**70), 0)), "64-bit integers"),
        (lambda: a_join("decimal(2)", Band("x", "x", 0, float("inf"))), "finite ends"),
    ],
)
def test_what_is_no_predicate_is_refused(build: Any, words: str) -> None:
    with pytest.raises(BadPredicate, match=words):
        build()
