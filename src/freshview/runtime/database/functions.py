"""Python functions that SQL may call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from freshview.calculus.casts import CASTS
from freshview.calculus.functions import Function, failed
from freshview.calculus.rows import conform, expected
from freshview.calculus.types import Type, Value, read_type
from freshview.errors import BadValue, TypeProblem


def from_python(name: str, function: Callable[..., Any], result: Type | str) -> Function:
    """A Python function by a name, with the type of its answers, which are checked."""
    t = read_type(result) if isinstance(result, str) else result
    fn = name.lower()
    if fn.removeprefix("try_").removeprefix("cast_") in CASTS:
        raise TypeProblem(f"'{fn}' is what a CAST is called", instead="choose another name")
    return Function(
        fn, _checked(fn, function, t), lambda *_: t.not_null(), _arity(function), partial=t.nullable
    )


def _checked(name: str, function: Callable[..., Any], t: Type) -> Callable[..., Value]:
    """The function, its answers as values of their type; what it raises becomes one sentence."""

    def compute(*args: Value) -> Value:
        try:
            answer = function(*args)
        except Exception as e:
            raise failed(name, args, e) from e
        try:
            return conform(answer.item() if hasattr(answer, "item") else answer, t)
        except (ValueError, TypeError, OverflowError):
            shown = ", ".join(map(repr, args))
            raise BadValue(
                f"{name}({shown}) answered {answer!r}",
                instead=f"it must answer {expected(t)}",
                values=args,
            ) from None

    return compute


def _arity(function: Callable[..., Any]) -> tuple[int, int]:
    """The fewest and the most arguments that a function takes by position."""
    try:
        kinds = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions do not tell
        return 0, 1 << 30
    takes = [p for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    most = 1 << 30 if any(p.kind == p.VAR_POSITIONAL for p in kinds) else len(takes)
    return sum(p.default is p.empty for p in takes), most
