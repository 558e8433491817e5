"""Values in another type: numbers that meet doubles, dates that meet timestamps."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from freshview.calculus.build import const
from freshview.calculus.casts import to_timestamp
from freshview.calculus.rows import scaled
from freshview.calculus.terms import Apply, Const
from freshview.calculus.types import STRING, Type
from freshview.errors import TypeProblem
from freshview.sql.lower.val import Val


def alike(left: Val, right: Val) -> tuple[Val, Val]:
    """Two numbers of which a decimal constant beside a double is a double."""
    if left.type.kind == "double":
        return left, constant_as_double(right)
    if right.type.kind == "double":
        return constant_as_double(left), right
    return left, right


def constant_as_double(v: Val) -> Val:
    """A constant number as a double; anything else stays as it is."""
    if isinstance(v.term, Const) and isinstance(v.term.value, int | Decimal):
        if v.type.is_numeric:
            constant = const(float(v.term.value))
            return replace(v, term=constant, type=replace(constant.type, nullable=v.type.nullable))
    return v


def coerce(v: Val, t: Type) -> Val:
    """A value as one of a wider type, where that changes the value's representation."""
    if t.kind == "double" and v.type.kind in ("int", "decimal"):
        if isinstance(v.term, Const):
            return constant_as_double(v)
        return replace(v, term=Apply("double", (v.term,)), type=t.or_null(v.type.nullable))
    if (
        t.kind == "decimal"
        and isinstance(v.term, Const)
        and isinstance(v.term.value, int | Decimal)
    ):
        constant = exact(Decimal(v.term.value), t.not_null())
        return replace(v, term=constant, type=t.not_null())
    if t.kind == "timestamp" and v.type.kind == "date":
        if isinstance(v.term, Const):
            midnight = const(to_timestamp(v.term.value))
            return replace(v, term=midnight, type=midnight.type)
        return replace(v, term=Apply(t.kind, (v.term,)), type=t.or_null(v.type.nullable))
    return v


def exact(value: Decimal, t: Type) -> Const:
    """A decimal constant with the digits of its type."""
    try:
        return Const(scaled(value, t.scale), t)
    except ValueError as e:
        raise TypeProblem(
            f"the constant {value} has too many digits",
            instead="decimals have 38 digits; write a DOUBLE, like 1e40",
        ) from e


def text_literal(v: Val) -> str | None:
    """The text of a string constant."""
    if v.type.kind == STRING.kind and isinstance(v.term, Const):
        return str(v.term.value)
    return None
