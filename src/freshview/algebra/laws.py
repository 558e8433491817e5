"""The laws of a ring as a test: for those who bring one of their own.

@given(elements, elements, elements)
def test_my_ring(a, b, c):
assert broken_law(Mine, a, b, c) is None
"""

from __future__ import annotations

from collections.abc import Iterator

from freshview.algebra.element import Element


def broken_law(ring: type[Element], a: Element, b: Element, c: Element) -> str | None:
    """The first law that three elements break, in words and with the elements; None if none.

    >>> from freshview.algebra.pair import Pair
    >>> broken_law(Pair, Pair(2, 10), Pair(3, 1), Pair(-1, 4)) is None
    True
    """
    for law, holds in _laws(ring, a, b, c):
        if not holds:
            return f"{law} does not hold in {ring.__name__} for a = {a}, b = {b}, c = {c}"
    return None


def _laws(ring: type[Element], a: Element, b: Element, c: Element) -> Iterator[tuple[str, bool]]:
    zero, one = ring.whole(0), ring.whole(1)
    yield "(a + b) + c = a + (b + c)", (a + b) + c == a + (b + c)
    yield "a + b = b + a", a + b == b + a
    yield "a + 0 = a", a + zero == a
    yield "a + -a = 0", a + -a == zero
    yield "0 is zero, 1 is not", zero.is_zero() and not one.is_zero()
    yield "a + -a is zero", (a + -a).is_zero()
    yield "a is zero only if it is 0", a.is_zero() == (a == zero)
    yield "(a * b) * c = a * (b * c)", (a * b) * c == a * (b * c)
    yield "a * 1 = 1 * a = a", a * one == a and one * a == a
    yield "a * (b + c) = a*b + a*c", a * (b + c) == a * b + a * c
    yield "(a + b) * c = a*c + b*c", (a + b) * c == a * c + b * c
    yield "3 * a = a + a + a", a.scaled(3) == a + a + a
    yield "whole(3) = 1 + 1 + 1", ring.whole(3) == one + one + one
    yield "equal elements have equal hashes", hash(a + zero) == hash(a)
    if ring.commutative:
        yield "a * b = b * a", a * b == b * a
