"""How much a planner has worked: terms rewritten, derived and compared for the first time."""

from __future__ import annotations

import sys
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


def forget() -> None:
    """Let planning start with nothing known."""
    for f in REMEMBERED:
        f.cache_clear()


def counted(work: Callable[[], R]) -> tuple[R, int]:
    """The result of some planning that starts with nothing known, and its steps."""
    forget()
    result = work()
    return result, sum(f.cache_info().misses for f in REMEMBERED)


def calls(work: Callable[[], object]) -> int:
    """How many functions some planning calls that starts with nothing known, in C too."""
    n = 0

    def count(*event: object) -> None:
        nonlocal n
        n += event[1] in ("call", "c_call")

    forget()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return n
