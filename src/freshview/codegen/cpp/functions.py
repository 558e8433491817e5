"""Scalar functions in C++: one entry for each of `calculus.functions` that kernels know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from freshview.calculus.check import Schema
from freshview.calculus.functions import BUILTINS, Function
from freshview.calculus.scalars import ESCAPE
from freshview.calculus.types import DOUBLE, STRING, Type
from freshview.codegen.cpp.builtin import builtin
from freshview.codegen.cpp.casts import (
    KINDS,
    Emit,
    add_interval,
    casts,
    floor_or_ceil,
    partial_call,
    round_to,
)
from freshview.codegen.cpp.compare import compare
from freshview.codegen.cpp.like_patterns import like
from freshview.codegen.cpp.types import Cpp, CppType, convert, cpp_type, quote
from freshview.errors import NotNative

SUM_OF = Function("sum_of", lambda hi, lo, _: hi + lo, lambda *_: DOUBLE, (3, 3))
"""A sum of doubles from the parts in which another kernel has put it out (`types.parts_of`)."""


@dataclass(frozen=True)
class Functions:
    """What kernels can call, by name."""

    known: Mapping[str, Emit]

    def is_hosted(self, fn: str, schema: Schema) -> bool:
        """Whether a function is called in Python."""
        function = schema.functions.known.get(fn)
        if function is None or function.ring:
            return False
        own = _function_of_kernels(fn)
        return fn not in self.known if function is own else _may_be_hosted(fn)

    def call(self, fn: str, args: list[Cpp], schema: Schema) -> Cpp:
        """A call; a strict function of NULL is NULL."""
        function = schema.functions[fn]
        own = _function_of_kernels(fn)
        if function is own:
            emit = self.known.get(fn) or host_call(fn)
        elif function.ring or not _may_be_hosted(fn):
            raise NotNative(f"the function '{fn}' is Python code")
        else:
            emit = host_call(fn)
        result = function.result(*(a.type for a in args))
        nullable = [a for a in args if a.nullable]
        out: CppType = _held_text(fn, args) if result.kind == "string" else cpp_type(result)
        if function.strict and any(a.type.kind == "null" for a in args):
            return Cpp(f"null<{out}>()", result.or_null(), out)
        if not (function.strict and nullable):
            text = emit(args, result)
            text = f"i8({text})" if result.kind == "bool" else text
            return Cpp(text, result.or_null(function.partial), out)
        # Every argument is evaluated once, tested, and then used. The text of a short symbol lies
        # in the symbol: it must not be that of a copy that is gone when the answer is used.
        names = [f"a{i}" for i in range(len(args))]
        args = [_kept(a) for a in args]
        lets = "".join(f"const auto& {n} = {a.text}; " for n, a in zip(names, args, strict=True))
        tests = " || ".join(f"is_null({n})" for n, a in zip(names, args, strict=True) if a.nullable)
        plain = [
            Cpp(n, a.type.not_null(), a.cpp_type, constant=a.constant)
            for n, a in zip(names, args, strict=True)
        ]
        value = emit(plain, result.not_null())
        text = f"[&]() -> {out} {{ {lets}return {tests} ? null<{out}>() : {out}({value}); }}()"
        return Cpp(text, result.or_null(), out)


def _function_of_kernels(fn: str) -> Function | None:
    """The function of this name that all kernels know, if there is one."""
    return SUM_OF if fn == SUM_OF.name else BUILTINS.known.get(fn)


def _may_be_hosted(fn: str) -> bool:
    """Whether a kernel can call a function of the user's by its name: no other one has it."""
    return fn not in BUILTINS and fn.isidentifier() and fn.isascii()


def host_call(fn: str) -> Emit:
    """A function that has no C++: the kernel calls it in Python."""

    def emit(args: list[Cpp], result: Type) -> str:
        shown = ", ".join(host_arguments(args)) or "Arg()"
        kind, held, scale = host_result(Cpp("", result, cpp_type(result)))
        return f'host<{kind}>(e, "{fn}", {held}, {scale}, {{{shown}}})'

    return emit


def host_result(x: Cpp) -> tuple[CppType, str, int]:
    """How the answer of Python is held: its type, its kind, and digits after the point."""
    kind: CppType = "Str" if x.type.kind == "string" else x.cpp_type
    narrow = x.type.kind == "decimal" and kind == "i64"
    return kind, "Decimal64" if narrow else KINDS[x.type.kind], x.type.scale


def host_arguments(args: list[Cpp]) -> list[str]:
    """Arguments on their way to Python."""
    return [_host_arg(a) for a in args]


def _host_arg(x: Cpp) -> str:
    if x.type.kind == "null":
        return "Arg()"
    text = _text(x) if x.type.kind == "string" else x.text
    return f"host_arg({KINDS[x.type.kind]}, {x.type.scale}, {text})"


def _held_text(fn: str, args: list[Cpp]) -> CppType:
    """How a function gives a text: as a symbol if it chooses among symbols, else as a new one."""
    chosen = {"coalesce": args, "when": args[1:]}.get(fn, ())
    kinds = {a.cpp_type for a in chosen if a.type.kind != "null"}
    return "Sym" if kinds == {"Sym"} else "Str"


def _kept(x: Cpp) -> Cpp:
    """A symbol that is not in a variable or record, as a text that stays until the batch ends."""
    if x.cpp_type != "Sym" or x.stays:
        return x
    return Cpp(f"kept_text(e, {x.text})", x.type, "Str")


def truth(x: Cpp) -> str:
    """Whether a value counts as true."""
    return f"truth({x.text})"


def _text(x: Cpp) -> str:
    if x.type.kind == "null":
        return "null<Str>()"
    x = _kept(x)
    return x.text if x.cpp_type == "Str" else f"text(e, {x.text})"


def _plain(name: str, *types: Type) -> Emit:
    """A C++ function of the arguments, converted to the given types."""

    def emit(args: list[Cpp], _: Type) -> str:
        wanted = types or tuple(a.type for a in args)
        parts = [
            _text(a) if t.kind == "string" else convert(a, t).text
            for a, t in zip(args, wanted, strict=False)
        ]
        return f"{name}({', '.join(parts)})"

    return emit


def _real(name: str, count: int) -> Emit:
    return _plain(name, *[DOUBLE] * count)


def _mod(args: list[Cpp], result: Type) -> str:
    a, b = (convert(x, result) for x in args)
    return f"mod<{cpp_type(result)}>({a.text}, {b.text})"


def _when(args: list[Cpp], result: Type) -> str:
    count, value = args
    return f"({truth(count)} ? {value.text} : null<{value.cpp_type}>())"


def _logic(sign: str) -> Emit:
    return lambda args, _: f"i8({f' {sign} '.join(truth(a) for a in args)})"


def _not(args: list[Cpp], _: Type) -> str:
    return f"i8(!{truth(args[0])})"


def _like(args: list[Cpp], _: Type) -> str:
    escape = args[2].constant if len(args) == 3 else ESCAPE
    if not isinstance(escape, str):
        raise NotNative("LIKE with an escape character that is not constant runs in Python only")
    if isinstance(args[1].constant, str):
        return like(_text(args[0]), args[1].constant, escape)
    texts = [Cpp(_text(a), a.type, "Str") for a in args]
    mark = f"Str{{{quote(escape)}, {len(escape.encode())}}}"
    mark = mark.replace("{", "{{").replace("}", "}}")
    room = "e.scratch.at<char>(e.scratch.take({1}.size + 1))"
    read = f"read_pattern({{1}}, {mark}, {room}, pattern)"
    test = f"{read} && (out = text_like({{0}}, pattern), true)"
    return partial_call("like", "i8", texts, f"[&](Str pattern) {{{{ return {test}; }}}}(Str())")


def _in(args: list[Cpp], _: Type) -> str:
    tests = [compare("=", args[0], choice) for choice in args[1:]]
    return f"i8({' || '.join(tests) or 'false'})"


def _clock(name: str) -> Emit:
    def emit(args: list[Cpp], _: Type) -> str:
        if args[0].type.kind == "date" and name in ("hour_of", "minute_of", "second_of"):
            return "i64(0)"
        return f"{name}({args[0].text})"

    return emit


def _days_between(args: list[Cpp], _: Type) -> str:
    return f"(day_of({args[0].text}) - day_of({args[1].text}))"


def _abs(args: list[Cpp], result: Type) -> str:
    return f"absolute<{cpp_type(result)}>(o, {args[0].text})"


def _extreme(sign: str) -> Emit:
    def emit(args: list[Cpp], result: Type) -> str:
        if result.kind == "string":
            return _extreme_text(sign, args)
        kind, out = cpp_type(result), convert(args[0], result).text
        for a in args[1:]:
            b = convert(a, result).text
            out = f"[&]() -> {kind} {{ {kind} a = {out}, b = {b}; return b {sign} a ? b : a; }}()"
        return out

    return emit


def _extreme_text(sign: str, args: list[Cpp]) -> str:
    out = _text(args[0])
    for a in args[1:]:
        test = f"text_compare(b, a) {sign} 0"
        out = f"[&]() -> Str {{ Str a = {out}, b = {_text(a)}; return {test} ? b : a; }}()"
    return out


def _coalesce(args: list[Cpp], result: Type) -> str:
    args = [a for a in args if a.type.kind != "null"] or args[:1]
    if result.kind == "string":
        kind = _held_text("coalesce", args)
        parts = [a.text if kind == "Sym" else _text(a) for a in args]
    else:
        parts, kind = [convert(a, result).text for a in args], cpp_type(result)
    out = parts[-1]
    for part in reversed(parts[:-1]):
        out = f"[&]() -> {kind} {{ {kind} a = {part}; return is_null(a) ? {out} : a; }}()"
    return out


FUNCTIONS = Functions(
    {
        "div": _real("div", 2),
        "mod": _mod,
        "when": _when,
        "sum_of": lambda a, _: f"Sum{{{a[0].text}, {a[1].text}, u64({a[2].text})}}",
        "or": _logic("||"),
        "and": _logic("&&"),
        "not": _not,
        "like": _like,
        "in": _in,
        "year": _clock("year_of"),
        "quarter": _clock("quarter_of"),
        "month": _clock("month_of"),
        "day": _clock("dom_of"),
        "hour": _clock("hour_of"),
        "minute": _clock("minute_of"),
        "second": _clock("second_of"),
        "add_days": add_interval("days"),
        "add_months": add_interval("months"),
        "add_seconds": add_interval("seconds"),
        "add_micros": add_interval("micros"),
        "days_between": _days_between,
        "substring": lambda a, _: (
            f"substring({', '.join([_text(a[0]), *(x.text for x in a[1:])])})"
        ),
        "concat": lambda a, _: f"concat(e, {{{', '.join(map(_text, a))}}})",
        "trim": _plain("text_trim", STRING),
        "length": _plain("text_length", STRING),
        "abs": _abs,
        "round": round_to,
        "floor": floor_or_ceil("floor"),
        "ceil": floor_or_ceil("ceil"),
        "sqrt": _real("root", 1),
        "power": _real("power", 2),
        "greatest": _extreme(">"),
        "least": _extreme("<"),
        "listmax": _extreme(">"),
        "listmin": _extreme("<"),
        "coalesce": _coalesce,
        "vec_length": _real("vec_length", 3),
        "dihedral_angle": _real("dihedral_angle", 12),
        **casts(_text),
        **builtin(_text),
    }
)
