"""The types of values: what a column, a key or a payload may hold, and how they combine."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, TypeAlias

from freshview.errors import TypeProblem

Value: TypeAlias = int | Decimal | float | str | date | datetime | bool | None
Kind = Literal["int", "decimal", "double", "date", "timestamp", "bool", "string", "null", "ring"]

NUMERIC: tuple[Kind, ...] = ("int", "decimal", "double")


@dataclass(frozen=True, slots=True)
class Type:
    """A kind of value; decimals carry digits after the point; `nullable` admits SQL NULL.

    A payload that is not a number is of kind `ring`, and `ring` names the class of its elements.
    `wide` says how a kernel holds a decimal, not what it is: no text shows it. An integer that is
    an interval has a `span`, which says what it counts: it is asked by SQL and where values come
    and go, and to everything between it is an integer like any other.
    """

    kind: Kind
    scale: int = 0
    nullable: bool = False
    ring: str = ""
    wide: bool = False
    span: str = field(default="", compare=False)

    def __str__(self) -> str:
        name = f"decimal({self.scale})" if self.kind == "decimal" else self.kind
        name = f"ring({self.ring})" if self.kind == "ring" else name
        return name + ("?" if self.nullable else "")

    @property
    def is_numeric(self) -> bool:
        """Whether a value of this type can be a multiplicity."""
        return self.kind in NUMERIC

    @property
    def is_payload(self) -> bool:
        """Whether a map can hold it: a number, or an element of a ring."""
        return self.kind == "ring" or self.is_numeric

    def or_null(self, nullable: bool = True) -> Type:
        """The same type, also admitting NULL when `nullable` says so."""
        return replace(self, nullable=True) if nullable and not self.nullable else self

    def not_null(self) -> Type:
        """The same type without NULL."""
        return replace(self, nullable=False) if self.nullable else self


INT = Type("int")
DOUBLE = Type("double")
DATE = Type("date")
TIMESTAMP = Type("timestamp")
BOOL = Type("bool")
STRING = Type("string")
NULL = Type("null", nullable=True)
DAY_TIME = Type("int", span="microseconds")
YEAR_MONTH = Type("int", span="months")


def decimal(scale: int) -> Type:
    """Exact decimals with `scale` digits after the point."""
    return Type("decimal", scale)


def ring(name: str) -> Type:
    """Elements of a ring."""
    return Type("ring", ring=name)


def read_type(text: str) -> Type:
    """The inverse of `str(type)`.

    >>> read_type("decimal(2)?") == Type("decimal", 2, nullable=True), read_type("int") == INT
    (True, True)
    >>> read_type("ring(Cofactor)").ring
    'Cofactor'
    """
    nullable = text.endswith("?")
    name = text.removesuffix("?")
    scale = 0
    if name.startswith("ring(") and name.endswith(")"):
        return ring(name[len("ring(") : -1])
    if (scaled := re.fullmatch(r"decimal\((\d{1,2})\)", name)) is not None:
        name, scale = "decimal", int(scaled[1])
    kinds = {t.kind: t.kind for t in (INT, DOUBLE, DATE, TIMESTAMP, BOOL, STRING, NULL)}
    kinds["decimal"] = "decimal"
    if name not in kinds:
        raise TypeProblem(f"'{text}' is not a type", instead=f"use one of {', '.join(kinds)}")
    return Type(kinds[name], scale, nullable)


def type_of(value: Value) -> Type:
    """The type of a constant.

    >>> str(type_of(Decimal("1.50"))), str(type_of(True)), str(type_of(None))
    ('decimal(2)', 'bool', 'null?')
    """
    match value:
        case None:
            return NULL
        case bool():
            return BOOL
        case int():
            return INT
        case float():
            return DOUBLE
        case Decimal():
            exponent = value.as_tuple().exponent
            return decimal(max(0, -exponent) if isinstance(exponent, int) else 0)
        case str():
            return STRING
        case datetime():
            return TIMESTAMP
        case date():
            return DATE


def common(a: Type, b: Type) -> Type:
    """The narrowest type that holds values of both, or a TypeProblem.

    >>> str(common(INT, decimal(2))), str(common(NULL, STRING))
    ('decimal(2)', 'string?')
    """
    if a is b:
        return a
    nullable = a.nullable or b.nullable
    if a.kind == "null":
        return b.or_null()
    if b.kind == "null":
        return a.or_null()
    if "ring" in (a.kind, b.kind):
        return _in_ring(a, b)
    if a.kind == b.kind:
        span = a.span if a.span == b.span else ""
        return Type(a.kind, max(a.scale, b.scale), nullable, wide=a.wide or b.wide, span=span)
    if a.is_numeric and b.is_numeric:
        if "double" in (a.kind, b.kind):
            return Type("double", nullable=nullable)
        return Type("decimal", max(a.scale, b.scale), nullable, wide=a.wide or b.wide)
    if {a.kind, b.kind} == {"date", "timestamp"}:
        return Type("timestamp", nullable=nullable)
    raise TypeProblem(f"{a.kind} and {b.kind} do not go together", instead="cast one of them")


def _in_ring(a: Type, b: Type, scaled: Collection[str] = ()) -> Type:
    """The ring of two payloads: whole numbers are part of every ring, other rings are not.

    The elements of the rings in `scaled` may be multiplied by any number.
    """
    for x, other in ((a, b), (b, a)):
        if x == other or other == INT or (x.ring in scaled and other.is_numeric):
            return x
    raise TypeProblem(
        f"{a} and {b} do not go together", instead="lift every value into one ring, or none"
    )


def product(a: Type, b: Type, scaled: Collection[str] = ()) -> Type:
    """The type of a product: decimals add their scales, a bool counts as 0 or 1.

    `scaled` names the rings that are multiplied by numbers which are not whole, too.

    >>> str(product(DOUBLE, ring("R"), scaled=("R",)))
    'ring(R)'
    """
    a, b = counted(a), counted(b)
    if "ring" in (a.kind, b.kind):
        return _in_ring(a.not_null(), b.not_null(), scaled)
    if a.kind == "decimal" or b.kind == "decimal":
        if "double" not in (a.kind, b.kind):
            nullable, wide = a.nullable or b.nullable, a.wide or b.wide
            return Type("decimal", a.scale + b.scale, nullable, wide=wide)
    return common(a, b)


def counted(t: Type) -> Type:
    """A type as a multiplicity: truth counts as an integer, NULL as nothing."""
    if t.kind in ("bool", "null"):
        return Type("int", nullable=t.nullable)
    return t


def fits(value: Value, t: Type) -> bool:
    """Whether a value belongs to a type.

    >>> fits(3, INT), fits(None, INT), fits(Decimal("1.234"), decimal(2))
    (True, False, False)
    """
    if value is None:
        return t.nullable
    actual = type_of(value)
    if t.kind == "double":
        return actual.kind in ("double", "int") and not isinstance(value, bool)
    if t.kind == "decimal":
        return actual.kind in ("decimal", "int") and actual.scale <= t.scale
    return actual.kind == t.kind
