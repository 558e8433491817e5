"""Functions that have no C++: kernels call them in Python, by name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from decimal import localcontext
from functools import cache, partial
from typing import Protocol

from freshview.algebra import EXACT
from freshview.calculus.functions import BUILTINS, Function, Functions, call
from freshview.calculus.types import Value

HostCall = Callable[..., object]

MANY = "*"
"""The name of what answers for many rows at once."""

UNASKED, UNANSWERED = object(), object()

_failures = threading.local()


@cache
def host_functions() -> Mapping[str, HostCall]:
    """What every kernel may call: the scalar functions of SQL."""
    return _calls(BUILTINS, BUILTINS.known)


class Calling(Protocol):
    """A kernel, as far as its functions go."""

    functions: Functions


def host_of(kernel: Calling) -> Mapping[str, HostCall]:
    """What a kernel may call, functions of the user's among them."""
    functions = kernel.functions
    if functions is BUILTINS:
        return host_functions()
    own = {n: f for n, f in functions.known.items() if f is not BUILTINS.known.get(n)}
    return {**host_functions(), **_calls(functions, own)}


def _calls(functions: Functions, known: Mapping[str, Function]) -> dict[str, HostCall]:
    calls = {name: _noted(f) for name, f in known.items() if not f.ring}
    return {MANY: partial(_many, functions), **calls}


def _many(functions: Functions, fn: str, rows: list[tuple[Value, ...]]) -> list[object]:
    """The answers for many rows; of equal ones the function is asked once."""
    function, known = functions[fn], dict[tuple[Value, ...], object]()
    if function.many is not None:
        return _at_once(function, rows)
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


def _at_once(function: Function, rows: list[tuple[Value, ...]]) -> list[object]:
    """The answers of a function that takes columns: one call for all the rows, if it can be."""
    assert function.many is not None
    distinct = list(dict.fromkeys(rows))
    asked = [args for args in distinct if None not in args]
    try:
        with localcontext(EXACT):
            answers = dict(zip(asked, function.many(asked), strict=True)) if asked else {}
    except Exception:
        return [UNANSWERED] * len(rows)  # each is asked again by itself, which says what is wrong
    return [answers.get(args) for args in rows]


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
