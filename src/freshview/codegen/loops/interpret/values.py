"""Values and weights over the names in scope: exact numbers, and doubles rounded once.

A double that counts rows is an exact number (`algebra.Real`): what came and went again leaves
nothing. As a value, where it is compared, bound or put out, it is the nearest double.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from functools import reduce
from typing import Any, TypeAlias, TypeVar, assert_never, cast

from freshview.algebra import NUMBERS, Number, Real
from freshview.calculus.compare import compare
from freshview.calculus.domain import is_decimal, is_int
from freshview.calculus.functions import Functions, call
from freshview.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.types import Type, Value
from freshview.codegen.loops.parts import Weight

N = TypeVar("N")

NAN = float("nan")

Amount: TypeAlias = Any
"""What a row counts for: a number, an exact sum of doubles, or an element of a ring."""

Names: TypeAlias = Mapping[str, Any]
"""What is visible: values of locals, and rows."""

Compute: TypeAlias = Callable[[Names], Value]
ComputeAmount: TypeAlias = Callable[[Names], Amount]


@dataclass(slots=True, eq=False)
class Row:
    """A record, an entry of an index or a row of a batch: columns k or c, columns p, a count."""

    values: tuple[Value, ...]
    payloads: list[Amount]
    count: int = 0


@dataclass(frozen=True)
class Values:
    """What computes values; each term is looked at once."""

    functions: Functions
    known: dict[Expr, Compute] = field(default_factory=dict)
    numbers: dict[Expr, ComputeAmount] = field(default_factory=dict)

    def value(self, e: Expr, names: Names) -> Value:
        """A value."""
        compute = self.known.get(e)
        if compute is None:
            compute = self.known[e] = self._value(e)
        return compute(names)

    def number(self, e: Expr, names: Names) -> Amount:
        """A value as what a row counts for: NULL is nothing, a double an exact number."""
        compute = self.numbers.get(e)
        if compute is None:
            compute = self.numbers[e] = self._number(e)
        number = compute(names)
        return 0 if number is None else number

    def weight(self, weight: Weight, names: Names) -> Amount:
        """The product of what a row counts for."""
        product: Amount = 1
        for e in weight:
            product = product * self.number(e, names)
        return product

    def key(self, e: Expr, t: Type, names: Names) -> Value:
        """A value as a key of a type."""
        return as_key(self.value(e, names), t)

    def _value(self, e: Expr) -> Compute:
        match e:
            case Const(constant, _):
                return lambda names: constant
            case Var(name):
                read = column(name)
                return lambda names: nearest(read(names))
            case Apply("coalesce" | "or" | "and" as fn, args):
                return self._until(fn, [self._value(a) for a in args])
            case Apply(fn, args):
                function, parts = self.functions[fn], [self._value(a) for a in args]
                return lambda names: call(function, tuple([part(names) for part in parts]))
            case Cmp(op, left, right):
                one, other = self._value(left), self._value(right)
                return lambda names: int(compare(op, one(names), other(names)))
            case Add(many):
                return self._arithmetic(NUMBERS.add, [self._value(p) for p in many])
            case Mul(many):
                return self._arithmetic(NUMBERS.mul, [self._value(p) for p in many])
            case Rel() | Delta() | View() | Sum() | Lift() | Exists() | Top():
                raise TypeError("a relation has no value")
            case _:
                assert_never(e)

    def _until(self, fn: str, parts: Sequence[Compute]) -> Compute:
        """The functions that look at no more arguments than they need."""
        if fn == "coalesce":
            return lambda names: next((x for p in parts if (x := p(names)) is not None), None)
        if fn == "or":
            return lambda names: any(part(names) for part in parts)
        return lambda names: all(part(names) for part in parts)

    def _arithmetic(
        self, op: Callable[[Number, Number], Number], parts: Sequence[Compute]
    ) -> Compute:
        """NULL as soon as one part is; a result that no engine holds is refused."""

        def compute(names: Names) -> Value:
            items = [part(names) for part in parts]
            return None if None in items else within_range(reduce(op, map(_as_number, items)))

        return compute

    def _number(self, e: Expr) -> ComputeAmount:
        """A value that is added up with others: sums and products of doubles are exact."""
        match e:
            case Var(name):
                read = column(name)
                return lambda names: exact(read(names))
            case Add(many) | Mul(many):
                parts = [self._number(p) for p in many]
                adds = isinstance(e, Add)

                def compute(names: Names) -> Amount:
                    items = [part(names) for part in parts]
                    if None in items:
                        return None
                    return reduce(lambda a, b: a + b if adds else a * b, items)

                return compute
            case _:
                value = self._value(e)
                return lambda names: exact(value(names))


def column(name: str) -> ComputeAmount:
    """What reads a local, or a column of a row."""
    head, dot, field_name = name.partition(".")
    if not dot:
        return lambda names: names[name]
    if field_name in ("n", "count"):
        return lambda names: names[head].count
    at = int(field_name[1:])
    if field_name[0] == "p":
        return lambda names: names[head].payloads[at]
    return lambda names: names[head].values[at]


def exact(x: Amount) -> Amount:
    """A number that adds up without rounding; truth counts, NULL stays NULL."""
    if isinstance(x, bool):
        return int(x)
    return Real.of(x) if isinstance(x, float) else x


def nearest(x: Amount) -> Value:
    """A number as a value: of an exact sum of doubles, the nearest double."""
    value: Value = float(x) if isinstance(x, Real) else x
    return value


def within_range(x: N) -> N:
    """A value itself; OverflowError for a number that is in no engine's domain."""
    if isinstance(x, float):
        return x if x == x else cast("N", NAN)
    if isinstance(x, int) and not is_int(x):
        raise OverflowError("an integer of an expression leaves 64 bits")
    if isinstance(x, Decimal) and not is_decimal(x):
        raise OverflowError("a decimal of an expression has more than 38 digits")
    return x


def as_key(x: Value, t: Type) -> Value:
    """A value as a key of a type: a number as a double, a date as the midnight that it begins with.

    >>> from datetime import date
    >>> as_key(1, Type("double")), as_key(date(2020, 1, 2), Type("timestamp"))
    (1.0, datetime.datetime(2020, 1, 2, 0, 0))
    """
    if x is None:
        return None
    if t.kind == "double":
        double = float(cast("Number", x))
        return double if double == double else NAN
    if t.kind == "timestamp" and not isinstance(x, datetime):
        return datetime.combine(cast("date", x), time())
    return x


def fits(x: Value, t: Type) -> bool:
    """Whether an exact number has no more digits after the point than a key of a type.

    >>> fits(Decimal("1.50"), Type("decimal", 1)), fits(Decimal("1.55"), Type("decimal", 1))
    (True, False)
    """
    if x is None or t.kind not in ("int", "decimal"):
        return True
    shifted = Decimal(cast("Number", x)).scaleb(t.scale)
    return shifted == shifted.to_integral_value()


def _as_number(x: Value) -> Number:
    return int(x) if isinstance(x, bool) else cast("Number", x)
