"""Count and sum as a payload of terms: the RingAvg of Valeanu 2018, section 5."""

from __future__ import annotations

from dataclasses import dataclass

from freshview.algebra.element import Element
from freshview.algebra.numeric import NUMBERS, Number


@dataclass(frozen=True, slots=True)
class Pair(Element):
    """A number of rows, and the sum of one value over them.

    (c, s) + (d, t) = (c + d, s + t); (c, s) * (d, t) = (c*d, c*t + d*s). The product is that of
    polynomials c + s*x cut after x: joining c rows of sum s with d rows of sum t gives c*d rows,
    where every s is met d times and every t is met c times. A group whose sum is zero is not zero
    while its count is not.

    >>> Pair.of(10) + 2 * Pair.of(4), Pair.of(10) * 3
    (Pair(count=3, sum=18), Pair(count=3, sum=30))
    """

    count: int
    sum: Number

    @classmethod
    def whole(cls, n: int) -> Pair:
        """N rows that carry nothing."""
        return cls(n, 0)

    @classmethod
    def of(cls, value: Number) -> Pair:
        """One row that carries `value`: the lifting function."""
        return cls(1, value)

    def plus(self, other: Pair) -> Pair:
        """Union."""
        return Pair(self.count + other.count, NUMBERS.add(self.sum, other.sum))

    def times(self, other: Pair) -> Pair:
        """Join: every value is met as often as the other side has rows."""
        mine = NUMBERS.mul(other.count, self.sum)
        theirs = NUMBERS.mul(self.count, other.sum)
        return Pair(self.count * other.count, NUMBERS.add(mine, theirs))

    def scaled(self, n: int) -> Pair:
        """N copies."""
        return Pair(n * self.count, NUMBERS.mul(n, self.sum))

    def is_zero(self) -> bool:
        """Nothing there and nothing owed."""
        return not self.count and not self.sum
