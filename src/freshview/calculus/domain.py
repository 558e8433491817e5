"""The domain of values: what a number may be, wherever it is kept. It is the same for all engines.

Integers have 64 bits, without the smallest one, which kernels take for NULL. Decimals have 38
digits, as in Arrow and Spark. Text is Unicode without halves of surrogate pairs.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from freshview.calculus.types import Type

INT_MAX = (1 << 63) - 1
"""The largest integer; the smallest is its opposite."""

DIGITS = 38
"""Digits of a decimal, all in all."""


def limit(t: Type) -> int | None:
    """What the size of a number of a type stays below; None where there is no such bound.

    >>> limit(Type("int")) == 2**63, limit(Type("decimal", 2)) == 10**36, limit(Type("double"))
    (True, True, None)
    """
    match t.kind:
        case "int":
            return INT_MAX + 1
        case "decimal":
            return int(10 ** max(DIGITS - t.scale, 0))
        case _:
            return None


def is_int(value: int) -> bool:
    """Whether an integer is one that every engine holds."""
    return -INT_MAX <= value <= INT_MAX


def is_within(value: Any, t: Type) -> bool:
    """Whether a number of a type is one that every engine holds; NULL is.

    >>> is_within(-(2**63), Type("int")), is_within(Decimal(10) ** 36, Type("decimal", 2))
    (False, False)
    """
    bound = limit(t)
    return bound is None or value is None or -bound < value < bound


def is_text(value: str) -> bool:
    r"""Whether a text is Unicode: no half of a surrogate pair stands alone.

    >>> is_text("é"), is_text("\ud800")
    (True, False)
    """
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_decimal(value: Decimal) -> bool:
    """Whether a decimal that is written with its scale has no more digits than there may be."""
    return len(value.as_tuple().digits) <= DIGITS
