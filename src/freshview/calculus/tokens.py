"""The tokens of terms and programs, and a cursor over them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from freshview.lexer import Cursor, Token, tokenize, unexpected

T = TypeVar("T")

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
"""Kinds of tokens that are names."""


class Tokens(Cursor):
    """A cursor over the tokens of a text; the readers of terms and of programs share it."""

    def __init__(self, text: str, file: str = "<text>") -> None:
        super().__init__(map(_without_quotes, tokenize(text, _TOKEN, file)))

    def name(self) -> str:
        """Take a name."""
        token = self.next()
        if token.kind not in NAMES:
            raise unexpected(token, "a name")
        return token.text

    def names(self, close: str) -> tuple[str, ...]:
        """Take names separated by commas, up to and with the closing sign."""
        return self.list_of(Tokens.name, close)

    def list_of(self, item: Callable[[Tokens], T], close: str) -> tuple[T, ...]:
        """Take items separated by commas, up to and with the closing sign."""
        items: list[T] = []
        while not self.accept(close):
            if items:
                self.expect(",")
            items.append(item(self))
        return tuple(items)


def _without_quotes(token: Token) -> Token:
    """A token whose text is the name that is quoted."""
    if token.kind != "quoted":
        return token
    return replace(token, text=token.text[1:-1].replace("``", "`"))
