"""Long text over several lines: the one pretty-printer of terms, programs and listings.

A `Document` is text that stands on one line where it fits, and the pieces that it is broken into
where it does not (Wadler, A prettier printer). Each language says where its text may be broken;
`lay_out` decides where it is. For terms, the text of `show` says it: `break_lines` keeps its tokens
and changes its white space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, assert_never

from freshview.calculus.terms import Expr
from freshview.calculus.text import show

WIDTH = 100
STEP = 2

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|`(?:[^`]|``)*`|[(\[{]|[)\]}]| [-+*] |[^'`(\[{)\]} ]+|.", re.DOTALL
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9.$]*|`(?:[^`]|``)*`")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


def show_term(e: Expr, indent: int = 0, width: int = WIDTH) -> str:
    """A term as text that `read` takes back, broken where a line would pass `width`.

    The first line is meant to stand at column `indent`; no other begins left of it.

    >>> from freshview.calculus.text import read
    >>> print(show_term(read("Sum[a](R(a, b) * S(b, c) * {c < 3}) + U(a)"), width=24))
    Sum[a](
        R(a, b) * S(b, c) *
        {c < 3})
    + U(a)
    """
    return break_lines(show(e), indent, width)


def break_lines(text: str, indent: int = 0, width: int = WIDTH) -> str:
    """The text of a term, or of something written like one, over several lines if it is long.

    The text is read once: what it takes grows with its length, not with that times its depth.
    """
    if indent + len(text) <= width:
        return text
    return lay_out(_document(_bracketed(text)), indent, indent, width)


class Flat(Protocol):
    """Text on one line, which may be put together only when it is asked for."""

    def __len__(self) -> int: ...
    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class NewLine:
    """A new line that begins `shift` to the right of where its document stands."""

    shift: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """Text on one line, and what it is broken into: pieces one after the other, or factors."""

    flat: Flat
    broken: Callable[[], Iterable[DocumentPart] | SideBySide]


@dataclass(frozen=True, slots=True)
class Indented:
    """A document inside another: where its lines begin, and where its first line stands."""

    inner: Document
    shift: int
    first: int


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Documents side by side while they fit, with ` * ` in between."""

    parts: list[Document]


DocumentPart: TypeAlias = str | NewLine | Indented


def lay_out(what: Document, indent: int, column: int, width: int = WIDTH) -> str:
    """The text of a document that begins at `column` of its line, later lines at `indent`.

    >>> words = Document("one two", lambda: ("one", NewLine(2), "two"))
    >>> print(lay_out(words, 0, 0))
    one two
    >>> print(lay_out(words, 0, 96))
    one
      two
    """
    if column + len(what.flat) <= width:
        return str(what.flat)
    pieces = what.broken()
    if isinstance(pieces, SideBySide):
        texts = [lay_out(part, indent, indent, width) for part in pieces.parts]
        return _side_by_side(texts, indent, width)
    text = ""
    for piece in pieces:
        match piece:
            case str():
                text += piece
            case NewLine(shift):
                text += "\n" + " " * (indent + shift)
            case Indented(inner, shift, first):
                text += lay_out(inner, indent + shift, indent + first, width)
            case _:
                assert_never(piece)
    return text


def _side_by_side(parts: list[str], indent: int, width: int) -> str:
    """Factors on one line while they fit; one that was broken itself stands alone."""
    lines = [parts[0]]
    for part in parts[1:]:
        line = f"{lines[-1]} * {part}"
        if "\n" in line or indent + len(line) + 2 > width:
            lines.append(part)
        else:
            lines[-1] = line
    return f" *\n{' ' * indent}".join(lines)


def after_head(head: str, text: str, column: int, indent: int, *, opened: bool = True) -> str:
    """The text of a term behind its head, with room for what ends the statement.

    It stands on the same line if it fits there. So does its first line, if that only opens a
    bracket, unless `opened` is off; else the term begins on a line of its own, at `indent`.
    """
    if column + len(head) + 1 + len(text) < WIDTH:
        return f"{head} {text}"
    lines = break_lines(text, indent)
    first = lines.split("\n", 1)[0]
    if opened and first.endswith("(") and column + len(head) + len(first) < WIDTH:
        return f"{head} {lines}"
    return f"{head}\n{' ' * indent}{lines}"


@dataclass(slots=True)
class _Run:
    """Tokens and bracketed runs one after the other, and how long their text is."""

    items: list[str | _Run] = field(default_factory=list)
    length: int = 0

    def add(self, item: str | _Run) -> None:
        self.items.append(item)
        self.length += len(item)

    def __len__(self) -> int:
        return self.length

    def __str__(self) -> str:
        return "".join(map(str, self.items))


def _bracketed(text: str) -> _Run:
    """Text as a run; a run in brackets has these as its first and its last token."""
    runs = [_Run()]
    for token in _TOKEN.findall(text):
        if token in _OPENING:
            runs.append(_Run())
            runs[-1].add(token)
        elif token in _CLOSING and len(runs) > 1:
            inner = runs.pop()
            inner.add(token)
            runs[-1].add(inner)
        else:
            runs[-1].add(token)
    while len(runs) > 1:  # a bracket that nothing closes
        inner = runs.pop()
        runs[-1].add(inner)
    return runs[0]


def _document(run: _Run) -> Document:
    return Document(run, lambda: _broken(run))


def _broken(run: _Run) -> Iterable[DocumentPart] | SideBySide:
    """Summands on lines of their own; factors side by side; else the body of an atom."""
    signs, parts = _split(run, "+-")
    if signs:
        pieces: list[DocumentPart] = [_indented(parts[0], STEP)]
        for sign, part in zip(signs, parts[1:], strict=True):
            pieces += [NewLine(), f"{sign} ", _indented(part, STEP)]
        return pieces
    signs, parts = _split(run, "*")
    if signs:
        return SideBySide([_document(part) for part in parts])
    return _open(run)


def _indented(run: _Run, by: int) -> Indented:
    return Indented(_document(run), by, by)


def _open(run: _Run) -> Iterable[DocumentPart]:
    """Break inside the last brackets of an atom: Sum[..](body), (x := body), Exists(body)."""
    last = run.items[-1] if run.items else ""
    if isinstance(last, str):
        return (str(run),)
    first, *inside, close = last.items
    head, bound = "".join(map(str, run.items[:-1])) + str(first), _binding(inside)
    body = _Run()
    for item in inside[bound:]:
        body.add(item)
    if bound:
        head += "".join(map(str, inside[:bound])).rstrip()
    elif len(run.items) == 1:
        return head, _indented(body, 1), str(close)
    is_list = bool(body.items) and isinstance(body.items[-1], str)
    if is_list and not any(_split(body, signs)[0] for signs in ("+-", "*")):
        return (str(run),)  # nothing to break but a list of names
    return head, NewLine(STEP), _indented(body, STEP), str(close)


def _binding(items: list[str | _Run]) -> int:
    """How many of the tokens are `x := `, with which an assignment begins."""
    match items[:4]:
        case [str(name), " ", ":=", " "] if _NAME.fullmatch(name):
            return 4
    return 0


def _split(run: _Run, signs: str) -> tuple[list[str], list[_Run]]:
    """The operators outside of all brackets, and what stands between them."""
    operators: list[str] = []
    parts = [_Run()]
    for item in run.items:
        if isinstance(item, str) and len(item) == 3 and item[0] == item[2] == " ":
            if item[1] in signs:
                operators.append(item[1])
                parts.append(_Run())
                continue
        parts[-1].add(item)
    return operators, parts
