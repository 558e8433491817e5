"""Scalar terms as C++ expressions: the same meaning as `reference.evaluate.value`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import assert_never

from freshview.calculus.check import Schema
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
    Op,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.types import DOUBLE, INT, Type, common, counted
from freshview.codegen.cpp.functions import FUNCTIONS
from freshview.codegen.cpp.products import call, lift, ring_product
from freshview.codegen.cpp.types import SUM, Cpp, constant, convert, held, summand

MOST_NESTED = 16
"""Addends that are written as calls inside one another."""

Look = Callable[[str], Cpp]
"""Finds the C++ expression of a variable."""


def scalar(e: Expr, look: Look, schema: Schema) -> Cpp:
    """The value of a scalar term."""

    def inner(part: Expr) -> Cpp:
        return scalar(part, look, schema)

    match e:
        case Const(value, t):
            return constant(value, t)
        case Var(name):
            return look(name)
        case Cmp(op, left, right):
            return Cpp(f"i64({compare(op, inner(left), inner(right))})", INT, "i64")
        case Apply(fn, args, ring) if ring in schema.functions.headers:
            return call(fn, [inner(a) for a in args], schema.functions.headers[ring])
        case Apply(_, (_, value), ring) if ring:
            return lift(e, inner(value))
        case Apply(fn, args):
            return FUNCTIONS.call(fn, [inner(a) for a in args], schema)
        case Add(parts):
            return total([inner(p) for p in parts])
        case Mul(parts):
            return product([inner(p) for p in parts])
        case Rel() | Delta() | View() | Sum() | Lift() | Exists() | Top():
            raise TypeError("a relation has no value")
        case _:
            assert_never(e)


def type_of(x: Cpp) -> Type:
    """The type of a value as a number: truth counts."""
    return counted(x.type)


def total(parts: list[Cpp]) -> Cpp:
    """The sum of values, in the widest of their types; NULL as soon as one of them is."""
    t = type_of(parts[0])
    for part in parts[1:]:
        t = common(t, type_of(part))
    out = convert(parts[0], t)
    if len(parts) > MOST_NESTED:
        return _running_total(out, [convert(part, t) for part in parts[1:]], t)
    for part in parts[1:]:
        right = convert(part, t)
        null = "_n" if out.nullable or right.nullable else ""
        text = f"add{null}<{out.held}>(o, {out.text}, {right.text})"
        out = Cpp(text, t.or_null(out.nullable or right.nullable), out.held)
    return out


def _running_total(first: Cpp, others: list[Cpp], t: Type) -> Cpp:
    """A long sum, an addend a statement: calls inside one another are slow to compile."""
    nullable = first.nullable or any(x.nullable for x in others)
    null = "_n" if nullable else ""
    steps = " ".join(f"t = add{null}<{first.held}>(o, t, {x.text});" for x in others)
    text = f"[&] {{ {first.held} t = {first.text}; {steps} return t; }}()"
    return Cpp(text, t.or_null(nullable), first.held)


def product(parts: list[Cpp]) -> Cpp:
    """The product of values; decimals add up their digits."""
    out = parts[0]
    for part in parts[1:]:
        out = times(out, part)
    if out.type.kind in ("bool", "null"):
        out = convert(out, type_of(out))
    return out


def times(a: Cpp, b: Cpp) -> Cpp:
    """The product of two values."""
    for one, other in ((a, b), (b, a)):
        if one.constant == 1 and one.type.kind == "int":
            return convert(other, type_of(other))
    if "ring" in (a.type.kind, b.type.kind):
        return ring_product(a, b)
    if SUM in (a.held, b.held):
        return _sums(a, b)
    ta, tb = type_of(a), type_of(b)
    nullable = ta.nullable or tb.nullable
    if "double" in (ta.kind, tb.kind):
        t = DOUBLE
        left, right = convert(a, DOUBLE), convert(b, DOUBLE)
    else:
        scale = ta.scale + tb.scale
        wide = ta.wide or tb.wide
        t = Type("decimal", scale, wide=wide) if "decimal" in (ta.kind, tb.kind) else INT
        kind = held(t)
        left, right = convert(a, ta), convert(b, tb)
        if kind == "i128" and left.held == right.held == "i64" and not nullable:
            return Cpp(f"wide({left.text}, {right.text})", t, kind)
        left, right = _widened(left, kind), _widened(right, kind)
    null = "_n" if nullable else ""
    kind = held(t)
    return Cpp(f"mul{null}<{kind}>(o, {left.text}, {right.text})", t.or_null(nullable), kind)


def _sums(a: Cpp, b: Cpp) -> Cpp:
    """The product of a sum of doubles with another one, or with a number."""
    whole, other = (a, b) if a.type.kind == "int" else (b, a)
    if whole.type.kind == "int":
        return Cpp(f"times({whole.text}, {other.text})", DOUBLE, SUM)
    return Cpp(f"times({summand(a).text}, {summand(b).text})", DOUBLE, SUM)


def _widened(x: Cpp, kind: str) -> Cpp:
    """The same integer in more bits, its digits after the point as they are."""
    if x.held == kind:
        return x
    assert kind == "i128"
    text = f"scaled_n<i128>(o, {x.text}, i128(1))" if x.nullable else f"i128({x.text})"
    return Cpp(text, x.type, "i128")


def compare(op: Op, a: Cpp, b: Cpp) -> str:
    """A comparison as a C++ condition: NULL equals NULL only, and has no order."""
    if "null" in (a.type.kind, b.type.kind):
        return _with_null(op, a, b)
    if a.type.kind == "string":
        return _texts(op, a, b)
    a, b = _aligned(a, b)
    if op in ("=", "<>"):
        equal = f"same({a.text}, {b.text})" if a.held == "f64" and _both(a, b) else None
        text = equal or f"({a.text} == {b.text})"
        return text if op == "=" else f"!{text}"
    guards = [f"!is_null({x.text})" for x in (a, b) if x.nullable]
    return f"({' && '.join([*guards, f'{a.text} {op} {b.text}'])})"


def _both(a: Cpp, b: Cpp) -> bool:
    return a.nullable or b.nullable


def _with_null(op: Op, a: Cpp, b: Cpp) -> str:
    """A comparison with the constant NULL."""
    other = b if a.type.kind == "null" else a
    if op not in ("=", "<>") or (other.type.kind != "null" and not other.nullable):
        return "true" if op == "<>" else "false"
    equal = "true" if other.type.kind == "null" else f"is_null({other.text})"
    return equal if op == "=" else f"!{equal}"


def _aligned(a: Cpp, b: Cpp) -> tuple[Cpp, Cpp]:
    if a.type.kind == b.type.kind and a.type.scale == b.type.scale and a.held == b.held:
        return a, b
    t = common(counted(a.type), counted(b.type)) if a.type.is_numeric else common(a.type, b.type)
    for one, other in ((a, b), (b, a)):
        if (other.type.kind, other.type.scale) == (t.kind, t.scale):
            known = _known(one, t)
            if known is not None:
                return (known, other) if one is a else (other, known)
    if t.kind == "decimal" and "i64" in (a.held, b.held):
        # More digits after the point may not fit in 64 bits; a comparison must not overflow.
        return tuple(_widened_to(x, t) for x in (a, b))  # type: ignore[return-value]
    return convert(a, t), convert(b, t)


def _known(x: Cpp, t: Type) -> Cpp | None:
    """A constant in another exact type, if it fits: nothing is left to do at run time."""
    if t.kind != "decimal" or not isinstance(x.constant, int | Decimal):
        return None
    fits = abs(x.constant) * 10**t.scale < 1 << 63
    return constant(x.constant, t.not_null()) if fits else None


def _widened_to(x: Cpp, t: Type) -> Cpp:
    if x.held == "i128" and x.type.scale == t.scale:
        return x
    digits = t.scale - x.type.scale
    null = "_n" if x.nullable else ""
    return Cpp(f"scaled{null}<i128>(o, {x.text}, i128({10**digits}))", x.type, "i128")


def _texts(op: Op, a: Cpp, b: Cpp) -> str:
    if op in ("=", "<>"):
        if a.held == b.held == "Sym":
            equal = f"({a.text} == {b.text})"
        else:
            # A constant goes last: the compiler then knows how much to compare.
            a, b = (b, a) if a.constant is not None else (a, b)
            equal = f"text_same({text(a)}, {text(b)})"
        return equal if op == "=" else f"!{equal}"
    guards = [f"!is_null({x.text})" for x in (a, b) if x.nullable]
    order = f"text_compare({text(a)}, {text(b)}) {op} 0"
    return f"({' && '.join([*guards, order])})"


def text(x: Cpp) -> str:
    """The characters of a text; of a symbol they are looked up."""
    return x.text if x.held == "Str" else f"text(e, {x.text})"
