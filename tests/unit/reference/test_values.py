"""NULL and mixed numbers, in single values and in terms."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from freshview.calculus.compare import compare
from freshview.calculus.text import read
from freshview.calculus.types import Value
from freshview.errors import UnboundVariable, UnknownName
from freshview.reference.oracle.evaluate import Database, evaluate
from freshview.reference.values import plus, times, weight

DB = Database({"R": {(1, None): 1, (None, 2): 1, (3, 4): 1}})


@pytest.mark.parametrize(
    ("op", "a", "b", "holds"),
    [
        ("=", None, None, True),
        ("=", None, 0, False),
        ("<>", None, None, False),
        ("<>", 0, None, True),
        ("<", None, 1, False),
        (">=", None, None, False),
        ("=", Decimal("1.0"), 1, True),
        (">", 0.1, Decimal("0.1"), False),
        ("=", date(2020, 1, 1), datetime(2020, 1, 1), True),
        ("<", date(2020, 1, 1), datetime(2020, 1, 1, 5), True),
        ("<", "a", "b", True),
    ],
)
def test_comparison_of(op, a: Value, b: Value, holds: bool) -> None:
    assert compare(op, a, b) is holds


def test_arithmetic_over_null_is_null() -> None:
    assert evaluate(read("(x := 1 + null)"), DB) == {(None,): 1}
    assert evaluate(read("(x := 2 * null)"), DB) == {(None,): 1}


def test_null_as_a_multiplicity_is_nothing() -> None:
    assert evaluate(read("Sum[](R(a, b) * b)"), DB) == {(): 6}
    assert evaluate(read("null"), DB) == {}


def test_a_union_adds_multiplicities_so_null_is_nothing_in_it() -> None:
    assert evaluate(read("R(a, b) * (b + 1) * {a = 1}"), DB) == {(1, None): 1}


def test_variables_join_null_with_null() -> None:
    assert evaluate(read("R(a, b) * (b := null)"), DB) == {(1, None): 1}
    assert evaluate(read("Sum[](R(a, b) * R(b, c))"), DB) == {(): 1}


def test_mixed_numbers_widen() -> None:
    assert times(Decimal("0.5"), weight(0.5)) == 0.25
    assert plus(Decimal("0.5"), weight(0.5)) == 1.0
    assert times(3, weight(None)) == 0


def test_decimals_are_exact_beyond_28_digits() -> None:
    big = Decimal("1234567890123456789012345.67")
    square = Decimal("1524157875323883675049535134278311434552659675567.7489")
    assert evaluate(read("(x := a * a)"), DB, {"a": big}) == {(square,): 1}


def test_complaints() -> None:
    with pytest.raises(UnknownName, match="there is no relation 'Q' in the database"):
        evaluate(read("Q(a)"), DB)
    with pytest.raises(UnknownName, match="there is no map 'M' in the database"):
        evaluate(read("M[a]"), DB)
    with pytest.raises(UnboundVariable, match="variable 'b' is read before anything binds it"):
        evaluate(read("b * R(a, b)"), DB)


def test_a_batch_that_is_not_there_is_empty() -> None:
    assert evaluate(read("(DELTA R)(a, b)"), DB) == {}
