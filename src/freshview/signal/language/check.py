"""What arguments of operators must be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freshview.signal.arrays import Array
from freshview.signal.policies import Policy
from freshview.signal.terms import BadSignal


def check_policy(value: object) -> Policy:
    """A policy of interpolation."""
    if not isinstance(value, Policy):
        raise BadSignal(
            f"a policy of interpolation cannot be {value!r}", instead="give linear(60), or another"
        )
    return value


def integer(what: str, value: object) -> int:
    """A whole number."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise BadSignal(f"{what} cannot be {value!r}", instead="give an integer")
    return int(value.__index__())


def positive(what: str, value: object) -> int:
    """A whole number above zero."""
    number = integer(what, value)
    if number <= 0:
        raise BadSignal(f"{what} cannot be {number}", instead="give a number above zero")
    return number


def coefficients(what: str, values: Sequence[complex] | Array) -> tuple[complex, ...]:
    """A list of finite numbers."""
    array = np.asarray(values)
    if array.ndim != 1 or not len(array) or array.dtype.kind not in "iufc":
        raise BadSignal(f"{what} have the shape {array.shape}", instead="give a list of numbers")
    if not np.isfinite(array).all():
        raise BadSignal(f"{what} are not all finite", instead="give finite numbers")
    return tuple(array.tolist())


def check_missing(missing: str, allowed: tuple[str, ...]) -> None:
    """Refuse other words for what missing samples are."""
    if missing not in allowed:
        raise BadSignal(
            f"missing samples cannot be {missing!r}", instead=f"say {' or '.join(allowed)}"
        )
