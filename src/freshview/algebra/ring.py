"""The ring protocol: the interface that payloads share, and what each law buys."""

from __future__ import annotations

from typing import Protocol, TypeVar

T = TypeVar("T")


class Ring(Protocol[T]):
    """A ring with one.

    Laws, for all a, b, c (tests/law/test_rings.py checks them):

    - (a + b) + c = a + (b + c), a + b = b + a: a batch may be applied in any order.
    - a + 0 = a, a + (-a) = 0: a deletion is the insertion of the additive inverse.
    - (a * b) * c = a * (b * c), a * 1 = 1 * a = a: joins may be grouped in any way.
    - a * (b + c) = a*b + a*c, (a + b) * c = a*c + b*c: the delta of a join is a sum of joins.

    Multiplication need not commute.
    """

    @property
    def zero(self) -> T:
        """The payload of a row that is not there."""
        ...

    @property
    def one(self) -> T:
        """The payload of a row that is there once."""
        ...

    def add(self, a: T, b: T) -> T:
        """Union of two rows' payloads."""
        ...

    def neg(self, a: T) -> T:
        """What undoes `a`."""
        ...

    def mul(self, a: T, b: T) -> T:
        """Join of two rows' payloads."""
        ...

    def is_zero(self, a: T) -> bool:
        """Whether a row with this payload is dropped from its relation."""
        ...
