"""The tokens of terms and programs, and a cursor over them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from freshview.errors import Place, SyntaxProblem

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|--[^\n]*)
    | (?P<number>\d+\.\d*(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?)
    | (?P<string>'(?:[^']|'')*')
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<name>[A-Za-z_][A-Za-z_0-9.$]*(?:'(?=[\s()\[\]},;]|$))?)
    | (?P<sign>:=|\+=|<>|<=|>=|[-+*/(){}\[\],;:=<>?|.])
    """,
    re.VERBOSE,
)
NAMES = ("name", "quoted")
QUOTED = ("string", "quoted")
"""Kinds of tokens: those that are names, and those that are no keyword or sign."""


@dataclass(frozen=True, slots=True)
class Token:
    """A lexical unit with its place."""

    kind: str
    text: str
    place: Place


class Tokens:
    """A cursor over the tokens of a text; the readers of terms and of programs share it."""

    def __init__(self, text: str, file: str = "<text>") -> None:
        self.items: list[Token] = []
        self.at = 0
        position, line, start = 0, 1, 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            place = Place(file, line, position - start + 1)
            if match is None:
                raise SyntaxProblem(f"cannot read '{text[position]}'", at=place)
            kind = match.lastgroup or ""
            if kind == "quoted":
                self.items.append(Token(kind, match.group()[1:-1].replace("``", "`"), place))
            elif kind != "space":
                self.items.append(Token(kind, match.group(), place))
            newlines = match.group().count("\n")
            if newlines:
                line += newlines
                start = position + match.group().rindex("\n") + 1
            position = match.end()
        self.end = Token("end", "the end of the text", Place(file, line, position - start + 1))

    def peek(self, ahead: int = 0) -> Token:
        """The token to come."""
        i = self.at + ahead
        return self.items[i] if i < len(self.items) else self.end

    def next(self) -> Token:
        """The token to come, taken."""
        token = self.peek()
        self.at += 1
        return token

    def accept(self, text: str) -> bool:
        """Take the next token if it is this one."""
        if self.peek().text == text and self.peek().kind not in QUOTED:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        """Take the next token, which must be this one."""
        token = self.next()
        if token.text != text or token.kind in QUOTED:
            raise SyntaxProblem(f"expected '{text}' but found '{token.text}'", at=token.place)
        return token

    def name(self) -> str:
        """Take a name."""
        token = self.next()
        if token.kind not in NAMES:
            raise SyntaxProblem(f"expected a name but found '{token.text}'", at=token.place)
        return token.text

    def names(self, close: str) -> tuple[str, ...]:
        """Take names separated by commas, up to and with the closing sign."""
        names: list[str] = []
        while not self.accept(close):
            if names:
                self.expect(",")
            names.append(self.name())
        return tuple(names)
