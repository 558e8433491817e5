"""Functions of texts, as Spark SQL has them."""

from __future__ import annotations

import hashlib
from base64 import b32encode, b64encode
from collections.abc import Callable

from freshview.calculus.builtin.entry import Entry, bad, entry
from freshview.calculus.scalars import substring
from freshview.calculus.types import Value
from freshview.errors import BadValue

BLANKS = " "


def ascii_code(text: str) -> int:
    """The number of the first character, 0 of an empty text."""
    return ord(text[0]) if text else 0


def character(code: int) -> str:
    """The character of a number modulo 256; none of a negative one."""
    return "" if code < 0 else chr(code % 256)


def stripped(side: Callable[[str, str], str]) -> Callable[..., str]:
    """A text without blanks, or without any of the characters given."""
    return lambda text, characters=BLANKS: side(text, characters) if characters else text


def one_sided(side: Callable[[str, str], str]) -> Callable[..., str]:
    """LTRIM or RTRIM of a text, or of characters and a text."""
    return lambda first, text=None: side(first, BLANKS) if text is None else side(text, first)


LONGEST = 1 << 26
"""Characters of a text that a number makes long: a larger number is refused, not obeyed."""


def pad(text: str, length: int, filling: str, *, left: bool) -> str:
    """The text cut or filled to a length."""
    if length <= len(text) or not filling:
        return text[: max(length, 0)]
    if length > LONGEST:
        name = "lpad" if left else "rpad"
        raise bad(name, f"{length} characters are too long a text", text, length, filling)
    missing = length - len(text)
    filler = (filling * (missing // len(filling) + 1))[:missing]
    return filler + text if left else text + filler


def concat_ws(separator: str | None, *parts: str | None) -> str | None:
    """The parts that are not NULL, with the separator between them; NULL if that is."""
    return None if separator is None else separator.join(p for p in parts if p is not None)


def elt(number: int, *choices: Value) -> Value:
    """The choice of a number."""
    if not 1 <= number <= len(choices):
        raise bad("elt", f"there is no choice {number} of {len(choices)}", number)
    return choices[number - 1]


def elt_or_null(number: int | None, *choices: Value) -> Value:
    """ELT, whose other choices may be NULL."""
    return None if number is None else elt(number, *choices)


def find_in_set(text: str, choices: str) -> int:
    """Where a text stands in a list with commas, from 1; 0 if it does not or has a comma."""
    parts = choices.split(",")
    return parts.index(text) + 1 if "," not in text and text in parts else 0


def initcap(text: str) -> str:
    """Every word of the text, after a blank, in lower case with a first letter in upper case."""
    return " ".join(word[:1].title() + word[1:].lower() for word in text.lower().split(" "))


def locate(part: str | None, text: str | None, start: int | None = 1) -> int | None:
    """Where a part stands in a text, from 1, at `start` or later; 0 if it does not."""
    if part is None or text is None:
        return None
    if start is None or start < 1:
        return 0
    return text.find(part, start - 1) + 1 if part else 1


def levenshtein(a: str, b: str, threshold: int | None = None) -> int:
    """How many characters must be changed, put in or taken out; -1 beyond the threshold."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return -1 if threshold is not None and row[-1] > threshold else row[-1]


def left(text: str, length: int) -> str:
    """The first characters."""
    return text[: max(length, 0)]


def right(text: str, length: int) -> str:
    """The last characters."""
    return text[-length:] if length > 0 else ""


def overlay(text: str, put: str, start: int, length: int = -1) -> str:
    """The text with a part replaced: `length` characters from `start` on, or as many as are put."""
    size = length if length >= 0 else len(put)
    return substring(text, 1, start - 1) + put + substring(text, start + size)


def repeat(text: str, times: int) -> str:
    """The text several times."""
    if times > 0 and len(text) * times > LONGEST:
        raise bad("repeat", f"{times} times is too long a text", text, times)
    return text * max(times, 0)


def replace(text: str, part: str, by: str = "") -> str:
    """The text with every occurrence of a part replaced; an empty part is never found."""
    return text.replace(part, by) if part else text


def _sounds() -> dict[str, str]:
    groups = {"1": "BFPV", "2": "CGJKQSXZ", "3": "DT", "4": "L", "5": "MN", "6": "R", "7": "HW"}
    return {letter: digit for digit, letters in groups.items() for letter in letters}


_SOUNDS = _sounds()


def soundex(text: str) -> str:
    """The code of how a word sounds; a text that begins with no letter of ASCII stays as it is."""
    if not text[:1].isascii() or not text[:1].isalpha():
        return text
    upper = (
        text.upper() if text.isascii() else "".join(c.upper() if c.isascii() else c for c in text)
    )
    code, last = upper[0], _SOUNDS.get(upper[0], "0")
    for letter in upper[1:]:
        if len(code) == 4:
            break
        if not ("A" <= letter <= "Z"):
            last = "0"
            continue
        digit = _SOUNDS.get(letter, "0")
        if digit == "7":  # H and W do not part equal sounds
            continue
        if digit not in ("0", last):
            code += digit
        last = digit
    return code.ljust(4, "0")


def split_part(text: str, delimiter: str, number: int) -> str:
    """The part of a number, from the end if it is negative; an empty text where there is none."""
    if number == 0:
        raise bad("split_part", "parts are counted from 1", number)
    parts = text.split(delimiter) if delimiter else [text]
    return parts[number - (number > 0)] if -len(parts) <= number - (number > 0) < len(parts) else ""


def substring_index(text: str, delimiter: str, count: int) -> str:
    """What stands before the delimiter of a number, or behind it if that is negative."""
    if not count or not delimiter or not text:
        return ""
    at = -1
    if count > 0:
        for _ in range(count):
            at = text.find(delimiter, at + 1)
            if at < 0:
                return text
        return text[:at]
    at = len(text) - len(delimiter) + 1
    for _ in range(-count):
        at = text.rfind(delimiter, 0, max(at - 1 + len(delimiter), 0)) if at > 0 else -1
        if at < 0:
            return text
    return text[at + len(delimiter) :]


def translate(text: str, old: str, new: str) -> str:
    """The text with each character of `old` replaced by that of `new`, or left out."""
    table: dict[int, str | None] = {}
    for i, c in enumerate(old):
        table.setdefault(ord(c), new[i] if i < len(new) else None)
    return text.translate(table)


def mask(
    text: str | None,
    upper: str | None = "X",
    lower: str | None = "x",
    digit: str | None = "n",
    other: str | None = None,
) -> str | None:
    """The text with its letters and digits hidden; what is hidden by NULL stays."""
    if text is None:
        return None
    for sign in (upper, lower, digit, other):
        if sign is not None and len(sign) != 1:
            raise bad("mask", f"'{sign}' is not one character", sign)
    out = []
    for c in text:
        by = upper if c.isupper() else lower if c.islower() else digit if c.isdecimal() else other
        out.append(c if by is None else by)
    return "".join(out)


def luhn_check(text: str) -> bool:
    """Whether the digits are a number with a good check digit."""
    if not text or not text.isascii() or not text.isdigit():
        return False
    total = 0
    for i, c in enumerate(reversed(text)):
        n = int(c) * (1 + i % 2)
        total += n - 9 if n > 9 else n
    return total % 10 == 0


def quote(text: str) -> str:
    """The text in quotes, those in it behind a backslash."""
    return "'" + text.replace("'", "\\'") + "'"


def jaro_winkler(a: str, b: str) -> float:
    """How alike two texts are: 1 if equal, 0 if no character is common."""
    if a == b:
        return 1.0
    reach = max(len(a), len(b)) // 2 - 1
    matched, common = [False] * len(b), list[str]()
    for i, x in enumerate(a):
        for j in range(max(0, i - reach), min(len(b), i + reach + 1)):
            if not matched[j] and b[j] == x:
                matched[j] = True
                common.append(x)
                break
    if not common:
        return 0.0
    other = [y for y, both in zip(b, matched, strict=True) if both]
    swaps = sum(x != y for x, y in zip(common, other, strict=True)) / 2
    m = len(common)
    jaro = (m / len(a) + m / len(b) + (m - swaps) / m) / 3
    prefix = 0
    for x, y in zip(a[:4], b[:4], strict=False):
        if x != y:
            break
        prefix += 1
    return jaro + prefix * 0.1 * (1 - jaro)


def octets(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text.encode())


def base64(text: str) -> str:
    """The bytes of a text in base 64."""
    return b64encode(text.encode()).decode()


def base32(text: str) -> str:
    """The bytes of a text in base 32."""
    return b32encode(text.encode()).decode()


def upper(text: str) -> str:
    """The text in upper case."""
    return text.upper()


def digest(name: str) -> Callable[[str], str]:
    """A hash of the bytes of a text, in hexadecimal digits."""
    return lambda text: hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest()


def _same(text: str) -> str:
    return text


def raise_error(message: str | None) -> str:
    """RAISE_ERROR: no row has an answer."""
    raise BadValue(message or "RAISE_ERROR was asked", instead="correct the row", values=(message,))


ENTRIES: tuple[Entry, ...] = (
    entry("raise_error", "string -> string!", raise_error, strict=False),
    entry("ascii", "string -> int", ascii_code),
    entry("chr char", "long -> string", character),
    entry("base64", "string -> string", base64),
    entry("to_base32", "string -> string", base32),
    entry("bit_length", "string -> int", lambda text: 8 * octets(text)),
    entry("octet_length", "string -> int", octets),
    entry("btrim", "string, [string] -> string", stripped(str.strip)),
    entry("ltrim", "string, [string] -> string", one_sided(lambda x, y: x.lstrip(y) if y else x)),
    entry("rtrim", "string, [string] -> string", one_sided(lambda x, y: x.rstrip(y) if y else x)),
    entry("concat_ws", "string... -> string?", concat_ws, strict=False),
    entry("contains", "string, string -> bool", lambda text, part: part in text),
    entry("startswith", "string, string -> bool", str.startswith),
    entry("endswith", "string, string -> bool", str.endswith),
    entry("elt", "int, string, string... -> string?!", elt_or_null, strict=False),
    entry("find_in_set", "string, string -> int", find_in_set),
    entry("initcap", "string -> string", initcap),
    entry("instr", "string, string -> int", lambda text, part: text.find(part) + 1),
    entry("locate position", "string, string, [int] -> int?", locate, strict=False),
    entry("is_valid_utf8", "string -> bool", lambda _: True),
    entry("make_valid_utf8", "string -> string", _same),
    entry("validate_utf8", "string -> string", _same),
    entry("try_validate_utf8", "string -> string", _same),
    entry("left", "string, int -> string", left),
    entry("right", "string, int -> string", right),
    entry("levenshtein", "string, string, [int] -> int", levenshtein),
    entry("jaro_winkler_similarity", "string, string -> double", jaro_winkler),
    entry("lpad", "string, int, [string] -> string!", lambda t, n, f=" ": pad(t, n, f, left=True)),
    entry("rpad", "string, int, [string] -> string!", lambda t, n, f=" ": pad(t, n, f, left=False)),
    entry("luhn_check", "string -> bool", luhn_check),
    entry("mask", "string, [string], [string], [string], [string] -> string?!", mask, strict=False),
    entry("overlay", "string, string, int, [int] -> string", overlay),
    entry("quote", "string -> string", quote),
    entry("repeat", "string, int -> string!", repeat),
    entry("replace", "string, string, [string] -> string", replace),
    entry("reverse", "string -> string", lambda text: text[::-1]),
    entry("soundex", "string -> string", soundex),
    entry("space", "int -> string!", lambda n: repeat(" ", n)),
    entry("split_part", "string, string, int -> string!", split_part),
    entry("substring_index", "string, string, int -> string", substring_index),
    entry("translate", "string, string, string -> string", translate),
    entry("md5", "string -> string", digest("md5")),
    entry("sha1 sha", "string -> string", digest("sha1")),
)
