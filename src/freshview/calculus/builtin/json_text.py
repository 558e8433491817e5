"""Texts that are JSON: what GET_JSON_OBJECT takes out of them, as Spark does.

Texts may stand between single quotes, and what stands behind the value is not looked at. Of equal
names the first counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from freshview.calculus.builtin.entry import Entry, entry
from freshview.calculus.casts import show_double

DEEPEST = 1000
"""Levels of arrays and objects: a text with more is none."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written out."""

    text: str


@dataclass(frozen=True, slots=True)
class Fields:
    """An object: its names with their values."""

    pairs: tuple[tuple[str, Json], ...]


Json: TypeAlias = Fields | tuple["Json", ...] | str | Number | bool | None
Step: TypeAlias = str | int | None
"""A name, an index, or None for all of an array."""

_BLANK = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?(?![\w.])", re.ASCII)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"(?:true|false|null)(?!\w)")
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "/": "/", "\\": "\\"}
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|(\[\*\])|\['([^'?]+)'\]")
_SPECIAL = re.compile(r'["\\\x00-\x1f\U00010000-\U0010ffff]')
_WRITTEN = {'"': '\\"', "\\": "\\\\", **{c: f"\\{n}" for n, c in _ESCAPED.items() if n in "bfnrt"}}


class _Reader:
    """A text as a value, from its beginning; ValueError where it is none."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def value(self, depth: int = 0) -> Json:
        """The value that begins here."""
        first = self.next()
        if depth > DEEPEST:
            raise ValueError(self.at)
        if first == "{":
            return Fields(tuple(self._fields(depth + 1)))
        if first == "[":
            return tuple(self._items(depth + 1))
        if first in _PLAIN:
            return self._text()
        match = _NUMBER.match(self.text, self.at) or _WORD.match(self.text, self.at)
        if match is None:
            raise ValueError(self.at)
        self.at = match.end()
        if match[0] in _WORDS:
            return _WORDS[match[0]]
        return Number(show_double(float(match[0])) if match[1] or match[2] else str(int(match[0])))

    def next(self) -> str:
        """The sign that comes next; empty at the end."""
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.text[self.at : self.at + 1]

    def _take(self, signs: str) -> str:
        sign = self.next()
        if not sign or sign not in signs:
            raise ValueError(self.at)
        self.at += 1
        return sign

    def _items(self, depth: int) -> Iterator[Json]:
        self._take("[")
        if self.next() == "]":
            self.at += 1
            return
        while True:
            yield self.value(depth)
            if self._take(",]") == "]":
                return

    def _fields(self, depth: int) -> Iterator[tuple[str, Json]]:
        self._take("{")
        if self.next() == "}":
            self.at += 1
            return
        while True:
            if self.next() not in _PLAIN:
                raise ValueError(self.at)
            name = self._text()
            self._take(":")
            yield name, self.value(depth)
            if self._take(",}") == "}":
                return

    def _text(self) -> str:
        quote = self._take("\"'")
        parts: list[str] = []
        while True:
            plain = _PLAIN[quote].match(self.text, self.at)
            assert plain is not None
            parts.append(plain[0])
            self.at = plain.end() + 1
            sign = self.text[plain.end() : self.at]
            if sign == quote:
                break
            if not sign:
                raise ValueError(self.at)
            parts.append(self._escape(quote))
        return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16")

    def _escape(self, quote: str) -> str:
        sign = self.text[self.at : self.at + 1]
        self.at += 1
        if sign == "u":
            digits = self.text[self.at : self.at + 4]
            self.at += 4
            if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                raise ValueError(self.at)
            return chr(int(digits, 16))
        if sign == '"' or sign == quote:
            return sign
        if sign not in _ESCAPED:
            raise ValueError(self.at)
        return _ESCAPED[sign]


def read(text: str) -> Json:
    """A text as a value.

    >>> read('[1, 2.50, "x"]')
    (Number(text='1'), Number(text='2.5'), 'x')
    """
    return _Reader(text).value()


def show(value: Json) -> str:
    """A value as text, without blanks."""
    match value:
        case Number(text):
            return text
        case str():
            return f'"{_SPECIAL.sub(_quoted, value)}"'
        case Fields(pairs):
            return "{" + ",".join(f"{show(name)}:{show(x)}" for name, x in pairs) + "}"
        case tuple():
            return "[" + ",".join(map(show, value)) + "]"
        case _:
            return {True: "true", False: "false", None: "null"}[value]


def _quoted(match: re.Match[str]) -> str:
    if match[0] in _WRITTEN:
        return _WRITTEN[match[0]]
    halves = match[0].encode("utf-16-be")
    units = (halves[i : i + 2].hex().upper() for i in range(0, len(halves), 2))
    return "".join(f"\\u{unit}" for unit in units)


@lru_cache(maxsize=256)
def steps(path: str) -> tuple[Step, ...] | None:
    """The steps of a path like $.a[0]['b'][*]; None where it is none."""
    if not path.startswith("$"):
        return None
    at, out = 1, list[Step]()
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or match[1] == "*":
            return None
        name, index, every, quoted = match.groups()
        out.append(None if every else int(index) if index else name or quoted)
        at = match.end()
    return tuple(out)


def get_json_object(text: str, path: str) -> str | None:
    """What stands at a path, as text; NULL where nothing does, or where it is null.

    >>> get_json_object('{"a": [{"b": 1}, {"b": 2}]}', "$.a[*].b")
    '[1,2]'
    """
    wanted = steps(path)
    if wanted is None:
        return None
    try:
        value = read(text)
    except (ValueError, RecursionError):
        return None
    matches = _at(value, wanted, "raw")
    return ",".join(matches) if matches else None


def _at(value: Json, path: tuple[Step, ...], style: str) -> list[str]:
    """What stands at a path: raw texts are plain, flat arrays are open."""
    if not path:
        if style == "raw" and isinstance(value, str):
            return [value]
        if style == "flat" and isinstance(value, tuple):
            return [text for x in value for text in _at(x, (), style)]
        return [show(value)]
    step, rest = path[0], path[1:]
    if isinstance(value, Fields) and isinstance(step, str):
        inner = next((x for name, x in value.pairs if name == step), None)
        return [] if inner is None else _at(inner, rest, style)
    if not isinstance(value, tuple) or isinstance(step, str):
        return []
    if step is None:
        return _every(value, rest, style)
    if step >= len(value):
        return []
    return _at(value[step], rest, "quoted" if rest[:1] == (None,) else style)


def _every(value: tuple[Json, ...], rest: tuple[Step, ...], style: str) -> list[str]:
    """All of an array: one match stands alone unless it is quoted."""
    if rest[:1] == (None,):
        texts = [text for x in value for text in _at(x, rest[1:], "flat")]
        return [f"[{','.join(texts)}]"] if texts else []
    inner = "quoted" if style == "raw" else style
    matches = [texts for x in value if (texts := _at(x, rest, inner))]
    whole = ",".join(text for texts in matches for text in texts)
    if not matches:
        return []
    return [whole if len(matches) == 1 and style != "quoted" else f"[{whole}]"]


def json_array_length(text: str) -> int | None:
    """How many items an array has; NULL of anything else."""
    try:
        value = read(text)
    except (ValueError, RecursionError):
        return None
    return len(value) if isinstance(value, tuple) else None


ENTRIES: tuple[Entry, ...] = (
    entry("get_json_object", "string, string -> string?", get_json_object),
    entry("json_array_length", "string -> int?", json_array_length),
)
