"""Functions of the table that have C++; the others are called in Python."""

from __future__ import annotations

from collections.abc import Callable

from freshview.calculus.types import DOUBLE, Type, common
from freshview.codegen.cpp.casts import Emit, partial_call
from freshview.codegen.cpp.types import Cpp, CppType, convert, cpp_type

Text = Callable[[Cpp], str]

REAL = {
    **{
        name: f"finite(__builtin_{name}({{0}}))"
        for name in (
            *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh"),
            *("exp", "expm1", "sin", "sinh", "tan", "tanh"),
        )
    },
    "cbrt": "__builtin_cbrt({0})",
    "sec": "finite(1 / __builtin_cos({0}))",
    "csc": "finite(1 / __builtin_sin({0}))",
    "cot": "finite(1 / __builtin_tan({0}))",
    "degrees": "finite({0} * (180 / 3.141592653589793))",
    "radians": "({0} * (3.141592653589793 / 180) + 0.0)",
    "atan2": "(atan2({0} + 0.0, {1} + 0.0) + 0.0)",
    "ln": "log_of({0})",
    "log10": "log10_of({0})",
    "log2": "log2_of_real({0})",
    "log1p": "log1p_of({0})",
    "rint": "rint_of({0})",
    "pi": "3.141592653589793",
    "e": "2.718281828459045",
}
"""Functions of doubles."""

PLAIN = {
    "bit_or_of": "({0} | {1})",
    "bit_count": "bit_count({0})",
    "bit_pair": "bit_pair({0}, {1})",
    "shiftright": "shift_right({0}, {1})",
    "ascii": "text_ascii({0})",
    "bit_length": "(i64({0}.size) * 8)",
    "octet_length": "i64({0}.size)",
    "contains": "text_contains({0}, {1})",
    "startswith": "text_begins({0}, {1})",
    "endswith": "text_ends({0}, {1})",
    "instr": "text_instr({0}, {1})",
    "left": "text_left({0}, {1})",
    "right": "text_right({0}, {1})",
    "dayofweek": "day_of_week({0})",
    "weekday": "weekday({0})",
    "isodayofweek": "(weekday({0}) + 1)",
    "dayofyear": "day_of_year({0})",
    "last_day": "last_day({0})",
    "unix_date": "i64({0})",
    "unix_micros": "i64({0})",
    "unix_millis": "floor_by({0}, 1000)",
    "unix_seconds": "floor_by({0}, 1000000)",
}
"""Functions that have an answer for all the values that their signature admits."""

PARTIAL: dict[str, tuple[CppType, str]] = {
    "bit_and_of": ("i64", "bit_and({0}, {1}, out)"),
    "bit_xor_of": ("i64", "bit_xor({0}, {1}, out)"),
    "bit_not": ("i64", "bit_not({0}, out)"),
    "bit_get": ("i64", "bit_get({0}, {1}, out)"),
    "shiftleft": ("i64", "shift_left({0}, {1}, out)"),
    "shiftrightunsigned": ("i64", "shift_right_unsigned({0}, {1}, out)"),
    "date_from_unix_date": ("i32", "date_of_days({0}, out)"),
    "trunc": ("i32", "trunc_date({0}, {1}, out)"),
    "window_of_number": ("i64", "window_of({0}, {1}, {2}, {3}, out)"),
    "window_of_time": ("i64", "window_of_time({0}, {1}, {2}, {3}, out)"),
    "date_trunc": ("i64", "trunc_time({0}, {1}, out)"),
}
"""Functions that refuse some values."""


def builtin(text: Text) -> dict[str, Emit]:
    """The functions by name; `text` gives the characters of a value."""
    return {
        **{fn: _real(form) for fn, form in REAL.items()},
        **{fn: _plain(form, text) for fn, form in PLAIN.items()},
        **{fn: _partial(fn, kind, test, text) for fn, (kind, test) in PARTIAL.items()},
        "log": lambda args, _: _log([convert(a, DOUBLE).text for a in args]),
        "sign": lambda args, _: f"sign_of({args[0].text})",
        "int_div": _whole_quotient,
        **{
            fn: _bits_of(fn, i)
            for i, fn in enumerate(("bit_and_of_counts", "bit_or_of_counts", "bit_xor_of_counts"))
        },
    }


def _held(args: list[Cpp], text: Text) -> list[Cpp]:
    """The arguments, texts as their characters."""
    return [Cpp(text(a), a.type, "Str") if a.type.kind == "string" else a for a in args]


def _real(form: str) -> Emit:
    return lambda args, _: form.format(*(convert(a, DOUBLE).text for a in args))


def _plain(form: str, text: Text) -> Emit:
    return lambda args, _: form.format(*(f"({a.text})" for a in _held(args, text)))


def _partial(fn: str, kind: CppType, test: str, text: Text) -> Emit:
    return lambda args, _: partial_call(fn, kind, _held(args, text), test)


def _log(args: list[str]) -> str:
    return f"log_of({args[0]})" if len(args) == 1 else f"log_to({', '.join(args)})"


def _bits_of(fn: str, which: int) -> Emit:
    """The bits of an aggregate; a group that is too large for the counts is a fault."""

    def emit(args: list[Cpp], _: Type) -> str:
        counts = "".join(f"{{{{{', '.join(a.text for a in args[1:])}}}}}")
        test = f"bits_of_counts<{which}>({{0}}, {counts}, out)"
        return partial_call(fn, "i64", args[:1], test)

    return emit


def _whole_quotient(args: list[Cpp], _: Type) -> str:
    t = common(args[0].type, args[1].type)
    alike = [convert(a, t) for a in args]
    test = f"whole_quotient<{cpp_type(t)}>({{0}}, {{1}}, out)"
    return partial_call("int_div", "i64", alike, test)
