"""The (count, sum) ring: one payload that keeps how many rows there are and what they add up to."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from freshview.algebra.ring import Ring, scale

T = TypeVar("T")


class CountSum(NamedTuple, Generic[T]):
    """A number of rows, and the sum of a value over them."""

    count: int  # type: ignore[assignment]  # hides tuple.count, which a payload does not need
    sum: T


class CountSumRing(Generic[T]):
    """(c, s) + (d, t) = (c + d, s + t); (c, s) * (d, t) = (c*d, c*t + d*s).

    The product is that of polynomials c + s*x cut after x: joining c rows of sum s with d rows
    of sum t gives c*d rows, where every s is met d times and every t is met c times. A group
    whose sum is zero is not zero while its count is not: the count decides what lives.

    >>> from freshview.algebra.numeric import INTEGERS
    >>> ring = CountSumRing(INTEGERS)
    >>> ring.mul(CountSum(2, 10), CountSum(3, 1))
    CountSum(count=6, sum=32)
    """

    def __init__(self, values: Ring[T]) -> None:
        self.values = values
        self.zero = CountSum(0, values.zero)
        self.one = CountSum(1, values.zero)

    def lift(self, value: T) -> CountSum[T]:
        """One row that carries `value`."""
        return CountSum(1, value)

    def add(self, a: CountSum[T], b: CountSum[T]) -> CountSum[T]:
        """Union."""
        return CountSum(a.count + b.count, self.values.add(a.sum, b.sum))

    def neg(self, a: CountSum[T]) -> CountSum[T]:
        """Deletion."""
        return CountSum(-a.count, self.values.neg(a.sum))

    def mul(self, a: CountSum[T], b: CountSum[T]) -> CountSum[T]:
        """Join."""
        met_by_b = scale(self.values, b.count, a.sum)
        met_by_a = scale(self.values, a.count, b.sum)
        return CountSum(a.count * b.count, self.values.add(met_by_b, met_by_a))

    def is_zero(self, a: CountSum[T]) -> bool:
        """Nothing there and nothing owed."""
        return a.count == 0 and self.values.is_zero(a.sum)
