"""Arithmetic and comparison of single values, with NULL and with mixed number types."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from datetime import date, datetime, time
from decimal import Decimal
from functools import reduce
from typing import Any

from freshet.algebra import NUMBERS, Number
from freshet.calculus.terms import Op
from freshet.calculus.types import Value

OPERATORS: dict[Op, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def counted(value: Value) -> Number:
    """A value as a multiplicity: NULL is nothing, truth is 1.

    >>> counted(None), counted(True), counted(Decimal("0.5"))
    (0, 1, Decimal('0.5'))
    """
    if value is None:
        return 0
    if isinstance(value, bool):
        return int(value)
    assert isinstance(value, int | Decimal | float), f"{value!r} is no number"
    return value


def plus(a: Any, b: Any) -> Any:
    """NUMBERS.add, at the speed of the usual case; the caller is in the exact context."""
    try:
        return a + b
    except TypeError:  # a decimal meets a double
        return NUMBERS.add(a, b)


def times(a: Any, b: Any) -> Any:
    """NUMBERS.mul of a multiplicity and a value, at the speed of the usual case."""
    try:
        return a * b
    except TypeError:  # a decimal meets a double, or b is NULL
        return NUMBERS.mul(a, counted(b))


def sum_values(values: Iterable[Value]) -> Value:
    """Add values: NULL as soon as one of them is.

    >>> sum_values([1, Decimal("0.5")]), sum_values([1, None])
    (Decimal('1.5'), None)
    """
    items = tuple(values)
    return None if None in items else reduce(NUMBERS.add, map(counted, items))


def multiply_values(values: Iterable[Value]) -> Value:
    """Multiply values: NULL as soon as one of them is."""
    items = tuple(values)
    return None if None in items else reduce(NUMBERS.mul, map(counted, items))


def compare(op: Op, a: Value, b: Value) -> bool:
    """Whether `a op b` holds: NULL equals NULL only, and is neither more nor less than anything.

    >>> compare("=", None, None), compare("<>", None, 1), compare("<", None, 1)
    (True, True, False)
    >>> compare("<=", 0.1, Decimal("0.1"))
    True
    """
    if a is None or b is None:
        return (op == "=" and a is b) or (op == "<>" and a is not b)
    return OPERATORS[op](*_aligned(a, b))


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Two values in the wider of their types, as `types.common` has it."""
    if isinstance(a, float) or isinstance(b, float):
        return float(a), float(b)
    if isinstance(a, datetime) != isinstance(b, datetime):
        return _moment(a), _moment(b)
    return a, b


def _moment(a: date) -> datetime:
    return a if isinstance(a, datetime) else datetime.combine(a, time())
