"""Text cut into tokens, and a cursor over them: what the readers of our languages share.

A language is a pattern of named groups: `space` is left out, every other group is a kind of token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from freshview.errors import Place, SyntaxProblem

END = "end"
"""The kind of the token after the last one."""

LITERALS = frozenset({"string", "quoted"})
"""Kinds of tokens that are never a keyword or a sign, whatever their text is."""


@dataclass(frozen=True, slots=True)
class Token:
    """A lexical unit with its place."""

    kind: str
    text: str
    place: Place


def tokenize(text: str, pattern: re.Pattern[str], file: str = "<text>") -> Iterator[Token]:
    r"""The tokens of a text, and one of the kind `end` after them.

    >>> words = re.compile(r"(?P<space>\s+)|(?P<name>\w+)|(?P<sign>[-+])")
    >>> [(t.kind, t.text, t.place.line, t.place.column) for t in tokenize("a +\n b", words)][1:3]
    [('sign', '+', 1, 3), ('name', 'b', 2, 2)]
    """
    position, line, start = 0, 1, 0
    while position < len(text):
        place = Place(file, line, position - start + 1)
        match = pattern.match(text, position)
        if match is None:
            raise SyntaxProblem(f"cannot read '{text[position]}'", at=place)
        if match.lastgroup != "space":
            yield Token(match.lastgroup or "", match.group(), place)
        newlines = match.group().count("\n")
        if newlines:
            line += newlines
            start = position + match.group().rindex("\n") + 1
        position = match.end()
    yield Token(END, "the end of the text", Place(file, line, position - start + 1))


class Cursor:
    """A place among the tokens of a text."""

    def __init__(self, tokens: Iterator[Token]) -> None:
        *self.items, self.end = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> Token:
        """The token to come."""
        i = self.at + ahead
        return self.items[i] if i < len(self.items) else self.end

    def next(self) -> Token:
        """The token to come; the cursor moves past it."""
        token = self.peek()
        self.at += 1
        return token

    def accept(self, text: str) -> bool:
        """Move past the next token if it is this keyword or sign."""
        token = self.peek()
        if token.text != text or token.kind in LITERALS:
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> Token:
        """The next token, which must be this keyword or sign."""
        token = self.peek()
        if not self.accept(text):
            raise unexpected(token, f"'{text}'")
        return token


def unexpected(token: Token, wanted: str) -> SyntaxProblem:
    """The error about a token where something else must stand."""
    return SyntaxProblem(f"expected {wanted} but found '{token.text}'", at=token.place)
