"""Payloads that bring their own arithmetic: what a ring class must offer to stand in terms.

The whole numbers are part of every ring with one: n stands for 1 + 1 + ... + 1. So a payload
meets counts of rows wherever it goes: 3 * a is a three times, 0 + a is a, and a term that has
met no lifting function yet counts in plain integers. A ring of one's own is a class like these
below, one for each of the things that rows are to carry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, Self, TypeVar

E = TypeVar("E", bound="Element")


class Element(ABC):
    """An element of a ring with one; it must also have == and a hash, as a frozen dataclass has.

    `commutative` says whether a * b = b * a: only then may a compiler turn products around.
    """

    __slots__ = ()
    commutative: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def whole(cls, n: int) -> Self:
        """One added up n times: zero for 0, one for 1."""

    @abstractmethod
    def plus(self, other: Self) -> Self:
        """Union of two rows' payloads."""

    @abstractmethod
    def times(self, other: Self) -> Self:
        """Join of two rows' payloads."""

    @abstractmethod
    def scaled(self, n: int) -> Self:
        """The payload n times; -1 undoes it."""

    @abstractmethod
    def is_zero(self) -> bool:
        """Whether a row with this payload is not there."""

    def __bool__(self) -> bool:
        return not self.is_zero()

    def __add__(self, other: object) -> Self:
        if isinstance(other, int):
            return self.plus(self.whole(other)) if other else self
        return self.plus(other) if isinstance(other, type(self)) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other: object) -> Self:
        if isinstance(other, int):
            return self if other == 1 else self.scaled(other)
        return self.times(other) if isinstance(other, type(self)) else NotImplemented

    def __rmul__(self, other: object) -> Self:
        return self.__mul__(other) if isinstance(other, int) else NotImplemented

    def __neg__(self) -> Self:
        return self.scaled(-1)

    def __sub__(self, other: Self | int) -> Self:
        return self + -other


class ElementRing(Generic[E]):
    """The ring whose payloads are the elements of one class.

    >>> from freshview.algebra.pair import Pair
    >>> ring = ElementRing(Pair)
    >>> ring.mul(Pair(2, 10), Pair(3, 1)), ring.is_zero(ring.zero)
    (Pair(count=6, sum=32), True)
    """

    def __init__(self, element: type[E]) -> None:
        self.element = element
        self.zero: E = element.whole(0)
        self.one: E = element.whole(1)

    def __repr__(self) -> str:
        return self.element.__name__

    def add(self, a: E, b: E) -> E:
        """The sum."""
        return a.plus(b)

    def neg(self, a: E) -> E:
        """The opposite."""
        return a.scaled(-1)

    def mul(self, a: E, b: E) -> E:
        """The product."""
        return a.times(b)

    def is_zero(self, a: E) -> bool:
        """Whether a row with this payload is dropped."""
        return a.is_zero()
