"""How much a planner has worked: terms rewritten, derived and compared for the first time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from freshview.calculus import alpha_equivalence
from freshview.ivm import blocker, delta, divide
from freshview.simplify import arrange, everywhere, finish, fixpoint

R = TypeVar("R")

REMEMBERED = (
    *(fixpoint, everywhere, finish, arrange),
    *(alpha_equivalence._renaming, divide.divide, delta.delta, blocker.blocker),
)


def counted(work: Callable[[], R]) -> tuple[R, int]:
    """The result of some planning that starts with nothing known, and its steps."""
    for f in REMEMBERED:
        f.cache_clear()
    result = work()
    return result, sum(f.cache_info().misses for f in REMEMBERED)
