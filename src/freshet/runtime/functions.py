"""Python functions that SQL may call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from freshet.calculus.functions import Function
from freshet.calculus.types import Type, read_type


def from_python(name: str, function: Callable[..., Any], result: Type | str) -> Function:
    """A Python function by a name, with the type of its answers."""
    t = read_type(result) if isinstance(result, str) else result
    return Function(
        name.lower(), function, lambda *_: t.not_null(), _arity(function), partial=t.nullable
    )


def _arity(function: Callable[..., Any]) -> tuple[int, int]:
    """The fewest and the most arguments that a function takes by position."""
    kinds = list(inspect.signature(function).parameters.values())
    takes = [p for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    most = 1 << 30 if any(p.kind == p.VAR_POSITIONAL for p in kinds) else len(takes)
    return sum(p.default is p.empty for p in takes), most
