"""CAST and TRY_CAST in C++, and every function that has no answer for some of its arguments.

Such a function tests its arguments first. Where it has no answer it notes its name and them, and
the batch is taken back: the sentence that refuses it is made by the same function in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from freshview.calculus.casts import CASTS
from freshview.calculus.types import DOUBLE, Kind, Type
from freshview.codegen.cpp.types import Cpp, CppType, convert, cpp_type, integer
from freshview.errors import NotNative

Emit = Callable[[list[Cpp], Type], str]

KINDS: dict[Kind, str] = {
    "int": "Int",
    "decimal": "Decimal128",
    "double": "Double",
    "date": "Date",
    "timestamp": "Timestamp",
    "bool": "Bool",
    "string": "Text",
}
"""How an argument of a kind is handed to Python."""


def partial_call(
    fn: str, kind: CppType, args: Sequence[Cpp], test: str, *, tried: bool = False
) -> str:
    """The value that `test` puts into `out`, or NULL, or a fault; `{0}` is the first argument.

    >>> from freshview.calculus.types import INT
    >>> partial_call("f", "i64", [Cpp("x", INT, "i64")], "g({0}, out)", tried=True)
    '[&]() -> i64 { const auto arg_0 = x; i64 out; return g(arg_0, out) ? out : null<i64>(); }()'
    """
    names = [f"arg_{i}" for i in range(len(args))]
    lets = "".join(f"const auto {n} = {a.text}; " for n, a in zip(names, args, strict=True))
    shown = (
        f"Arg({KINDS[a.type.kind]}, {a.type.scale}, {n})" for n, a in zip(names, args, strict=True)
    )
    otherwise = f"null<{kind}>()" if tried else f'fault<{kind}>(e, "{fn}", {", ".join(shown)})'
    chosen = f"{test.format(*names)} ? out : {otherwise}"
    return f"[&]() -> {kind} {{ {lets}{kind} out; return {chosen}; }}()"


def _checked(x: Cpp, to: Type) -> str | None:
    """The C++ test that reads a value as one of a type; None where every value can be."""
    source = x.type.kind
    match source, to.kind:
        case ("string", "int" | "double" | "bool" | "date" | "timestamp") | ("double", "int"):
            return f"to_{to.kind}({{0}}, out)"
        case "decimal", "int":
            unit = integer(10**x.type.scale, x.cpp_type)
            return f"to_int<{x.cpp_type}>({{0}}, {unit}, out)"
        case _:
            return None


def _plain(x: Cpp, to: Type) -> str:
    """A cast that always has an answer."""
    source = x.type.kind
    match source, to.kind:
        case _ if source == to.kind:
            return x.text
        case (("int" | "bool" | "decimal"), "double"):
            return convert(x, DOUBLE).text
        case "bool", "int":
            return f"i64({x.text})"
        case (("int" | "decimal" | "double"), "bool"):
            return f"i8(({x.text}) != 0)"
        case "timestamp", "date":
            return f"i32(day_of({x.text}))"
        case "date", "timestamp":
            return f"midnight({x.text})"
        case (("int" | "decimal"), "string"):
            return f"show_decimal(e, {x.text}, {x.type.scale})"
        case "bool", "string":
            return f"show_bool({x.text})"
        case (("double" | "date" | "timestamp"), "string"):
            return f"show_{source}(e, {x.text})"
        case _:
            raise NotNative(f"a cast from {source} to {to.kind} runs in Python only")


def _to_decimal(fn: str, args: list[Cpp], to: Type, tried: bool) -> str:
    x, digits, like = args
    if not isinstance(digits.constant, int):
        raise NotNative("a cast to decimals of a size that is not constant runs in Python only")
    limit = integer(10**digits.constant - 1, "i128")
    ends = f"{to.scale}, {limit}, out)"
    if x.type.kind in ("string", "double"):
        test = f"to_decimal({{0}}, {ends}"
    else:
        test = f"to_decimal(i128({{0}}), {x.type.scale}, {ends}"
    value = partial_call(fn, "i128", [x, digits, like], test, tried=tried)
    return value if cpp_type(to) == "i128" else f"narrow_n<i64>(o, {value})"


def cast(fn: str, to: Kind, text: Callable[[Cpp], str]) -> Emit:
    """The cast of a name to a type."""
    tried = fn.startswith("try_")

    def emit(args: list[Cpp], result: Type) -> str:
        x = args[0]
        if x.type.kind == "string":
            x = Cpp(text(x), x.type, "Str")
        if to == "decimal":
            return _to_decimal(fn, [x, *args[1:]], result.not_null(), tried)
        test = _checked(x, result)
        if len(args) == 2 and to == "int":
            test = _within(x, args[1], test)
        if test is None:
            return _plain(x, result)
        return partial_call(fn, cpp_type(result), [x, *args[1:]], test, tried=tried)

    return emit


def _within(x: Cpp, bits: Cpp, test: str | None) -> str:
    """The test that an integer has no more bits, behind the one that reads it."""
    if not isinstance(bits.constant, int):
        raise NotNative("a cast to integers of a size that is not constant runs in Python only")
    read = test or "(out = {0}, true)"
    return f"{read} && has_bits(out, {bits.constant})"


def casts(text: Callable[[Cpp], str]) -> dict[str, Emit]:
    """All the casts by name; `text` gives the characters of a value."""
    return {
        fn: cast(fn, kind, text) for kind in CASTS for fn in (kind, f"cast_{kind}", f"try_{kind}")
    }


def add_interval(unit: str) -> Emit:
    """A date or timestamp moved within the years 1 to 9999."""

    def emit(args: list[Cpp], result: Type) -> str:
        when, count = args
        if unit in ("seconds", "micros") and when.type.kind != "timestamp":
            raise NotNative("seconds are added to a timestamp only")
        return partial_call(
            f"add_{unit}", cpp_type(result), [when, count], f"add_{unit}({{0}}, {{1}}, out)"
        )

    return emit


def floor_or_ceil(name: str) -> Emit:
    """FLOOR or CEIL: the answer is a 64-bit integer, or there is none."""

    def emit(args: list[Cpp], _: Type) -> str:
        x = args[0]
        if x.type.kind == "double":
            return partial_call(name, "i64", [x], f"to_whole({name}({{0}}), out)")
        unit = integer(10**x.type.scale, x.cpp_type)
        value = f"{name}_of<{x.cpp_type}>({{0}}, {unit})"
        if x.cpp_type == "i64":
            return f"{name}_of<i64>({x.text}, {unit})"
        return partial_call(name, "i64", [x], f"to_int<i128>({value}, i128(1), out)")

    return emit


def round_to(args: list[Cpp], result: Type) -> str:
    """ROUND to a number of digits that is known."""
    x = args[0]
    digits = args[1].constant if len(args) == 2 else 0
    if not isinstance(digits, int):
        raise NotNative("rounding to a number of digits that is not constant")
    if x.type.kind == "double":
        digits = max(-400, min(400, digits))
        unit = f"1e{digits}" if 0 <= digits <= 22 else "0"
        return f"round_real({x.text}, {digits}, {unit})"
    places = x.type.scale - digits
    if places <= 0:
        return x.text
    count = args[1] if len(args) == 2 else Cpp("i64(0)", result, "i64")
    test = f"round_within({{0}}, {min(places, 39)}, out)"
    return partial_call("round", cpp_type(result), [x, count], test)
