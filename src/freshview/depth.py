"""Recursion without a visible limit: what is too deep for the caller's stack runs on a deep one.

Terms are trees, and passes recurse over them. A query that nests further than Python's recursion
limit allows is worked on again by a thread with a stack of its own, where the limit is far away.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import wraps
from typing import ParamSpec, TypeVar

from freshview.errors import TooDeep

P = ParamSpec("P")
R = TypeVar("R")

FRAMES = 120_000
"""Calls inside one another on a deep stack: more than 2,000 levels of any SQL take."""

STACK = 1 << 29
"""Bytes of address space for them; pages that are not reached are never taken from the machine."""


class _Limit:
    """The recursion limit of the interpreter, raised while somebody asks for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.usual = 0

    def raise_by(self, frames: int) -> None:
        with self.lock:
            if not self.users:
                self.usual = sys.getrecursionlimit()
            self.users += 1
            sys.setrecursionlimit(max(self.usual + frames, sys.getrecursionlimit()))

    def release(self) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                sys.setrecursionlimit(self.usual)


_limit = _Limit()
_here = threading.local()


@contextmanager
def room_for(frames: int) -> Iterator[None]:
    """Let this thread call so many Python functions inside one another: closures, no C code."""
    _limit.raise_by(frames)
    try:
        yield
    finally:
        _limit.release()


def deep(f: Callable[P, R]) -> Callable[P, R]:
    """Run a function without side effects; where the stack is too short, again on a deep one.

    >>> @deep
    ... def depth(nested):
    ...     return 1 + depth.__wrapped__(nested[0]) if nested else 0
    >>> nested = ()
    >>> for _ in range(5_000):
    ...     nested = (nested,)
    >>> depth(nested)
    5000
    """

    @wraps(f)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return f(*args, **kwargs)
        except RecursionError:
            if getattr(_here, "deep", False):
                raise
        return _on_deep_stack(lambda: f(*args, **kwargs))

    return run


def _on_deep_stack(work: Callable[[], R]) -> R:
    """The result of `work`, or its exception, from a thread with a large stack."""
    results: list[R] = []
    errors: list[BaseException] = []

    def body() -> None:
        _here.deep = True
        try:
            results.append(work())
        except RecursionError:
            errors.append(
                TooDeep(
                    "the query nests too many expressions or subqueries inside one another",
                    instead="nest fewer of them",
                )
            )
        except BaseException as error:
            errors.append(error)

    context = copy_context()
    _limit.raise_by(FRAMES)
    try:
        with _stacks:
            usual = threading.stack_size(STACK)
            try:
                thread = threading.Thread(target=context.run, args=(body,), daemon=True)
                thread.start()
            finally:
                threading.stack_size(usual)
        thread.join()
    finally:
        _limit.release()
    if errors:
        raise errors[0]
    return results[0]


_stacks = threading.Lock()
"""One at a time: the size of a stack is a setting of the process."""
