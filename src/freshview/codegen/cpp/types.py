"""How a kernel represents values: the C++ type of every SQL type, constants, conversions.

Numbers are of fixed width, decimals are integers scaled by a power of ten, text is a symbol of
the kernel's text store (`Sym`) or, on its way in, a piece of memory (`Str`). NULL is the smallest
value of each representation, so that equality of keys is equality of bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias, assert_never

from freshview.calculus.casts import WIDE
from freshview.calculus.domain import limit
from freshview.calculus.schema import Column
from freshview.calculus.types import DOUBLE, INT, Type, Value
from freshview.codegen.cpp.ring_types import CofactorType, RingType, cofactor_type
from freshview.errors import NotNative

CppType = str
"""A C++ type: i8, i32, i64, i128, f64, Sym or Str, Sum, or that of a ring's elements."""

SUM = "Sum"
"""The C++ type of sums of doubles: in payloads, and wherever numbers of rows are added up."""

BYTES = {"Sum": 24, "i128": 16, "i64": 8, "f64": 8, "Sym": 8, "i32": 4, "i8": 1}
"""How wide plain values are."""

NARROW = 4
"""Decimals of up to so many digits after the point have 64 bits, others 128.

That is room enough for most money. A kernel that meets a decimal with more digits gives way to the
reference engine, and is written again with all its decimals in 128 bits (`widen.py`)."""

EPOCH = date(1970, 1, 1)


Pending: TypeAlias = Literal["row", "product", "join"] | None
"""A row, a product, or a product with categories that is not computed yet."""


class Row(NamedTuple):
    """A row, so many times, and the values of its variables: continuous and categorical ones."""

    times: str
    lifts: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cpp:
    """A C++ expression without side effects, the type of its value, and its C++ type."""

    text: str
    type: Type
    cpp_type: CppType
    origin: tuple[str, str, int] | None = field(default=None, compare=False)
    """If it is a key column of a record at hand: the storage, the record, the column."""
    constant: Value = field(default=None, compare=False)
    """Its value, if that is known: of whole numbers and texts."""
    parts: tuple[Cpp, ...] = field(default=(), compare=False)
    """The factors of an element of a ring that is a product."""
    row: Row | None = field(default=None, compare=False)
    """What the element of a ring is made of, if it is a single row."""
    pending: Pending = field(default=None, compare=False)
    """What has yet to be computed of an element of a ring: it may be added to another at once."""
    stays: bool = field(default=False, compare=False)
    """Whether it is a name of something in memory, and not computed."""

    @property
    def nullable(self) -> bool:
        """Whether it can be NULL."""
        return self.type.nullable


def cpp_type(t: Type) -> CppType:
    """The C++ type of a value in keys and variables."""
    match t.kind:
        case "int" | "timestamp":
            return "i64"
        case "decimal":
            return "i64" if t.scale <= NARROW and not t.wide else "i128"
        case "double":
            return "f64"
        case "date":
            return "i32"
        case "bool" | "null":
            return "i8"
        case "string":
            return "Sym"
        case "ring":
            if isinstance(t, RingType):
                return t.cpp_type
            raise NotNative(f"payloads of {t} are kept by the reference engine only")
        case _:
            assert_never(t.kind)


def cpp_limit(t: Type) -> int | Decimal | None:
    """What the size of a number stays below in its C++ type; None where there is no such bound.

    >>> cpp_limit(Type("decimal", 2)), cpp_limit(Type("decimal", 6)) == 10**32
    (Decimal('92233720368547758.08'), True)
    """
    if t.kind == "decimal" and cpp_type(t) == "i64":
        return Decimal(1 << 63).scaleb(-t.scale)
    return limit(t)


def cpp_payload_type(t: Type) -> CppType:
    """The C++ type of a number in a payload: doubles are sums (`native/sum.hpp`)."""
    return SUM if t.kind == "double" else cpp_type(t)


def batch_type(t: Type) -> CppType:
    """The C++ type of a column of a batch: text is as it came."""
    return "Str" if t.kind == "string" else cpp_type(t)


def is_mixed(t: Type) -> bool:
    """Whether elements of a type have categories, which lie in an arena."""
    return isinstance(t, CofactorType) and bool(t.categories)


def size_of(t: Type) -> int:
    """The bytes of a value of a type in a record."""
    if isinstance(t, RingType):
        return 8 * t.size + (64 if is_mixed(t) else 0)
    return BYTES[cpp_type(t)]


def payload_size(t: Type) -> int:
    """The bytes of a payload of a type in a record."""
    return size_of(t) if isinstance(t, RingType) else BYTES[cpp_payload_type(t)]


def days(d: date) -> int:
    """Days since 1970."""
    return (d - EPOCH).days


def micros(d: date) -> int:
    """Microseconds since 1970."""
    moment = d if isinstance(d, datetime) else datetime(d.year, d.month, d.day)
    delta = moment - datetime(1970, 1, 1)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def quote(text: str) -> str:
    r"""Text as a C++ literal; everything but plain characters as octal codes.

    >>> quote('say "é"')
    '"say \\042\\303\\251\\042"'
    """
    return quote_bytes(text.encode())


def quote_bytes(text: bytes) -> str:
    """Bytes as a C++ literal: no quote, escape, trigraph or end of line is left in it."""
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\?@' else f"\\{b:03o}" for b in text)
    return f'"{"".join(plain)}"'


def integer(n: int, kind: CppType) -> str:
    """A whole number as a C++ literal; 128 bits are put together from two halves."""
    if kind == "i128" and not -(1 << 63) < n < 1 << 63:
        if not -(1 << 127) < n < 1 << 127:
            raise NotNative(f"the constant {n} does not fit in 128 bits")
        low = n & ((1 << 64) - 1)
        return f"i128(u128({n >> 64 & ((1 << 64) - 1)}ull) << 64 | {low}ull)"
    if not -(1 << 63) < n < 1 << 63:
        raise NotNative(f"the constant {n} does not fit in 64 bits")
    return f"{kind}({n}ll)"


def constant(value: Value, t: Type) -> Cpp:
    """A constant in its C++ type; text stays a `Str`."""
    if value is None:
        kind = cpp_type(t)
        return Cpp(f"null<{kind}>()", t.or_null(), kind)
    kind = cpp_type(t)
    match value:
        case str():
            text = f"Str{{{quote(value)}, {len(value.encode())}}}"
            return Cpp(text, t, "Str", constant=value)
        case bool():
            return Cpp(f"{kind}({int(value)})", t, kind)
        case int() | Decimal() if t.kind in ("int", "decimal"):
            digits = int(Decimal(value).scaleb(t.scale, WIDE))
            if t.kind == "decimal" and not -(1 << 63) < digits < 1 << 63:
                t, kind = replace(t, wide=True), "i128"
            return Cpp(integer(digits, kind), t, kind, constant=value)
        case int() | float() | Decimal():
            return Cpp(f"f64({float(value)!r})", t, "f64")
        case datetime():
            return Cpp(integer(micros(value), "i64"), t, "i64")
        case date() if t.kind == "timestamp":
            return Cpp(integer(micros(value), "i64"), t, "i64")
        case date():
            return Cpp(integer(days(value), "i32"), t, "i32")
        case _:
            assert_never(value)


def convert(x: Cpp, to: Type) -> Cpp:
    """A number in another numeric type (or a date as a timestamp); NULL stays NULL.

    To fewer digits after the point, or from double, there is no conversion: that would round.
    """
    target, kind = cpp_type(to), x.type.kind
    if x.cpp_type == SUM and to.kind == "double":
        return x
    if isinstance(to, RingType):
        return _in_ring(x, to)
    result = to.or_null(x.nullable)
    if kind == "null":
        return Cpp(f"null<{target}>()", result, target)
    if (kind, x.type.scale, x.cpp_type) == (to.kind, to.scale, target):
        return Cpp(x.text, result, target)
    if kind in ("int", "bool") and to.kind in ("int", "decimal"):
        return _scaled(x, to.scale, result, target)
    if kind == "decimal" and to.kind == "decimal" and to.scale >= x.type.scale:
        return _scaled(x, to.scale - x.type.scale, result, target)
    if to.kind == "double" and kind in ("int", "bool", "decimal"):
        text = f"real{_null(x)}({x.text})"
        return Cpp(text if not x.type.scale else _over(x), result, "f64")
    if to.kind == "null":  # a key that is always NULL: no other value finds it
        test = f"is_null({x.text})" if x.nullable else "false"
        return Cpp(f"({test} ? null<i8>() : i8(0))", result, target)
    if kind == "date" and to.kind == "timestamp":
        return Cpp(f"midnight{_null(x)}({x.text})", result, "i64")
    if kind == to.kind == "string":
        return Cpp(x.text, result, x.cpp_type)
    raise NotNative(f"{x.type} is not converted to {to}")


def digits_lost(x: Type, to: Type) -> int:
    """How many digits after the point a number has that another exact type has no place for."""
    exact = ("int", "decimal")
    return max(0, x.scale - to.scale) if x.kind == "decimal" and to.kind in exact else 0


def _in_ring(x: Cpp, to: RingType) -> Cpp:
    """An element of a ring, whatever its variables; whole numbers are part of the cofactors."""
    if isinstance(x.type, RingType):
        return x
    if not isinstance(to, CofactorType):
        raise NotNative(f"a whole number is not an element of the ring {to.ring}, which has no 1")
    times = f"f64({x.text})"
    t = cofactor_type(())
    return Cpp(f"row({times})", t, t.cpp_type, row=Row(times), pending="row")


def gain(to: str, t: Type, x: Cpp, where: str = "") -> str:
    """The statement that adds a value to a place of a type, in a record `where` or in a local."""
    if t.kind == "double":
        return f"gain({to}, {summand(x).text});"
    value = convert(x, t).text
    if is_mixed(t):
        value = value if is_mixed(x.type) else f"whole({value})"
        return f"gain({where}, {to}, {value});" if where else f"gain({to}, {value});"
    if t.kind == "ring":
        return f"gain({to}, {value});"
    kind = cpp_type(t)
    total = f"add<{kind}>(o, {to}, {value})"
    return f"{to} = known(o, {total});" if where and kind == "i64" else f"{to} = {total};"


def parts_of(payload: Column) -> tuple[Column, ...]:
    """The columns in which a sum of doubles goes from one kernel to another."""
    name = payload.name
    return (
        Column(name, DOUBLE),
        Column(f"{name}.rest", DOUBLE),
        Column(f"{name}.print", INT),
    )


def summand(x: Cpp) -> Cpp:
    """A number as part of a sum of doubles; whole numbers and decimals keep their digits."""
    if x.cpp_type == SUM:
        return x
    unit = f", 1e{x.type.scale}" if x.type.scale else ""
    number = f"i64({x.text})" if x.type.kind == "bool" else x.text
    return Cpp(f"lift({number}{unit})", DOUBLE, SUM)


def nearest_double(x: Cpp) -> Cpp:
    """A number as a value: of a sum of doubles, the nearest double."""
    return Cpp(f"value({x.text})", x.type, "f64") if x.cpp_type == SUM else x


def is_gone(x: Cpp) -> str:
    """The test that a multiplicity is one of no rows; those of some may cancel out."""
    return f"{x.text}.gone()" if x.cpp_type == SUM else f"{x.text} == 0"


def is_there(x: Cpp) -> str:
    """The test that a multiplicity is one of some rows, even if their numbers cancel out."""
    return f"!{x.text}.gone()" if x.cpp_type == SUM else f"{x.text} != 0"


def _null(x: Cpp) -> str:
    return "_n" if x.nullable else ""


def _over(x: Cpp) -> str:
    return f"real{_null(x)}({x.text}, {x.type.scale}, 1e{x.type.scale})"


def _scaled(x: Cpp, digits: int, result: Type, target: CppType) -> Cpp:
    if x.cpp_type == "i128" and target == "i64":  # it may not fit: then the change is refused
        wide = _scaled(x, digits, result, "i128") if digits else x
        return Cpp(f"narrowed{_null(x)}(o, {wide.text})", result, target)
    if not digits and not x.nullable:
        return Cpp(f"{target}({x.text})", result, target)
    factor = integer(10**digits, target)
    return Cpp(f"scaled{_null(x)}<{target}>(o, {x.text}, {factor})", result, target)


def zero_if_null(x: Cpp) -> Cpp:
    """A value as a multiplicity: NULL counts as nothing.

    >>> from freshview.calculus.types import NULL
    >>> zero_if_null(constant(None, NULL)).text
    'i64(0ll)'
    """
    if x.type.kind == "null":  # no other type tells that it was NULL
        return constant(0, INT)
    if not x.nullable:
        return x
    return Cpp(f"or_zero({x.text})", x.type.not_null(), x.cpp_type)
