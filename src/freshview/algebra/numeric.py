"""Number rings: integers, exact decimals, doubles, and the tower that mixes them."""

from __future__ import annotations

from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import Generic, TypeAlias, TypeVar

Number: TypeAlias = int | Decimal | float
N = TypeVar("N", int, Decimal, float)

EXACT = Context(prec=100, traps=[Inexact, Overflow, InvalidOperation])
"""Decimal arithmetic that refuses to round: sums and products of money stay exact."""


class NumberRing(Generic[N]):
    """The ring of one Python number type under + and *."""

    def __init__(self, name: str, zero: N, one: N) -> None:
        self.name = name
        self.zero: N = zero
        self.one: N = one

    def __repr__(self) -> str:
        return self.name

    def add(self, a: N, b: N) -> N:
        """The sum."""
        return a + b

    def neg(self, a: N) -> N:
        """The opposite."""
        return -a

    def mul(self, a: N, b: N) -> N:
        """The product."""
        return a * b

    def is_zero(self, a: N) -> bool:
        """Exactly zero: a double that drifted stays, a count beside it decides what lives."""
        return not a


class DecimalRing(NumberRing[Decimal]):
    """Decimals under the exact context, so the laws hold without a rounding error."""

    def add(self, a: Decimal, b: Decimal) -> Decimal:
        """The exact sum."""
        return EXACT.add(a, b)

    def neg(self, a: Decimal) -> Decimal:
        """The opposite."""
        return EXACT.minus(a)

    def mul(self, a: Decimal, b: Decimal) -> Decimal:
        """The exact product."""
        return EXACT.multiply(a, b)


class NumberTower:
    """Integers within exact decimals within doubles: the multiplicities of the calculus.

    A result is as exact as its least exact operand.

    >>> NUMBERS.mul(Decimal("0.5"), 3), NUMBERS.add(Decimal("0.5"), 0.25)
    (Decimal('1.5'), 0.75)
    """

    zero: Number = 0
    one: Number = 1

    def add(self, a: Number, b: Number) -> Number:
        """The sum, in the wider of the two types."""
        if isinstance(a, float) or isinstance(b, float):
            return float(a) + float(b)
        if isinstance(a, Decimal) or isinstance(b, Decimal):
            return EXACT.add(a, b)
        return a + b

    def neg(self, a: Number) -> Number:
        """The opposite."""
        return EXACT.minus(a) if isinstance(a, Decimal) else -a

    def mul(self, a: Number, b: Number) -> Number:
        """The product, in the wider of the two types."""
        if isinstance(a, float) or isinstance(b, float):
            return float(a) * float(b)
        if isinstance(a, Decimal) or isinstance(b, Decimal):
            return EXACT.multiply(a, b)
        return a * b

    def is_zero(self, a: Number) -> bool:
        """Exactly zero."""
        return not a


INTEGERS: NumberRing[int] = NumberRing("integers", 0, 1)
DECIMALS: NumberRing[Decimal] = DecimalRing("decimals", Decimal(0), Decimal(1))
DOUBLES: NumberRing[float] = NumberRing("doubles", 0.0, 1.0)
NUMBERS = NumberTower()
