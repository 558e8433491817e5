"""Functions of numbers, as Spark SQL has them.

Doubles are finite here: where Java's answer is NaN or infinite, the answer is NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TypeVar

from freshview.algebra import Number
from freshview.calculus.builtin.entry import Entry, bad, entry
from freshview.calculus.casts import LIMIT, WIDE, show_double
from freshview.calculus.types import Type, decimal

Exact = TypeVar("Exact", int, Decimal)


def rest_of(a: Exact, b: Exact) -> Exact:
    """The remainder with the sign of the left side."""
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


def real(of: Callable[..., float]) -> Callable[..., float | None]:
    """A function of doubles whose answer is NULL where it is not a finite number."""

    def run(*args: float) -> float | None:
        try:
            answer = float(of(*args)) + 0.0
        except (ValueError, OverflowError, ZeroDivisionError):
            return None
        return answer if math.isfinite(answer) else None

    return run


def int64(fn: str, n: int, *args: object) -> int:
    """An integer of 64 bits, or an error."""
    if -LIMIT < n < LIMIT:
        return n
    raise bad(fn, f"{n} leaves the 64-bit integers")


def wrapped(n: int) -> int:
    """The integer of 64 bits with the same low bits."""
    return (n + LIMIT) % (2 * LIMIT) - LIMIT


def sec(x: float) -> float:
    """1 / cos x."""
    return 1 / math.cos(x)


def csc(x: float) -> float:
    """1 / sin x."""
    return 1 / math.sin(x)


def cot(x: float) -> float:
    """1 / tan x."""
    return 1 / math.tan(x)


def log(base: float, x: float | None = None) -> float | None:
    """The logarithm of x to a base; of one argument, the natural one. NULL of what has none."""
    if x is None:
        return ln(base)
    if x <= 0 or base <= 0:
        return None
    return real(lambda: math.log(x) / math.log(base))()


def ln(x: float) -> float | None:
    """The natural logarithm."""
    return math.log(x) if x > 0 else None


def log1p(x: float) -> float | None:
    """The natural logarithm of x + 1."""
    return math.log1p(x) if x > -1 else None


def cbrt(x: float) -> float:
    """The cube root."""
    return math.cbrt(x)


def rint(x: float) -> float:
    """The nearest whole number; of two, the even one."""
    return float(round(x)) + 0.0 if abs(x) < 2**52 else x


def sign(x: Number) -> float:
    """1, 0 or -1."""
    return float((x > 0) - (x < 0))


def factorial(n: int) -> int | None:
    """n!, of 0 to 20; NULL of others."""
    return math.factorial(n) if 0 <= n <= 20 else None


def bround(x: Number, digits: int = 0) -> Number:
    """To so many digits after the point, halves to the even neighbour."""
    exact = Decimal(show_double(x)) if isinstance(x, float) else Decimal(x)
    if -int(exact.as_tuple().exponent) <= digits:
        return x
    if exact.adjusted() < -digits - 1:
        rounded = Decimal(0)
    else:
        rounded = exact.quantize(Decimal(1).scaleb(-digits, WIDE), ROUND_HALF_EVEN, WIDE)
    if isinstance(x, float):
        return float(rounded) + 0.0
    if isinstance(x, Decimal):
        return rounded.quantize(x, context=WIDE)
    return int64("bround", int(rounded))


def pmod(a: Number, b: Number) -> Number | None:
    """The remainder that is not negative where b is positive; NULL by 0."""
    if b == 0:
        return None
    first = remainder(a, b)
    if first is None or first >= 0:
        return first
    return remainder(plus(first, b), b)


def remainder(a: Number, b: Number) -> Number | None:
    """The remainder with the sign of the left side; NULL by 0."""
    if b == 0:
        return None
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(a, b)
    if isinstance(a, Decimal) or isinstance(b, Decimal):
        return rest_of(Decimal(a), Decimal(b))
    return rest_of(a, b)


def div(a: Number, b: Number) -> int | None:
    """The whole part of a quotient; NULL by 0."""
    if b == 0:
        return None
    quotient = int(abs(Decimal(a)) // abs(Decimal(b)))
    return int64("div", -quotient if (a < 0) != (b < 0) else quotient)


def conv(text: str, source: int, target: int) -> str | None:
    """A number in another base, as 64 bits without a sign; signed if the base is negative."""
    low, high = 2, 36
    if not (low <= source <= high and low <= abs(target) <= high):
        return None
    text = text.strip(" ")
    if not text:
        return None
    negative = text.startswith("-")
    digits = 0
    for c in text[negative:]:
        value = int(c, 36) if c.isascii() and c.isalnum() else 99
        if value >= source:
            break
        digits = digits * source + value
    most = 2 * LIMIT - 1
    if digits > most:
        raise bad("conv", f"{text} leaves 64 bits", text)
    n = digits
    if negative:
        n = (2 * LIMIT - n) % (2 * LIMIT) if target > 0 else -n
    if target < 0 and not negative and n >= LIMIT:
        n -= 2 * LIMIT
    if target > 0:
        n %= 2 * LIMIT
    return ("-" if n < 0 else "") + in_base(abs(n), abs(target))


def in_base(n: int, base: int) -> str:
    """A number that is not negative in a base."""
    digits = ""
    while n:
        n, rest = divmod(n, base)
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest] + digits
    return digits or "0"


def binary(n: int) -> str:
    """The 64 bits of an integer, without zeros before them."""
    return format(n % (2 * LIMIT), "b")


def hexadecimal(x: int | str) -> str:
    """The 64 bits of an integer, or the bytes of a text, in hexadecimal digits."""
    return x.encode().hex().upper() if isinstance(x, str) else format(x % (2 * LIMIT), "X")


def width_bucket(x: float, low: float, high: float, count: int) -> int | None:
    """The bucket of a value, of so many of equal width; 0 and count + 1 are outside."""
    if count <= 0 or low == high:
        return None
    if low < high:
        if x < low:
            return 0
        return count + 1 if x >= high else int(count * (x - low) / (high - low)) + 1
    if x > low:
        return 0
    return count + 1 if x <= high else int(count * (low - x) / (low - high)) + 1


def attempt(of: Callable[[Number, Number], Number | None]) -> Callable[..., Number | None]:
    """Arithmetic that answers NULL where the answer leaves its range."""

    def run(a: Number, b: Number) -> Number | None:
        try:
            answer = of(a, b)
        except (OverflowError, ArithmeticError):
            return None
        if isinstance(answer, float):
            return answer + 0.0 if math.isfinite(answer) else None
        if isinstance(answer, Decimal):
            return answer if answer.adjusted() < 38 + int(answer.as_tuple().exponent) else None
        return answer if answer is None or -LIMIT < answer < LIMIT else None

    return run


def plus(a: Number, b: Number) -> Number:
    """The sum, of two numbers of any types."""
    if isinstance(a, float) or isinstance(b, float):
        return float(a) + float(b)
    if isinstance(a, Decimal) or isinstance(b, Decimal):
        return Decimal(a) + Decimal(b)
    return a + b


def times(a: Number, b: Number) -> Number:
    """The product, of two numbers of any types."""
    if isinstance(a, float) or isinstance(b, float):
        return float(a) * float(b)
    if isinstance(a, Decimal) or isinstance(b, Decimal):
        return Decimal(a) * Decimal(b)
    return a * b


def quotient(a: Number, b: Number) -> float | None:
    """TRY_DIVIDE: a double; NULL by 0."""
    return real(lambda: float(a) / float(b))() if b else None


def _times(a: Type, b: Type) -> Type:
    if "double" in (a.kind, b.kind):
        return Type("double")
    if "decimal" in (a.kind, b.kind):
        return decimal(a.scale + b.scale)
    return Type("int")


ENTRIES: tuple[Entry, ...] = (
    *(
        entry(names, "double -> double?", real(of))
        for names, of in (
            ("acos", math.acos),
            ("acosh", math.acosh),
            ("asin", math.asin),
            ("asinh", math.asinh),
            ("atan", math.atan),
            ("atanh", math.atanh),
            ("cos", math.cos),
            ("cosh", math.cosh),
            ("cot", cot),
            ("csc", csc),
            ("exp", math.exp),
            ("expm1", math.expm1),
            ("sec", sec),
            ("sin", math.sin),
            ("sinh", math.sinh),
            ("tan", math.tan),
            ("tanh", math.tanh),
        )
    ),
    entry("cbrt", "double -> double", cbrt),
    entry("degrees", "double -> double?", real(lambda x: x * (180 / math.pi))),
    entry("radians", "double -> double", lambda x: x * (math.pi / 180) + 0.0),
    entry("atan2", "double, double -> double", lambda y, x: math.atan2(y + 0.0, x + 0.0) + 0.0),
    entry("hypot", "double, double -> double?", real(math.hypot)),
    entry("ln", "double -> double?", ln),
    entry("log", "double, [double] -> double?", log),
    entry("log10", "double -> double?", lambda x: math.log10(x) if x > 0 else None),
    entry("log2", "double -> double?", lambda x: math.log2(x) if x > 0 else None),
    entry("log1p", "double -> double?", log1p),
    entry("rint", "double -> double", rint),
    entry("sign signum", "number -> double", sign),
    entry("e", "-> double", lambda: math.e),
    entry("pi", "-> double", lambda: math.pi),
    entry("factorial", "int -> int?", factorial),
    entry("bround", "number, [int] -> same!", bround),
    entry("positive", "number -> same", lambda x: x),
    entry("negative", "number -> same", lambda x: -x + 0 if isinstance(x, float) else -x),
    entry("pmod", "number, number -> widest?", pmod),
    entry("int_div", "exact, exact -> int?!", div),
    entry("conv", "string, int, int -> string?!", conv),
    entry("bin", "long -> string", binary),
    entry("hex", "any -> string", hexadecimal),
    entry("width_bucket", "double, double, double, long -> int?", width_bucket),
    entry("try_add", "number, number -> widest?", attempt(plus)),
    entry("try_subtract", "number, number -> widest?", attempt(lambda a, b: plus(a, -b))),
    entry("try_multiply", "number, number -> widest?", attempt(times), result=_times),
    entry("try_divide", "number, number -> double?", quotient),
    entry("try_mod", "number, number -> widest?", attempt(remainder)),
)
