"""Expressions over columns, as Python writes them: what functions of a symbolic row compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, NoReturn, cast

from freshview.calculus.terms import Op
from freshview.calculus.types import Value as Constant
from freshview.calculus.types import type_of
from freshview.dataflow.plan.scalars import find
from freshview.dataflow.plan.terms import BadPlan, Field
from freshview.sql.terms import (
    Aggregate,
    And,
    Arith,
    Call,
    Compare,
    InList,
    Interval,
    IsNull,
    Item,
    Literal,
    Name,
    Not,
    Or,
    Scalar,
)


class Value:
    """A value that each row has its own of: a column, or what is computed from some.

    Comparisons and `&`, `|`, `~` give conditions, which may be unknown, as in SQL.

    >>> price = Value(Name("price", "orders"))
    >>> Value((price > 3).scalar)
    <orders.price > 3>
    """

    __hash__ = None  # type: ignore[assignment]  # equality gives an expression

    def __init__(self, scalar: Scalar) -> None:
        self.scalar = scalar

    def __repr__(self) -> str:
        from freshview.dataflow.plan.text import show_scalar

        return f"<{show_scalar(self.scalar)}>"

    def __bool__(self) -> NoReturn:
        raise BadPlan(
            f"{self!r} is true of some rows and not of others",
            instead="write & for and, | for or, ~ for not, x.is_in(...) for in",
        )

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return self._compared("=", other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return self._compared("<>", other)

    def __lt__(self, other: object) -> Value:
        return self._compared("<", other)

    def __le__(self, other: object) -> Value:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> Value:
        return self._compared(">", other)

    def __ge__(self, other: object) -> Value:
        return self._compared(">=", other)

    def __add__(self, other: object) -> Value:
        return Value(Arith("+", self.scalar, scalar(other)))

    def __radd__(self, other: object) -> Value:
        return Value(Arith("+", scalar(other), self.scalar))

    def __sub__(self, other: object) -> Value:
        return Value(Arith("-", self.scalar, scalar(other)))

    def __rsub__(self, other: object) -> Value:
        return Value(Arith("-", scalar(other), self.scalar))

    def __mul__(self, other: object) -> Value:
        return Value(Arith("*", self.scalar, scalar(other)))

    def __rmul__(self, other: object) -> Value:
        return Value(Arith("*", scalar(other), self.scalar))

    def __truediv__(self, other: object) -> Value:
        return Value(Arith("/", self.scalar, scalar(other)))

    def __mod__(self, other: object) -> Value:
        return Value(Arith("%", self.scalar, scalar(other)))

    def __neg__(self) -> Value:
        return Value(Arith("-", scalar(0), self.scalar))

    def __abs__(self) -> Value:
        return Value(Call("abs", (self.scalar,)))

    def __and__(self, other: object) -> Value:
        return Value(_flat(And, self.scalar, scalar(other)))

    def __or__(self, other: object) -> Value:
        return Value(_flat(Or, self.scalar, scalar(other)))

    def __invert__(self) -> Value:
        return Value(Not(self.scalar))

    def between(self, low: object, high: object) -> Value:
        """`low <= self <= high`."""
        return (self >= low) & (self <= high)

    def is_in(self, *values: object) -> Value:
        """Whether it equals one of the values."""
        return Value(InList(self.scalar, tuple(scalar(v) for v in values)))

    def is_null(self) -> Value:
        """Whether it is NULL."""
        return Value(IsNull(self.scalar))

    def _compared(self, op: Op, other: object) -> Value:
        return Value(Compare(op, self.scalar, scalar(other)))


def _flat(node: type[And] | type[Or], left: Scalar, right: Scalar) -> Scalar:
    parts: list[Scalar] = []
    for e in (left, right):
        parts += e.parts if isinstance(e, node) else [e]
    return node(tuple(parts))


def scalar(value: object) -> Scalar:
    """A value of Python as an expression.

    >>> scalar(3).value, scalar(timedelta(minutes=5)).count
    (3, 300)
    """
    if isinstance(value, Value):
        return value.scalar
    if isinstance(value, timedelta):
        if value.microseconds:
            raise BadPlan(f"{value} has parts of seconds", instead="use whole seconds")
        seconds = value.days * 86_400 + value.seconds
        days = seconds % 86_400 == 0
        return Interval(seconds // 86_400, "days") if days else Interval(seconds, "seconds")
    try:
        constant = cast(Constant, value)
        kind = type_of(constant)
    except TypeError:
        kind = None
    if kind is None:
        raise BadPlan(
            f"{value!r} is no value of a column",
            instead="use numbers, texts, dates, and what is computed of the row",
        )
    return Literal(constant, kind)


class SymbolicRow:
    """A row whose values are not known yet; what is computed from it becomes an expression.

    Columns are attributes or items: `row.price`, `row["price"]`, `row.orders.price`.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = tuple(fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        tables = [f for f in self._fields if f.table.lower() == name.lower()]
        if tables and not any(f.name.lower() == name.lower() for f in self._fields):
            return SymbolicRow(tables)
        match = find(Name(name), self._fields)
        return Value(Name(match.name, match.table))

    def __getitem__(self, name: str | int) -> Any:
        if isinstance(name, int):
            f = self._fields[name]
            return Value(Name(f.name, f.table))
        return getattr(self, name)


def count(value: object = None) -> Value:
    """How many rows a group has; or how many in which a value is not NULL."""
    return Value(Aggregate("count", () if value is None else (scalar(value),)))


def total(value: object) -> Value:
    """The sum over a group."""
    return Value(Aggregate("sum", (scalar(value),)))


def average(value: object) -> Value:
    """The mean over a group."""
    return Value(Aggregate("avg", (scalar(value),)))


def least(value: object) -> Value:
    """The smallest value of a group."""
    return Value(Aggregate("min", (scalar(value),)))


def greatest(value: object) -> Value:
    """The largest value of a group."""
    return Value(Aggregate("max", (scalar(value),)))


def computed(function: object, fields: Sequence[Field], what: str) -> object:
    """What a function computes of a symbolic row."""
    if isinstance(function, Value):
        return function
    if not callable(function):
        raise BadPlan(f"{what} cannot be {function!r}", instead="give a function of a row")
    return cast("Callable[[SymbolicRow], object]", function)(SymbolicRow(fields))


def items(result: object) -> list[Item]:
    """The columns that a function names: one, several in a tuple, or a mapping from names."""
    if isinstance(result, Mapping):
        return [Item(scalar(v), str(name)) for name, v in result.items()]
    if isinstance(result, SymbolicRow):
        return [Item(Name(f.name, f.table), f.name) for f in result._fields]
    if isinstance(result, tuple | list):
        return [Item(scalar(v)) for v in result]
    return [Item(scalar(result))]
