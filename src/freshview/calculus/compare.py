"""Comparison of single values, with NULL and with mixed types."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

from freshview.calculus.terms import Op
from freshview.calculus.types import Value

OPERATORS: dict[Op, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(op: Op, a: Value, b: Value) -> bool:
    """Whether `a op b` holds: NULL equals NULL only, and is neither more nor less than anything.

    >>> compare("=", None, None), compare("<>", None, 1), compare("<", None, 1)
    (True, True, False)
    >>> from decimal import Decimal
    >>> compare("<=", 0.1, Decimal("0.1"))
    True
    """
    if a is None or b is None:
        return (op == "=" and a is b) or (op == "<>" and a is not b)
    x, y = _aligned(a, b)
    if x != x and y != y:  # what is not a number is equal to itself, as in Spark
        return op in ("=", "<=", ">=")
    return OPERATORS[op](x, y)


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Two values in the wider of their types, as `types.common` has it."""
    if isinstance(a, float) or isinstance(b, float):
        return float(a), float(b)
    if isinstance(a, datetime) != isinstance(b, datetime):
        return _moment(a), _moment(b)
    return a, b


def _moment(a: date) -> datetime:
    return a if isinstance(a, datetime) else datetime.combine(a, time())
