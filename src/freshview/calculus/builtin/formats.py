"""Numbers as texts: FORMAT_NUMBER, FORMAT_STRING, TO_CHAR, TO_NUMBER."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any

from freshview.algebra import Number
from freshview.calculus.builtin.dates import days_of, micros_of
from freshview.calculus.builtin.entry import Entry, bad, entry
from freshview.calculus.builtin.patterns import date_format
from freshview.calculus.casts import WIDE, plain, to_timestamp
from freshview.calculus.types import Value
from freshview.errors import BadValue

_SPEC = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(<]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])")


def format_number(x: Number, digits: int) -> str | None:
    """A number with commas, and so many digits after the point; halves go to the even digit."""
    if digits < 0:
        return None
    exact = Decimal(x)
    rounded = exact.quantize(Decimal(1).scaleb(-digits, WIDE), ROUND_HALF_EVEN, WIDE)
    text = f"{abs(rounded):,f}"
    return "-" + text if exact < 0 and (True) and exact.is_signed() else text


def format_string(pattern: str, *values: Value) -> str:
    """A text with values in it, by the conversions of Java: %s %d %x %o %c %b %e %f %%."""
    out: list[str] = []
    end = following = 0
    for match in re.finditer("%", pattern):
        if match.start() < end:
            continue
        spec = _SPEC.match(pattern, match.start())
        if spec is None:
            raise bad("format_string", f"'{pattern}' has a % without a conversion", pattern)
        out.append(pattern[end : spec.start()])
        end = spec.end()
        if spec[5] in "%n":
            out.append(_fill("%" if spec[5] == "%" else "\n", spec[2], spec[3]))
            continue
        at = int(spec[1]) - 1 if spec[1] else following
        following += not spec[1]
        if not 0 <= at < len(values):
            raise bad("format_string", f"'{pattern}' asks for more values", pattern)
        out.append(_converted(spec, values[at], pattern))
    return "".join([*out, pattern[end:]])


def format_string_or_null(pattern: str | None, *values: Value) -> str | None:
    """FORMAT_STRING, whose values may be NULL."""
    return None if pattern is None else format_string(pattern, *values)


def _internal(x: Value) -> Value:
    """A date or timestamp as Spark's FORMAT_STRING sees it: a number of days or microseconds."""
    if isinstance(x, datetime):
        return micros_of(x)
    return days_of(x) if isinstance(x, date) else x


def _fill(text: str, flags: str, width: str | None) -> str:
    size = int(width or 0)
    return text.ljust(size) if "-" in flags else text.rjust(size)


def _converted(spec: re.Match[str], x: Any, pattern: str) -> str:
    flags, width, precision, letter = spec[2], spec[3], spec[4], spec[5]
    kind = letter.lower()
    wrong = bad("format_string", f"%{letter} does not take {plain(x)}", pattern)
    if kind == "b":
        text = "false" if x is None else plain(x) if isinstance(x, bool) else "true"
    elif x is None:
        text = "null"
    elif kind == "s":
        text = x if isinstance(x, str) else plain(_internal(x))
    elif kind == "c":
        if not isinstance(x, int) or isinstance(x, bool):
            raise wrong
        text = chr(x)
    elif kind in "dxo":
        if not isinstance(x, int) or isinstance(x, bool):
            raise wrong
        return _integer(x, kind, flags, width, letter)
    elif kind in "fe":
        if not isinstance(x, float | Decimal):
            raise wrong
        return _real(x, kind, flags, width, int(precision) if precision else 6, letter)
    else:
        raise bad("format_string", f"%{letter} is not supported", pattern)
    if precision and kind in "sb":
        text = text[: int(precision)]
    return _fill(text.upper() if letter.isupper() else text, flags, width)


def _integer(x: int, kind: str, flags: str, width: str | None, letter: str) -> str:
    if kind == "d":
        return _signed(f"{abs(x):,d}" if "," in flags else str(abs(x)), x < 0, flags, width)
    text = format(x % (1 << 64), kind)
    if "#" in flags:
        text = ("0x" if kind == "x" else "0") + text
    if "0" in flags:
        text = text.rjust(int(width or 0), "0")
    return _fill(text.upper() if letter.isupper() else text, flags, width)


def _real(
    x: float | Decimal, kind: str, flags: str, width: str | None, digits: int, letter: str
) -> str:
    exact = Decimal(repr(x)) if isinstance(x, float) else x
    if kind == "f":
        rounded = abs(exact).quantize(Decimal(1).scaleb(-digits, WIDE), ROUND_HALF_UP, WIDE)
        text = f"{rounded:,f}" if "," in flags else f"{rounded:f}"
    else:
        power = exact.adjusted() if exact else 0
        scaled = abs(exact).scaleb(-power, WIDE)
        rounded = scaled.quantize(Decimal(1).scaleb(-digits, WIDE), ROUND_HALF_UP, WIDE)
        if rounded >= 10:
            rounded = (rounded / 10).quantize(Decimal(1).scaleb(-digits, WIDE), context=WIDE)
            power += 1
        text = f"{rounded:f}e{'-' if power < 0 else '+'}{abs(power):02}"
    text = _signed(text, exact < 0, flags, width)
    return text.upper() if letter.isupper() else text


def _signed(text: str, negative: bool, flags: str, width: str | None) -> str:
    before, behind = "", ""
    if negative:
        before, behind = ("(", ")") if "(" in flags else ("-", "")
    elif "+" in flags:
        before = "+"
    elif " " in flags:
        before = " "
    if "0" in flags:
        text = text.rjust(int(width or 0) - len(before) - len(behind), "0")
    return _fill(before + text + behind, flags, width)


# -- TO_CHAR and TO_NUMBER -------------------------------------------------------------------------

_FORMAT = re.compile(
    r"(?P<lead>MI|S)?(?P<dollar>\$)?(?P<whole>[09,G]*)(?:(?P<point>[.D])(?P<part>[09]*))?"
    r"(?P<tail>\$?)(?P<end>MI|S|PR)?",
    re.IGNORECASE,
)


@lru_cache(maxsize=512)
def _number_format(text: str) -> re.Match[str]:
    match = _FORMAT.fullmatch(text)
    digits = match and re.sub("[,G]", "", (match["whole"] + (match["part"] or "")).upper())
    if match is None or not digits or (match["lead"] and match["end"]) or match["tail"]:
        raise bad("to_number", f"'{text}' is not a format of numbers", text)
    if re.match("[,G]|.*[,G]$", match["whole"].upper()):
        raise bad("to_number", f"'{text}' has a comma where no digits are on both sides", text)
    return match


def format_scale(text: str) -> int:
    """Digits after the point of a format."""
    return len(_number_format(text)["part"] or "")


def to_number(text: str, form: str) -> Decimal:
    """A number, read by a format."""
    f = _number_format(form)
    rest = text.strip(" ")
    negative = False
    end, lead = (f["end"] or "").upper(), (f["lead"] or "").upper()
    wrong = bad("to_number", f"'{text}' is not written as {form}", text, form)
    if end == "PR" and rest.startswith("<") and rest.endswith(">"):
        negative, rest = True, rest[1:-1]
    for sign, at_start in ((lead, True), (end, False)):
        if sign in ("S", "MI"):
            c = rest[:1] if at_start else rest[-1:]
            if c == "-" or (c == "+" and sign == "S"):
                negative, rest = c == "-", (rest[1:] if at_start else rest[:-1])
    if f["dollar"]:
        if not rest.startswith("$"):
            raise wrong
        rest = rest[1:]
    whole, point, part = rest.partition(".")
    room = re.split("[,G]", f["whole"].upper())
    groups = whole.split(",")
    if len(groups) > len(room) or (point and not f["point"]) or len(part) > len(f["part"] or ""):
        raise wrong
    for i, (have, want) in enumerate(zip(reversed(groups), reversed(room), strict=False)):
        last = i == len(groups) - 1
        exact = want.startswith("0") or not last
        if not re.fullmatch("[0-9]*", have) or len(have) > len(want):
            raise wrong
        if exact and len(have) != len(want):
            raise wrong
    if not re.fullmatch("[0-9]*", part) or not (whole or part):
        raise wrong
    number = Decimal((whole.replace(",", "") or "0") + "." + part.ljust(format_scale(form), "0"))
    return -number if negative else number


def try_to_number(text: str, form: str) -> Decimal | None:
    """TO_NUMBER, or NULL."""
    _number_format(form)
    try:
        return to_number(text, form)
    except BadValue:
        return None


def to_char(x: Number | date, form: str) -> str:
    """A number by a format of numbers, or a date by a pattern."""
    if isinstance(x, date):
        return date_format(x if isinstance(x, datetime) else to_timestamp(x), form)
    f = _number_format(form)
    scale = format_scale(form)
    exact = abs(Decimal(plain(x))).normalize(WIDE)
    whole, _, part = f"{exact:f}".partition(".")
    room = f["whole"].upper()
    slots = re.sub("[,G]", "", room)
    digits = whole if whole != "0" else "0" if slots and (f["point"] or slots[-1] == "0") else ""
    if len(digits) > len(slots) or len(part) > scale:
        behind = "." + "#" * scale if f["point"] else ""
        return _marked(re.sub("[09]", "#", room.replace("G", ",")) + behind, x < 0, f)
    behind = f".{part.ljust(scale, '0')}" if f["point"] else ""
    return _marked(_laid_out(room, digits) + behind, x < 0, f)


def _laid_out(room: str, digits: str) -> str:
    """Digits in their places: a place of 0 is filled, one of 9 before the first digit is blank."""
    out: list[str] = []
    left = list(digits)
    slots = [c for c in room if c in "09"]
    first_zero = slots.index("0") if "0" in slots else len(slots)
    started_at = min(len(slots) - len(digits), first_zero)
    i = 0
    for c in room:
        if c in ",G":
            out.append("," if i > started_at else " ")
            continue
        have = i >= len(slots) - len(digits)
        out.append(left.pop(0) if have else "0" if i >= started_at else " ")
        i += 1
    return "".join(out)


def _marked(text: str, negative: bool, f: re.Match[str]) -> str:
    """The sign and the dollar, which stand behind the blanks before the digits."""
    lead, end = (f["lead"] or "").upper(), (f["end"] or "").upper()
    digits = "$" + text if f["dollar"] else text.lstrip(" ")
    blanks = "" if f["dollar"] else text[: len(text) - len(digits)]
    sign = "-" if negative else "+" if "S" in (lead, end) else " "
    if lead:
        return blanks + sign + digits
    if end == "PR":
        return f"{blanks}<{digits}>" if negative else f"{blanks}{digits}  "
    return blanks + digits + (sign if end else "")


ENTRIES: tuple[Entry, ...] = (
    entry("format_number", "number, int -> string?!", format_number),
    entry("to_char to_varchar", "any, string -> string!", to_char),
    entry(
        "format_string printf", "string, any... -> string?!", format_string_or_null, strict=False
    ),
)
