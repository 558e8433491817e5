"""Bits of integers: all of them have 64."""

from __future__ import annotations

from freshview.calculus.builtin.entry import Entry, bad, entry
from freshview.calculus.builtin.maths import int64, wrapped

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
    entry("bitmap_bucket_number", "long -> int", bucket),
    entry("bitmap_bit_position", "long -> int", position),
)
