"""Bits of integers: all of them have 64."""

from __future__ import annotations

from collections.abc import Callable

from freshview.calculus.builtin.entry import Entry, bad, entry
from freshview.calculus.builtin.maths import int64, wrapped
from freshview.calculus.casts import LIMIT

MASK = (1 << 64) - 1


def count(x: int) -> int:
    """How many bits are set."""
    return (x & MASK).bit_count()


def get(x: int, place: int) -> int:
    """The bit of a place, from 0 on the right."""
    if not 0 <= place < 64:
        raise bad("bit_get", f"there is no bit {place}", place)
    return x >> place & 1


def shift_left(x: int, by: int) -> int:
    """The bits moved to the left; what leaves 64 bits is lost."""
    return int64("shiftleft", wrapped(x << (by & 63)))


def shift_right(x: int, by: int) -> int:
    """The bits moved to the right, the sign kept."""
    return x >> (by & 63)


def shift_right_unsigned(x: int, by: int) -> int:
    """The bits moved to the right, zeros before them."""
    return int64("shiftrightunsigned", wrapped((x & MASK) >> (by & 63)))


def bucket(n: int) -> int:
    """The number of the bitmap in which a number is."""
    return (n - 1) // 32768 + 1 if n > 0 else -(-n // 32768)


def position(n: int) -> int:
    """The place of a number in its bitmap."""
    return (n - 1) % 32768 if n > 0 else (-n) % 32768


COUNTED = (1 << 31) - 1
"""The most values of which bits are counted: two counts are in one integer."""


def pair(x: int, place: int) -> int:
    """Two bits of an integer, apart from each other: of a place, and of one 32 places further."""
    return (x >> place & 1) + ((x >> place + 32 & 1) << 31)


def of_counts(fn: str, holds: Callable[[int, int], bool]) -> Callable[..., int]:
    """The integer of the bits that hold, given how many of n values have each, in 32 pairs.

    A kernel gives none of the pairs where the integer is -2^63, to have it refused.
    """

    def compute(n: int, *pairs: int) -> int:
        if not 0 <= n <= COUNTED:
            raise bad(fn, f"{n} values in one group are more than {COUNTED}")
        if not pairs:
            raise bad(fn, f"{-LIMIT} leaves the 64-bit integers")
        low = sum(holds(p & COUNTED, n) << i for i, p in enumerate(pairs))
        high = sum(holds(p >> 31, n) << i for i, p in enumerate(pairs))
        return int64(fn, wrapped(low | high << 32))

    return compute


ENTRIES: tuple[Entry, ...] = (
    entry("bit_and_of", "long, long -> int!", lambda a, b: int64("&", a & b)),
    entry("bit_or_of", "long, long -> int", lambda a, b: a | b),
    entry("bit_xor_of", "long, long -> int!", lambda a, b: int64("^", a ^ b)),
    entry("bit_not", "long -> int!", lambda a: int64("~", ~a)),
    entry("bit_count", "long -> int", count),
    entry("bit_get getbit", "long, int -> int!", get),
    entry("shiftleft", "long, int -> int!", shift_left),
    entry("shiftright", "long, int -> int", shift_right),
    entry("shiftrightunsigned", "long, int -> int!", shift_right_unsigned),
    entry("bit_pair", "long, int -> int", pair),
    *(
        entry(f"{fn}_of_counts", "long, long... -> int!", of_counts(fn, holds))
        for fn, holds in (
            ("bit_and", lambda count, n: count == n),
            ("bit_or", lambda count, n: count > 0),
            ("bit_xor", lambda count, n: count % 2 == 1),
        )
    ),
    entry("bitmap_bucket_number", "long -> int", bucket),
    entry("bitmap_bit_position", "long -> int", position),
)
