"""Comparisons of values as C++ conditions: the same meaning as `calculus.compare`."""

from __future__ import annotations

from decimal import Decimal

from freshview.calculus.terms import Op
from freshview.calculus.types import Type, common, counted
from freshview.codegen.cpp.types import Cpp, constant, convert


def compare(op: Op, a: Cpp, b: Cpp) -> str:
    """A comparison as a C++ condition: NULL equals NULL only, and has no order."""
    if "null" in (a.type.kind, b.type.kind):
        return _with_null(op, a, b)
    if a.type.kind == "string":
        return _texts(op, a, b)
    a, b = aligned(a, b)
    if op in ("=", "<>"):
        equal = f"same({a.text}, {b.text})" if a.cpp_type == "f64" and _both(a, b) else None
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


def aligned(a: Cpp, b: Cpp) -> tuple[Cpp, Cpp]:
    """Two values in one type, in which they are compared."""
    if a.type.kind == b.type.kind and a.type.scale == b.type.scale and a.cpp_type == b.cpp_type:
        return a, b
    t = common(counted(a.type), counted(b.type)) if a.type.is_numeric else common(a.type, b.type)
    for one, other in ((a, b), (b, a)):
        if (other.type.kind, other.type.scale) == (t.kind, t.scale):
            known = _known(one, t)
            if known is not None:
                return (known, other) if one is a else (other, known)
    if t.kind == "decimal" and "i64" in (a.cpp_type, b.cpp_type):
        # More digits after the point may not fit in 64 bits; a comparison must not overflow.
        return _widened_to(a, t), _widened_to(b, t)
    return convert(a, t), convert(b, t)


def _known(x: Cpp, t: Type) -> Cpp | None:
    """A constant in another exact type, if it fits: nothing is left to do at run time."""
    if t.kind != "decimal" or not isinstance(x.constant, int | Decimal):
        return None
    fits = abs(x.constant) * 10**t.scale < 1 << 63
    return constant(x.constant, t.not_null()) if fits else None


def _widened_to(x: Cpp, t: Type) -> Cpp:
    if x.cpp_type == "i128" and x.type.scale == t.scale:
        return x
    digits = t.scale - x.type.scale
    null = "_n" if x.nullable else ""
    return Cpp(f"scaled{null}<i128>(o, {x.text}, i128({10**digits}))", x.type, "i128")


def _texts(op: Op, a: Cpp, b: Cpp) -> str:
    if op in ("=", "<>"):
        if a.cpp_type == b.cpp_type == "Sym":
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
    return x.text if x.cpp_type == "Str" else f"text(e, {x.text})"
