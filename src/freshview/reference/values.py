"""Arithmetic and comparison of single values, with NULL and with mixed number types."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import reduce
from typing import Any, TypeAlias

from freshview.algebra import NUMBERS, Element, Real
from freshview.calculus.domain import INT_MAX, is_decimal
from freshview.calculus.types import Value

NAN = float("nan")

Multiplicity: TypeAlias = Any
"""A number, an exact sum of doubles, or an element of a ring: their operators are not declared."""


def counted(value: object) -> Multiplicity:
    """A value as a multiplicity: NULL is nothing, truth is 1, a payload is itself.

    >>> counted(None), counted(True), counted(Decimal("0.5"))
    (0, 1, Decimal('0.5'))
    """
    if value is None:
        return 0
    if isinstance(value, bool):
        return int(value)
    assert isinstance(value, int | Decimal | float | Real | Element), f"{value!r} is not a number"
    return value


def weight(value: object) -> Multiplicity:
    """A value as a multiplicity that adds up with others: a double becomes an exact number.

    >>> weight(0.5), weight(3), weight(None)
    (Real.of(0.5), 3, 0)
    """
    return Real.of(value) if isinstance(value, float) else counted(value)


def nearest_double(m: object) -> Multiplicity:
    """A multiplicity as a value: of an exact sum of doubles, the nearest double."""
    return float(m) if isinstance(m, Real) else m


def plus(a: Multiplicity, b: Multiplicity) -> Multiplicity:
    """The sum of two multiplicities; the caller is in the exact context."""
    return a + b


def times(a: Multiplicity, b: Multiplicity) -> Multiplicity:
    """The product of two multiplicities; the caller is in the exact context."""
    return a * b


def within_range(value: Multiplicity) -> Multiplicity:
    """A value itself; OverflowError for a number that is in no engine's domain.

    What is not a number is one object, so that it is found again among keys.

    >>> within_range(2**63 - 1) == 2**63 - 1
    True
    """
    kind = value.__class__
    if kind is int:
        if not -INT_MAX <= value <= INT_MAX:
            raise OverflowError("an integer of an expression leaves 64 bits")
    elif kind is float:
        return value if value == value else NAN
    elif kind is Decimal and not is_decimal(value):
        raise OverflowError("a decimal of an expression has more than 38 digits")
    return value


def sum_values(values: Iterable[Value]) -> Value:
    """Add values: NULL as soon as one of them is.

    >>> sum_values([1, Decimal("0.5")]), sum_values([1, None])
    (Decimal('1.5'), None)
    """
    items = tuple(values)
    return None if None in items else reduce(NUMBERS.add, map(counted, items))


def multiply_values(values: Iterable[Value]) -> Value:
    """Multiply values: NULL as soon as one of them is."""
    items = tuple(values)
    return None if None in items else reduce(NUMBERS.mul, map(counted, items))
