"""Scalar functions: their meaning, their type, and whether they can answer NULL on their own.

A function is strict unless it says otherwise: NULL in, NULL out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from types import MappingProxyType
from typing import Any

from freshview.algebra import Category, Cofactor, Element, Pair, Relational
from freshview.calculus import scalars
from freshview.calculus.builtin.entry import Entry
from freshview.calculus.builtin.table import ENTRIES
from freshview.calculus.casts import CASTS, attempt, plain
from freshview.calculus.types import (
    BOOL,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Kind,
    Type,
    Value,
    common,
    ring,
)
from freshview.errors import BadValue, FreshviewError, UnknownFunction


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
    takes: tuple[tuple[Kind, ...], ...] = ()
    """The kinds that each argument may be of, the last one for all that follow; none where any may.

    SQL casts an argument of another kind to the first of them.
    """
    many: Callable[[list[tuple[Value, ...]]], list[Value]] | None = None
    """The answers for many rows of arguments at once, none of them NULL, where there is such."""


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
            raise UnknownFunction(
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
        self, name: str, element: type[Element], compute: Callable[..., object], arity: int = 1
    ) -> Functions:
        """The same registry with one more lifting function, and the ring that it answers in.

        >>> from freshview.algebra import Pair
        >>> functions = Functions().with_lift("f", Pair, Pair.of)
        >>> functions["f"].compute(3), str(functions["f"].result())
        (Pair(count=1, sum=3), 'ring(Pair)')
        """
        function = lifting(name, element.__name__, compute, arity)
        rings = MappingProxyType({**self.rings, element.__name__: element})
        return replace(self.with_(function), rings=rings)


def lifting(name: str, into: str, compute: Callable[..., object], arity: int = 1) -> Function:
    """A function that answers in a ring."""
    return Function(name, compute, _fixed(ring(into)), (arity, arity), ring=into)


def call(function: Function, args: tuple[Value, ...]) -> Value:
    """Apply a function to values, NULL handled; what it raises becomes one sentence."""
    if function.strict and None in args:
        return None
    try:
        answer: Value = function.compute(*args)
    except Exception as e:
        raise failed(function.name, args, e) from e
    return answer


def failed(name: str, args: tuple[Value, ...], error: Exception) -> FreshviewError:
    """What to raise where a function of these arguments raised."""
    if isinstance(error, FreshviewError):
        return error
    shown = ", ".join(repr(a) if isinstance(a, str) else plain(a) for a in args)
    return BadValue(
        f"{name}({shown}) raised {type(error).__name__}: {error}",
        instead="let the function answer for every value of its columns, with None where there "
        "is no answer",
        values=args,
    )


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


def _fixed(t: Type) -> Callable[..., Type]:
    return lambda *_: t


def _same(*types: Type) -> Type:
    return types[0]


def _casts() -> list[Function]:
    """CAST and TRY_CAST: functions called like the type, with `cast_` where it may be refused.

    A cast to decimals takes how many digits they have, and an example of their type; one to
    integers may take how many bits they have.
    """
    types = {t.kind: t for t in (INT, DOUBLE, BOOL, DATE, TIMESTAMP, STRING)}
    functions: list[Function] = []
    for kind, compute in CASTS.items():
        result = _fixed(types[kind]) if kind in types else lambda x, digits, like: like
        arity = (1, 2) if kind == "int" else (1, 1) if kind in types else (3, 3)
        functions.append(Function(kind, compute, result, arity))
        functions.append(Function(f"cast_{kind}", compute, result, arity))
        functions.append(Function(f"try_{kind}", attempt(kind), result, arity, partial=True))
    return functions


def _of_entry(e: Entry) -> Function:
    """A function of the table."""
    arity = (e.fewest, e.most)
    return Function(e.names[0], e.compute, e.result, arity, e.strict, e.partial, takes=e.takes)


_TEXT: tuple[Kind, ...] = ("string",)
_NUMBER: tuple[Kind, ...] = ("int", "decimal", "double")
_DAY: tuple[Kind, ...] = ("date", "timestamp")
_MOMENT: tuple[Kind, ...] = ("timestamp", "date")
_INT: tuple[Kind, ...] = ("int",)

_TAKES: dict[str, tuple[tuple[Kind, ...], ...]] = {
    **dict.fromkeys(("year", "quarter", "month", "day", "days_between"), (_DAY,)),
    **dict.fromkeys(("hour", "minute", "second"), (_MOMENT,)),
    **dict.fromkeys(("upper", "lower", "trim", "length", "concat", "like"), (_TEXT,)),
    **dict.fromkeys(("abs", "floor", "ceil", "sqrt", "power", "div", "mod"), (_NUMBER,)),
    **dict.fromkeys(("vec_length", "dihedral_angle"), (_NUMBER,)),
    **dict.fromkeys(("add_days", "add_months", "add_seconds", "add_micros"), (_DAY, _INT)),
    "round": (_NUMBER, _INT),
    "substring": (_TEXT, _INT),
}
"""What functions take that are not of the table."""

_SHIFTS: dict[str, Callable[[date, int], date]] = {
    "days": scalars.add_days,
    "months": scalars.add_months,
    "seconds": scalars.add_seconds,
    "micros": scalars.add_micros,
}
_MANY = 1 << 30

_SCALARS = Functions(
    MappingProxyType(
        {
            f.name: replace(f, takes=f.takes or _TAKES.get(f.name, ()))
            for f in (
                Function("div", scalars.divide, _fixed(DOUBLE), (2, 2), partial=True),
                Function("mod", scalars.modulo, _widest, (2, 2), partial=True),
                Function("when", scalars.when, lambda _, t: t, (2, 2), partial=True),
                Function("or", lambda *a: any(a), _fixed(BOOL), (1, _MANY), strict=False),
                Function("and", lambda *a: all(a), _fixed(BOOL), (1, _MANY), strict=False),
                Function("not", lambda a: not a, _fixed(BOOL), (1, 1)),
                Function("like", scalars.like, _fixed(BOOL), (2, 3)),
                Function("in", scalars.among, _fixed(BOOL), (1, _MANY), strict=False),
                Function("year", lambda d: d.year, _fixed(INT), (1, 1)),
                Function("quarter", lambda d: (d.month + 2) // 3, _fixed(INT), (1, 1)),
                Function("month", lambda d: d.month, _fixed(INT), (1, 1)),
                Function("day", lambda d: d.day, _fixed(INT), (1, 1)),
                *(
                    Function(part, scalars.clock(part), _fixed(INT), (1, 1))
                    for part in ("hour", "minute", "second")
                ),
                *(
                    Function(f"add_{unit}", scalars.in_range(shift, unit), _same, (2, 2))
                    for unit, shift in _SHIFTS.items()
                ),
                Function("days_between", scalars.days_between, _fixed(INT), (2, 2)),
                Function("substring", scalars.substring, _fixed(STRING), (2, 3)),
                Function("upper", str.upper, _fixed(STRING), (1, 1)),
                Function("lower", str.lower, _fixed(STRING), (1, 1)),
                Function("trim", scalars.trim, _fixed(STRING), (1, 1)),
                Function("length", len, _fixed(INT), (1, 1)),
                Function("concat", lambda *a: "".join(a), _fixed(STRING), (1, _MANY)),
                Function("abs", abs, _same, (1, 1)),
                Function("round", scalars.round_, _same, (1, 2)),
                Function("floor", scalars.whole("floor", math.floor), _fixed(INT), (1, 1)),
                Function("ceil", scalars.whole("ceil", math.ceil), _fixed(INT), (1, 1)),
                Function("sqrt", scalars.sqrt, _fixed(DOUBLE), (1, 1), partial=True),
                Function("power", scalars.power, _fixed(DOUBLE), (2, 2), partial=True),
                *(
                    Function(name, scalars.extreme(pick), _widest, (1, _MANY))
                    for pick, names in ((max, ("greatest", "listmax")), (min, ("least", "listmin")))
                    for name in names
                ),
                Function("coalesce", scalars.coalesce, _coalesced, (1, _MANY), strict=False),
                Function("vec_length", scalars.vec_length, _fixed(DOUBLE), (3, 3)),
                Function("dihedral_angle", scalars.dihedral_angle, _fixed(DOUBLE), (12, 12)),
                *_casts(),
                *map(_of_entry, ENTRIES),
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
