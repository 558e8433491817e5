"""Sums of doubles without rounding: what the reference engine counts rows in.

Doubles under + are not a ring: 0.1 + 0.2 - 0.2 - 0.1 is not zero, and what a large row pushed out
of a sum does not come back with its deletion. But doubles are whole numbers times powers of two,
and decimals times powers of ten: sums and products of those are exact in integers. A sum is rounded
once, when it is read, to the double that is nearest to it.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import total_ordering

INFINITE = 5_000
"""A double that has overflowed counts as 2 to this power: more than all the others, and it goes
again when it is deleted."""


@total_ordering
class Real:
    """The number digits * 2^twos * 5^fives.

    >>> three = Real.of(0.1) + Real.of(0.2)
    >>> float(three), bool(three - Real.of(0.2) - Real.of(0.1))
    (0.30000000000000004, False)
    >>> float(Real.of(1.7e308) * 2), float(Real.of(1.7e308) * 2 + 1 - Real.of(1.7e308) * 2)
    (inf, 1.0)
    """

    __slots__ = ("digits", "fives", "twos")

    def __init__(self, digits: int, twos: int = 0, fives: int = 0) -> None:
        self.digits = digits
        self.twos = twos
        self.fives = fives

    @classmethod
    def of(cls, x: int | float | Decimal | Real) -> Real:
        """A number of any kind, exactly."""
        if isinstance(x, Real):
            return x
        if isinstance(x, float):
            if not math.isfinite(x):
                return cls(0 if math.isnan(x) else -1 if x < 0 else 1, INFINITE)
            digits, below = x.as_integer_ratio()
            return cls(digits, 1 - below.bit_length())
        if isinstance(x, Decimal):
            sign, places, exponent = x.as_tuple()
            assert isinstance(exponent, int), "decimals are finite"
            digits = int("".join(map(str, places)))
            return cls(-digits if sign else digits, exponent, exponent)
        return cls(int(x))

    def text(self) -> str:
        """The number as text that `read` takes.

        >>> Real.read(Real.of(0.75).text()), Real.of(0.75).text()
        (Real.of(0.75), '3:-2:0')
        """
        return f"{self.digits:x}:{self.twos}:{self.fives}"

    @classmethod
    def read(cls, text: str) -> Real:
        """The inverse of `text`."""
        digits, twos, fives = text.split(":")
        return cls(int(digits, 16), int(twos), int(fives))

    def __add__(self, other: object) -> Real:
        if not isinstance(other, int | float | Decimal | Real):
            return NotImplemented
        b = Real.of(other)
        if self.twos == b.twos and self.fives == b.fives:
            return Real(self.digits + b.digits, self.twos, self.fives)
        if not self.digits or not b.digits:  # zero has no powers to bring along
            return b if b.digits else self
        twos, fives = min(self.twos, b.twos), min(self.fives, b.fives)
        return Real(self._over(twos, fives) + b._over(twos, fives), twos, fives)

    __radd__ = __add__

    def _over(self, twos: int, fives: int) -> int:
        """The digits where the powers are these, which are not larger."""
        more = self.fives - fives
        digits: int = self.digits << (self.twos - twos)
        return digits * 5**more if more else digits

    def __mul__(self, other: object) -> Real:
        if isinstance(other, int):
            return Real(self.digits * other, self.twos, self.fives)
        if not isinstance(other, float | Decimal | Real):
            return NotImplemented
        b = Real.of(other)
        return Real(self.digits * b.digits, self.twos + b.twos, self.fives + b.fives)

    __rmul__ = __mul__

    def __neg__(self) -> Real:
        return Real(-self.digits, self.twos, self.fives)

    def __sub__(self, other: int | float | Decimal | Real) -> Real:
        return self.__add__(-Real.of(other))

    def __rsub__(self, other: object) -> Real:
        return (-self).__add__(other)

    def __bool__(self) -> bool:
        return self.digits != 0

    def __float__(self) -> float:
        above, below = self.digits, 1
        for base, power in ((2, self.twos), (5, self.fives)):
            if power > 0:
                above *= base**power
            else:
                below *= base**-power
        try:
            return above / below
        except OverflowError:
            return math.inf if above > 0 else -math.inf

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | float | Decimal | Real):
            return NotImplemented
        return not self - other

    def __lt__(self, other: int | float | Decimal | Real) -> bool:
        return self.__sub__(other).digits < 0

    def __hash__(self) -> int:
        return hash(float(self))

    def __repr__(self) -> str:
        return f"Real.of({float(self)!r})"
