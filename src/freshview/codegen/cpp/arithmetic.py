"""Sums and products of values as C++ expressions: exact, in a type that holds both operands."""

from __future__ import annotations

from freshview.calculus.types import DOUBLE, INT, Type, common, counted
from freshview.codegen.cpp.ring_elements import ring_product
from freshview.codegen.cpp.types import SUM, Cpp, convert, cpp_type, summand

MOST_NESTED = 16
"""Addends that are written as calls inside one another."""


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
        text = f"add{null}<{out.cpp_type}>(o, {out.text}, {right.text})"
        out = Cpp(text, t.or_null(out.nullable or right.nullable), out.cpp_type)
    return out


def _running_total(first: Cpp, others: list[Cpp], t: Type) -> Cpp:
    """A long sum, an addend a statement: calls inside one another are slow to compile."""
    nullable = first.nullable or any(x.nullable for x in others)
    null = "_n" if nullable else ""
    steps = " ".join(f"t = add{null}<{first.cpp_type}>(o, t, {x.text});" for x in others)
    text = f"[&] {{ {first.cpp_type} t = {first.text}; {steps} return t; }}()"
    return Cpp(text, t.or_null(nullable), first.cpp_type)


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
    if SUM in (a.cpp_type, b.cpp_type):
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
        kind = cpp_type(t)
        left, right = convert(a, ta), convert(b, tb)
        if kind == "i128" and left.cpp_type == right.cpp_type == "i64" and not nullable:
            return Cpp(f"wide({left.text}, {right.text})", t, kind)
        left, right = _widened(left, kind), _widened(right, kind)
    null = "_n" if nullable else ""
    kind = cpp_type(t)
    return Cpp(f"mul{null}<{kind}>(o, {left.text}, {right.text})", t.or_null(nullable), kind)


def _sums(a: Cpp, b: Cpp) -> Cpp:
    """The product of a sum of doubles with another one, or with a number."""
    whole, other = (a, b) if a.type.kind == "int" else (b, a)
    if whole.type.kind == "int":
        return Cpp(f"times({whole.text}, {other.text})", DOUBLE, SUM)
    return Cpp(f"times({summand(a).text}, {summand(b).text})", DOUBLE, SUM)


def _widened(x: Cpp, kind: str) -> Cpp:
    """The same integer in more bits, its digits after the point as they are."""
    if x.cpp_type == kind:
        return x
    assert kind == "i128"
    text = f"scaled_n<i128>(o, {x.text}, i128(1))" if x.nullable else f"i128({x.text})"
    return Cpp(text, x.type, "i128")
