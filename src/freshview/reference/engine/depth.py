"""How deep the closures of a term call one another, and a stack that is deep enough for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from freshview.calculus.terms import Cmp, Expr, Mul
from freshview.calculus.types import Value
from freshview.calculus.walk import children
from freshview.depth import room_for
from freshview.reference.engine.scope import Rows

DEEP = 100
"""Closures inside one another past which the stack of the caller may be too short."""

FRAMES_A_LEVEL = 6


@lru_cache(maxsize=1 << 12)
def nesting(e: Expr) -> int:
    """How many closures of a term run inside one another, at most."""
    inner = [nesting(c) for c in children(e)]
    if isinstance(e, Mul):
        tests = [n for n, f in zip(inner, e.factors, strict=True) if isinstance(f, Cmp)]
        return 1 + sum(inner) - sum(tests) + max(tests, default=0)
    return 1 + max(inner, default=0)


def with_room(run: Callable[[Sequence[Value]], Rows], depth: int) -> Callable[..., Rows]:
    """The same function, in a stack of its caller that is deep enough."""

    def deeper(args: Sequence[Value]) -> Rows:
        with room_for(FRAMES_A_LEVEL * depth):
            return run(args)

    return deeper
