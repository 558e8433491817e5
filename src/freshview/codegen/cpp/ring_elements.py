"""Elements of rings as C++ expressions: values lifted into a ring, and their products.

A product is a text that is not multiplied yet (`mul`, `join`), so that it may be added to a payload
right away; `whole` makes an element of it. An element with categories is seen where it lies
(`see`), since its entries are in an arena.
"""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.functions import CppRing
from freshview.calculus.terms import Apply
from freshview.calculus.types import DOUBLE, INT, counted
from freshview.codegen.cpp.ring_types import (
    CofactorType,
    HeaderType,
    bit,
    cofactor_type,
    header_type,
    lifted,
    number,
)
from freshview.codegen.cpp.types import Cpp, Row, convert, is_mixed
from freshview.errors import NotNative

SEEN = "auto"
"""The C++ type of an element with categories in a local: what sees it."""


def call(fn: str, args: list[Cpp], ring: CppRing) -> Cpp:
    """A call of a lifting function of a header; what is NULL counts as nothing."""
    t = header_type(ring)
    for x in args:
        if x.type.kind not in ("int", "decimal", "double", "bool"):
            raise NotNative(f"[{fn}: {ring.name}] takes numbers, not {x.type}")
    numbers = [convert(x, DOUBLE) if x.type.kind == "decimal" else x for x in args]
    text = f"::{fn}({', '.join(x.text for x in numbers)})"
    nulls = " || ".join(f"is_null({x.text})" for x in numbers if x.nullable)
    return Cpp(f"({nulls} ? zero_of<::{ring.name}>() : {text})" if nulls else text, t, t.cpp_type)


def lift(e: Apply, x: Cpp) -> Cpp:
    """A value lifted into the cofactor ring."""
    t = lifted(e)
    if t.slots:
        [name] = t.slots
        return _rows(t, Row("1", (f"Value<{bit(name)}>{{{convert(x, DOUBLE).text}}}",)))
    [name] = t.categories
    if x.cpp_type == "i128":
        raise NotNative(f"categories of {x.type} are kept by the reference engine only")
    value = f"put_text(e, {x.text})" if x.cpp_type == "Str" else x.text
    value = f"as_key({value})" if x.cpp_type == "f64" else value
    times = f"f64(!is_null({x.text}))" if x.nullable else "1"
    return _rows(t, Row(times, marks=(f"Category{{{number(name)}, word({value})}}",)))


def _rows(t: CofactorType, row: Row) -> Cpp:
    """The element of a row."""
    watch = ["e.state->watch"] if row.lifts else []
    text = f"row({', '.join([*watch, row.times, *row.lifts])})"
    if row.marks:
        return Cpp(f"marked(e.scratch, {text}, {', '.join(row.marks)})", t, SEEN, row=row)
    return Cpp(text, t, t.cpp_type, row=row, pending="row")


def ring_product(a: Cpp, b: Cpp) -> Cpp:
    """The product of an element of a ring and another one, or a whole number."""
    for x, other in ((a, b), (b, a)):
        if isinstance(x.type, HeaderType) and other.type.kind != "ring":
            return _scaled(other, x, x.type)
    if isinstance(a.type, HeaderType):
        return Cpp(f"(see({a.text}) * see({b.text}))", a.type, a.cpp_type)
    if not isinstance(a.type, CofactorType):
        a, b = b, a
    assert isinstance(a.type, CofactorType)
    if isinstance(b.type, CofactorType):
        return _multiplied([*(a.parts or (a,)), *(b.parts or (b,))])
    n = f"f64({convert(b, counted(b.type)).text})"
    if not (a.parts or a.row or is_mixed(a.type)):
        return Cpp(f"scale({a.text}, {n})", a.type, a.cpp_type)
    return _multiplied([*(a.parts or (a,)), _rows(cofactor_type(()), Row(n))])


def _scaled(n: Cpp, x: Cpp, t: HeaderType) -> Cpp:
    """An element of a header's ring, so many times; by its own operator."""
    if n.type.kind in ("int", "bool"):
        return Cpp(f"copies(o, {convert(n, INT).text}, see({x.text}))", t, x.cpp_type)
    if not t.scaled:  # its product with an int would take a double, and cut it off
        raise NotNative(
            f"{t} is multiplied by a {n.type.kind}, and its header has no such product",
            instead=f"add {t.ring} operator*(double, const {t.ring}&) to the header",
        )
    return Cpp(f"({convert(n, DOUBLE).text} * see({x.text}))", t, x.cpp_type)


def _multiplied(parts: list[Cpp]) -> Cpp:
    """A product of elements: small ones with small ones first, as each costs what it has numbers.

    Rows of different variables are one row, which is quicker than the ring's rule.
    """
    factors: list[Cpp] = []
    for x in parts:
        at = next((i for i, y in enumerate(factors) if _one_row(y, x)), None)
        if at is None:
            factors.append(x)
        else:
            factors[at] = _product(factors[at], x)
    left = list(factors)
    while len(left) > 1:
        left.sort(key=lambda x: (is_mixed(x.type), _cofactors(x).size))
        left[:2] = [_product(*left[:2])]
    [out] = left
    return replace(out, parts=tuple(factors) if len(factors) > 1 else ())


def _product(a: Cpp, b: Cpp) -> Cpp:
    t = _cofactors(a).with_(_cofactors(b))
    one = _one_row(a, b)
    if one is not None:
        return _rows(t, one)
    sides = f"({multiplied_out(a)}, {multiplied_out(b)})"
    if t.categories:
        return Cpp(f"join{sides}", t, SEEN, pending="join")
    return Cpp(f"mul{sides}", t, t.cpp_type, pending="product")


def _cofactors(x: Cpp) -> CofactorType:
    """The type of an element that is a cofactor."""
    assert isinstance(x.type, CofactorType)
    return x.type


def _one_row(a: Cpp, b: Cpp) -> Row | None:
    """Two rows of different variables as one."""
    if a.row is None or b.row is None or "1" not in (a.row.times, b.row.times):
        return None
    if _cofactors(a).slots & _cofactors(b).slots:
        return None
    times = b.row.times if a.row.times == "1" else a.row.times
    return Row(times, (*a.row.lifts, *b.row.lifts), (*a.row.marks, *b.row.marks))


def multiplied_out(x: Cpp) -> str:
    """An element that is there: a product is only multiplied when it is needed."""
    if x.pending == "join":
        return f"materialized(e.scratch, {x.text})"
    return f"whole({x.text})" if x.pending else x.text
