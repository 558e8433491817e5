"""Scalar functions: their meaning, their type, and whether they can answer NULL on their own.

A function is strict unless it says otherwise: NULL in, NULL out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from freshet.algebra import Category, Cofactor, Element, Pair, Relational
from freshet.calculus.types import (
    BOOL,
    DATE,
    DOUBLE,
    INT,
    STRING,
    Type,
    Value,
    common,
    ring,
)
from freshet.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function.

    `result` gives the type from the argument types (NULL is added by the caller where the
    function is strict and an argument may be NULL). `partial` functions may answer NULL for
    arguments that are not NULL, as division by zero does. A lifting function names its `ring`.
    """

    name: str
    compute: Callable[..., Any]
    result: Callable[..., Type]
    arity: tuple[int, int]
    strict: bool = True
    partial: bool = False
    ring: str = ""


@dataclass(frozen=True, slots=True)
class CppRing:
    """A ring whose elements are a C++ struct: only kernels know them.

    `text` declares it; `members` are its numbers, each with the type in which it is read;
    `scaled` says that it has a product with a double, not only with an int.
    """

    name: str
    path: str
    text: str
    members: tuple[tuple[str, Type], ...]
    commutative: bool = True
    scaled: bool = False


@dataclass(frozen=True, slots=True)
class Functions:
    """A registry; `with_` gives a new one, so that no two users disturb each other.

    `rings` are the payload rings that lifting functions may answer in, by name, and `headers`
    those that are C++.
    """

    known: Mapping[str, Function] = field(default_factory=dict)
    rings: Mapping[str, type[Element]] = field(default_factory=dict)
    headers: Mapping[str, CppRing] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Function:
        if name not in self.known:
            raise UnknownName(
                f"there is no function '{name}'", instead="register it with register_function"
            )
        return self.known[name]

    def __contains__(self, name: str) -> bool:
        return name in self.known

    def with_(self, function: Function) -> Functions:
        """The same registry with one more function (or another one of that name)."""
        return replace(self, known=MappingProxyType({**self.known, function.name: function}))

    def with_header(self, ring: CppRing) -> Functions:
        """The same registry with one more ring in C++."""
        return replace(self, headers=MappingProxyType({**self.headers, ring.name: ring}))

    def commutes(self, ring: str) -> bool:
        """Whether the products of a ring may be turned around."""
        if ring in self.headers:
            return self.headers[ring].commutative
        return ring not in self.rings or self.rings[ring].commutative

    def with_lift(
        self, name: str, element: type[Element], compute: Callable[..., Any], arity: int = 1
    ) -> Functions:
        """The same registry with one more lifting function, and the ring that it answers in.

        >>> from freshet.algebra import Pair
        >>> found = Functions().with_lift("f", Pair, Pair.of)
        >>> found["f"].compute(3), str(found["f"].result())
        (Pair(count=1, sum=3), 'ring(Pair)')
        """
        made = lifting(name, element.__name__, compute, arity)
        rings = MappingProxyType({**self.rings, element.__name__: element})
        return replace(self.with_(made), rings=rings)


def lifting(name: str, into: str, compute: Callable[..., Any], arity: int = 1) -> Function:
    """A function that answers in a ring."""
    return Function(name, compute, _fixed(ring(into)), (arity, arity), ring=into)


def call(function: Function, args: tuple[Value, ...]) -> Value:
    """Apply a function to values, NULL handled."""
    if function.strict and None in args:
        return None
    answer: Value = function.compute(*args)
    return answer


def _divide(a: Any, b: Any) -> float | None:
    return None if b == 0 else float(a) / float(b)


def _modulo(a: Any, b: Any) -> Any:
    if b == 0:
        return None
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(a, b)
    return _trunc_mod(a, b)


def _when(count: Any, value: Any) -> Any:
    """The value of an aggregate over `count` rows: NULL over none."""
    return value if count else None


def _trunc_mod(a: Any, b: Any) -> Any:
    remainder = abs(a) % abs(b)
    return -remainder if a < 0 else remainder


@lru_cache(maxsize=512)
def like_pattern(pattern: str) -> re.Pattern[str]:
    """The regular expression of a LIKE pattern: % is any text, _ any character."""
    parts = (".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern)
    return re.compile("".join(parts), re.DOTALL)


def _like(text: str, pattern: str) -> bool:
    return like_pattern(pattern).fullmatch(text) is not None


def _in(x: Value, *choices: Value) -> bool:
    return x in choices


def _substring(text: str, start: int, length: int | None = None) -> str:
    # As Spark does: positions count from 1, 0 means 1, a negative one counts from the end.
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    end = len(text) if length is None else begin + length
    return text[max(begin, 0) : max(end, 0)]


def _add_months(day: date, months: int) -> date:
    month = day.month - 1 + months
    year, month = day.year + month // 12, month % 12 + 1
    last = (date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)).day
    return day.replace(year=year, month=month, day=min(day.day, last))


def _round(x: Any, digits: int = 0) -> Any:
    if isinstance(x, int):
        return int(_round(Decimal(x), digits))
    if isinstance(x, Decimal):
        # Its own context: the exact one of the caller refuses to round.
        return x.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, Context(prec=100))
    scale = 10.0**digits
    return math.copysign(math.floor(abs(x) * scale + 0.5) / scale, x)


def _vec_length(x: float, y: float, z: float) -> float:
    return math.sqrt(x * x + y * y + z * z)


def _dihedral_angle(*c: float) -> float:
    """The angle between the planes through points 1-2-3 and 2-3-4, in radians."""
    points = [c[i : i + 3] for i in range(0, 12, 3)]
    v1, v2, v3 = (tuple(b - a for a, b in zip(p, q, strict=True)) for p, q in pairwise(points))
    n1, n2 = _cross(v1, v2), _cross(v2, v3)
    return math.atan2(_vec_length(*v2) * _dot(v1, n2), _dot(n1, n2))


def _cross(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float, float]:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _dot(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _to_date(moment: date | datetime | str) -> date:
    if isinstance(moment, datetime):
        return moment.date()
    return date.fromisoformat(moment) if isinstance(moment, str) else moment


def _sqrt(x: Any) -> float | None:
    return None if x < 0 else math.sqrt(x)


def _power(a: Any, b: Any) -> float | None:
    try:
        return math.pow(a, b)
    except (ValueError, OverflowError):  # not a real number, or none that a double holds
        return None


def _coalesce(*args: Value) -> Value:
    return next((a for a in args if a is not None), None)


def _coalesced(*types: Type) -> Type:
    out = types[0]
    for t in types[1:]:
        out = common(out, t)
    return out if all(t.nullable for t in types) else out.not_null()


def _widest(*types: Type) -> Type:
    out = types[0]
    for t in types[1:]:
        out = common(out, t)
    return out


def _days(a: date, b: date) -> int:
    return (_to_date(a) - _to_date(b)).days


def _fixed(t: Type) -> Callable[..., Type]:
    return lambda *_: t


def _same(*types: Type) -> Type:
    return types[0]


_MANY = 1 << 30

_SCALARS = Functions(
    MappingProxyType(
        {
            f.name: f
            for f in (
                Function("div", _divide, _fixed(DOUBLE), (2, 2), partial=True),
                Function("mod", _modulo, _widest, (2, 2), partial=True),
                Function("when", _when, lambda _, t: t, (2, 2), partial=True),
                Function("double", float, _fixed(DOUBLE), (1, 1)),
                Function("or", lambda *a: any(a), _fixed(BOOL), (1, _MANY), strict=False),
                Function("and", lambda *a: all(a), _fixed(BOOL), (1, _MANY), strict=False),
                Function("not", lambda a: not a, _fixed(BOOL), (1, 1)),
                Function("like", _like, _fixed(BOOL), (2, 2)),
                Function("in", _in, _fixed(BOOL), (1, _MANY), strict=False),
                Function("year", lambda d: d.year, _fixed(INT), (1, 1)),
                Function("quarter", lambda d: (d.month + 2) // 3, _fixed(INT), (1, 1)),
                Function("month", lambda d: d.month, _fixed(INT), (1, 1)),
                Function("day", lambda d: d.day, _fixed(INT), (1, 1)),
                Function("hour", lambda d: d.hour, _fixed(INT), (1, 1)),
                Function("minute", lambda d: d.minute, _fixed(INT), (1, 1)),
                Function("second", lambda d: d.second, _fixed(INT), (1, 1)),
                Function("add_days", lambda d, n: d + timedelta(days=n), _same, (2, 2)),
                Function("add_months", _add_months, _same, (2, 2)),
                Function("add_seconds", lambda d, n: d + timedelta(seconds=n), _same, (2, 2)),
                Function("days_between", _days, _fixed(INT), (2, 2)),
                Function("date", _to_date, _fixed(DATE), (1, 1)),
                Function("substring", _substring, _fixed(STRING), (2, 3)),
                Function("upper", str.upper, _fixed(STRING), (1, 1)),
                Function("lower", str.lower, _fixed(STRING), (1, 1)),
                Function("trim", str.strip, _fixed(STRING), (1, 1)),
                Function("length", len, _fixed(INT), (1, 1)),
                Function("concat", lambda *a: "".join(a), _fixed(STRING), (1, _MANY)),
                Function("abs", abs, _same, (1, 1)),
                Function("round", _round, _same, (1, 2)),
                Function("floor", math.floor, _fixed(INT), (1, 1)),
                Function("ceil", math.ceil, _fixed(INT), (1, 1)),
                Function("sqrt", _sqrt, _fixed(DOUBLE), (1, 1), partial=True),
                Function("power", _power, _fixed(DOUBLE), (2, 2), partial=True),
                Function("greatest", max, _widest, (1, _MANY)),
                Function("least", min, _widest, (1, _MANY)),
                Function("listmax", max, _widest, (1, _MANY)),
                Function("listmin", min, _widest, (1, _MANY)),
                Function("coalesce", _coalesce, _coalesced, (1, _MANY), strict=False),
                Function("vec_length", _vec_length, _fixed(DOUBLE), (3, 3)),
                Function("dihedral_angle", _dihedral_angle, _fixed(DOUBLE), (12, 12)),
            )
        }
    )
)

BUILTINS = (
    _SCALARS.with_lift("pair", Pair, Pair.of)
    .with_lift("cofactor", Cofactor, Cofactor.of, 2)
    .with_lift("onehot", Cofactor, lambda name, x: Cofactor.of(Category(name, x), 1), 2)
    .with_lift("listing", Relational, Relational.of, 2)
)
"""The scalar functions, and lifting functions into the rings of `algebra`.

Where a ring keeps variables apart, the first argument is the variable's name: a program's text
says [cofactor: Cofactor]('x', x), and needs no function of its own for every variable.
"""
