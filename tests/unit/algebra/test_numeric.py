"""Decimals do not round, numbers widen, and what is zero goes."""

from __future__ import annotations

from decimal import Decimal, Inexact

import pytest

from freshview.algebra import DECIMALS, DOUBLES, INTEGERS, NUMBERS, Gmr, Pair


def test_decimals_are_exact_or_an_error() -> None:
    big, cent = Decimal("1e60"), Decimal("0.01")
    assert DECIMALS.add(DECIMALS.add(big, cent), DECIMALS.neg(big)) == cent
    with pytest.raises(Inexact):
        DECIMALS.add(big, Decimal("1e-60"))


def test_a_result_is_as_exact_as_its_least_exact_operand() -> None:
    assert isinstance(NUMBERS.add(1, 2), int)
    assert isinstance(NUMBERS.add(1, Decimal(2)), Decimal)
    assert isinstance(NUMBERS.mul(Decimal(1), 2.0), float)


def test_a_drifted_double_is_not_zero() -> None:
    assert not DOUBLES.is_zero(0.1 + 0.2 - 0.3)


def test_a_count_keeps_a_group_alive() -> None:
    assert not (Pair.of(5) + Pair.of(-5)).is_zero()
    assert (Pair.of(5) + Pair(-1, -5)).is_zero()


def test_relations_align_their_columns() -> None:
    r = Gmr(INTEGERS, ("a", "b"), {(1, 2): 1})
    s = Gmr(INTEGERS, ("b", "a"), {(2, 1): 1})
    assert r == s
    assert (r + s).rows == {(1, 2): 2}
    assert r[1, 2] == 1
    assert r[9, 9] == 0


def test_a_multiset_counts_its_rows() -> None:
    assert Gmr.of(INTEGERS, ("a",), [(1,), (2,), (1,)]).rows == {(1,): 2, (2,): 1}
