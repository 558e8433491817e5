"""Functions that have no C++: kernels call them in Python, by name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from decimal import localcontext
from functools import cache

from freshview.algebra import EXACT
from freshview.calculus.functions import BUILTINS, Function, call
from freshview.calculus.types import Value

HostCall = Callable[..., object]

MANY = "*"
"""The name of what answers for many rows at once."""

UNASKED, UNANSWERED = object(), object()

_failures = threading.local()


@cache
def host_functions() -> Mapping[str, HostCall]:
    """What every kernel may call: the scalar functions of SQL."""
    return {MANY: _many, **{name: _noted(f) for name, f in BUILTINS.known.items() if not f.ring}}


def _many(fn: str, rows: list[tuple[Value, ...]]) -> list[object]:
    """The answers for many rows; of equal ones the function is asked once."""
    function, known = BUILTINS[fn], dict[tuple[Value, ...], object]()
    out: list[object] = []
    with localcontext(EXACT):
        for args in rows:
            answer = known.get(args, UNASKED)
            if answer is UNASKED:
                try:
                    answer = call(function, args)
                except Exception:
                    answer = UNANSWERED  # the row is asked again where its answer is used
                known[args] = answer
            out.append(answer)
    return out


def failure(fn: str) -> BaseException | None:
    """What the function raised in this thread, if the kernel has called it; asked once."""
    last: tuple[str, BaseException] | None = getattr(_failures, "last", None)
    _failures.last = None
    return last[1] if last is not None and last[0] == fn else None


def _noted(function: Function) -> HostCall:
    """A function whose errors are kept until the kernel has taken its batch back."""

    def run(*args: Value) -> Value:
        try:
            with localcontext(EXACT):
                return call(function, args)
        except BaseException as e:
            if getattr(_failures, "last", None) is None:  # taking back meets it again
                _failures.last = function.name, e
            raise

    return run
