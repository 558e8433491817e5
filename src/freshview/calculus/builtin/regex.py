"""Regular expressions as Java has them, on the engine of Python."""

from __future__ import annotations

import re
from functools import lru_cache

from freshview.calculus.builtin.entry import Entry, bad, entry
from freshview.calculus.scalars import like_parts

_CLASSES = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\\x00-\\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": "!-/:-@\\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": " \\t",
    "Cntrl": "\\x00-\\x1f\\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": " \\t\\n\\x0b\\f\\r",
}
_ENDS = "\n\r\u0085\u2028\u2029"
_HORIZONTAL = " \\t\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000"


@lru_cache(maxsize=512)
def pattern_of(text: str) -> re.Pattern[str]:
    r"""A pattern of Java as one of Python; what Python has no word for is refused.

    >>> pattern_of(r"(?<y>\d{4})\p{Alpha}+").pattern
    '(?P<y>\\d{4})[a-zA-Z]+'
    """
    try:
        return re.compile(_translated(text), re.ASCII)
    except (re.error, OverflowError) as e:
        raise bad("regexp", f"'{text}' is not a pattern: {e}", text) from None


def _translated(text: str) -> str:
    out: list[str] = []
    i, depth, dot_all = 0, 0, False
    while i < len(text):
        c = text[i]
        if c == "\\":
            piece, i = _escaped(text, i + 1, depth > 0)
            out.append(piece)
            continue
        i += 1
        if depth:
            if c == "[" and not text.startswith("^", i):  # a class in a class is a part of it
                depth += 1
                continue
            if c == "[":
                raise bad("regexp", f"'{text}' has a class that is left out of a class", text)
            if text.startswith("&&", i - 1):
                raise bad("regexp", f"'{text}' has an intersection of classes", text)
            depth -= c == "]"
            out.append(c if c != "]" or not depth else "")
        elif c == "[":
            depth = 1
            start = "[^" if text.startswith("^", i) else "["
            i += len(start) - 1
            out.append(start)
        elif c == "(" and text.startswith("?", i):
            if re.match(r"\?<[a-zA-Z]", text[i:]):
                out.append("(?P")
                i += 1
            else:
                flags = re.match(r"\?([a-zA-Z]*)(-[a-zA-Z]*)?[:)]", text[i:])
                dot_all |= bool(flags and "s" in flags[1])
                out.append(c)
        elif c == "." and not dot_all:
            out.append(f"[^{_ENDS}]")
        elif c == "$":
            out.append(f"(?=(?:\\r\\n|[{_ENDS}])?\\Z)")
        else:
            out.append(c)
    return "".join(out)


def _escaped(text: str, i: int, in_class: bool) -> tuple[str, int]:
    """What stands behind a backslash, and where to go on."""
    if i == len(text):
        raise bad("regexp", f"'{text}' ends with a backslash", text)
    c = text[i]
    if c == "Q":
        end = text.find("\\E", i)
        end = len(text) if end < 0 else end
        return re.escape(text[i + 1 : end]), end + 2
    if c in "pP":
        name = re.match(r"\{(\w+)\}|(\w)", text[i + 1 :])
        inside = name and (
            _CLASSES.get(name[1] or "") or {"L": "^\\W\\d_"}.get(name[2] or name[1] or "")
        )
        if name is None or not inside or inside.startswith("^"):
            raise bad("regexp", f"'{text}' names a class that is not supported", text)
        shown = inside if in_class and c == "p" else f"[{'^' * (c == 'P')}{inside}]"
        return shown, i + 1 + len(name[0])
    if c == "h":
        return (_HORIZONTAL if in_class else f"[{_HORIZONTAL}]"), i + 1
    if c == "R":
        return "(?:\\r\\n|[\\n\\x0b\\f\\r\\u0085\\u2028\\u2029])", i + 1
    if c == "z":
        return "\\Z", i + 1
    if c == "Z":
        return f"(?=(?:\\r\\n|[{_ENDS}])?\\Z)", i + 1
    if c == "e":
        return "\\x1b", i + 1
    if c == "k":
        name = re.match(r"<(\w+)>", text[i + 1 :])
        if name:
            return f"(?P={name[1]})", i + 1 + len(name[0])
    if c in "GXNVHvc0":
        raise bad("regexp", f"'{text}' has \\{c}, which is not supported", text)
    if c == "s":
        return (" \\t\\n\\x0b\\f\\r" if in_class else "[ \\t\\n\\x0b\\f\\r]"), i + 1
    return "\\" + c, i + 1


def rlike(text: str, pattern: str) -> bool:
    """Whether a pattern matches anywhere in a text."""
    return pattern_of(pattern).search(text) is not None


def ilike(text: str, pattern: str, escape: str = "\\") -> bool:
    """LIKE that takes upper and lower case for the same."""
    if len(escape) != 1:
        raise bad("ilike", f"'{escape}' is not one character", escape)
    parts = like_parts(pattern.lower(), escape)
    shown = "".join(".*" if c == "" else "." if c is None else re.escape(c) for c in parts)
    return re.fullmatch(shown, text.lower(), re.DOTALL) is not None


def extract(text: str, pattern: str, group: int = 1) -> str:
    """A group of the first match; an empty text where there is none."""
    match = pattern_of(pattern).search(text)
    if match is None:
        return ""
    if not 0 <= group <= match.re.groups:
        raise bad("regexp_extract", f"the pattern has no group {group}", group)
    return match[group] or ""


def substr(text: str, pattern: str) -> str | None:
    """The first match, or NULL where it is empty or there is none."""
    match = pattern_of(pattern).search(text)
    return match[0] or None if match else None


def count(text: str, pattern: str) -> int:
    """How often a pattern matches."""
    return sum(1 for _ in pattern_of(pattern).finditer(text))


def instr(text: str, pattern: str, group: int = 0) -> int:
    """Where the first match begins, from 1; 0 if there is none."""
    match = pattern_of(pattern).search(text)
    return match.start() + 1 if match else 0


def replace(text: str, pattern: str, by: str, start: int = 1) -> str:
    r"""Every match from a place on replaced; in what is put, $1 is a group and \\$ a dollar."""
    if start < 1:
        raise bad("regexp_replace", "places are counted from 1", start)
    compiled = pattern_of(pattern)
    pieces = _replacement(by, compiled)

    def put(match: re.Match[str]) -> str:
        return "".join(p if isinstance(p, str) else match[p] or "" for p in pieces)

    head = text[: start - 1]
    return head + compiled.sub(put, text[start - 1 :])


def split(text: str, pattern: str, limit: int = -1) -> list[str]:
    """A text cut at what a pattern matches, into at most `limit` parts if that is above 0.

    >>> split("a,b,,", ","), split("abc", ""), split("a1b22c", "[0-9]+", 2)
    (['a', 'b', '', ''], ['a', 'b', 'c'], ['a', 'b22c'])
    """
    if not pattern:
        parts = list(text) or [""]
        return parts if limit <= 0 else [*parts[: limit - 1], *filter(None, [text[limit - 1 :]])]
    parts, index = [], 0
    for match in pattern_of(pattern).finditer(text):
        if 0 < limit == len(parts) + 1:
            break
        if match.end() == 0:
            continue  # what is empty at the beginning cuts nothing off
        parts.append(text[index : match.start()])
        index = match.end()
    return [*parts, text[index:]]


def split_item(text: str, pattern: str, index: int, limit: int = -1) -> str:
    """SPLIT(text, pattern)[index], from 0."""
    parts = split(text, pattern, limit)
    if not 0 <= index < len(parts):
        raise bad("split", f"there is no [{index}] among {len(parts)} parts", text, index)
    return parts[index]


def split_element(text: str, pattern: str, number: int, limit: int = -1) -> str:
    """ELEMENT_AT(SPLIT(text, pattern), number), from 1, or from the end below 0."""
    parts = split(text, pattern, limit)
    if not 0 < abs(number) <= len(parts):
        what = f"there is no element {number} among {len(parts)} parts"
        raise bad("element_at", what, text, number)
    return parts[number - 1 if number > 0 else number]


def split_size(text: str, pattern: str, limit: int = -1) -> int:
    """SIZE(SPLIT(text, pattern))."""
    return len(split(text, pattern, limit))


def _replacement(by: str, compiled: re.Pattern[str]) -> list[str | int]:
    """A replacement of Java: texts, and the numbers of groups."""
    out: list[str | int] = []
    i = 0
    while i < len(by):
        c = by[i]
        if c == "\\":
            if i + 1 == len(by):
                raise bad("regexp_replace", f"'{by}' ends with a backslash", by)
            out.append(by[i + 1])
            i += 2
        elif c == "$":
            name = re.match(r"\{(\w+)\}", by[i + 1 :])
            if name:
                if name[1] not in compiled.groupindex:
                    raise bad("regexp_replace", f"there is no group {name[1]}", by)
                out.append(compiled.groupindex[name[1]])
                i += 1 + len(name[0])
                continue
            digits = re.match(r"\d+", by[i + 1 :], re.ASCII)
            if not digits:
                raise bad("regexp_replace", f"'{by}' has a $ without a group", by)
            size = 1
            while size < len(digits[0]) and int(digits[0][: size + 1]) <= compiled.groups:
                size += 1
            number = int(digits[0][:size])
            if number > compiled.groups:
                raise bad("regexp_replace", f"there is no group {number}", by)
            out.append(number)
            i += 1 + size
        else:
            out.append(c)
            i += 1
    return out


ENTRIES: tuple[Entry, ...] = (
    entry("split_item", "string, string, int, [int] -> string!", split_item),
    entry("split_element", "string, string, int, [int] -> string!", split_element),
    entry("split_size", "string, string, [int] -> int!", split_size),
    entry("rlike regexp regexp_like", "string, string -> bool!", rlike),
    entry("ilike", "string, string, [string] -> bool!", ilike),
    entry("regexp_extract", "string, string, [int] -> string!", extract),
    entry("regexp_substr", "string, string -> string?!", substr),
    entry("regexp_count", "string, string -> int!", count),
    entry("regexp_instr", "string, string, [int] -> int!", instr),
    entry("regexp_replace", "string, string, string, [int] -> string!", replace),
)
