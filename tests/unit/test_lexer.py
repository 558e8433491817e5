"""Tokens and their places, and a cursor over them."""

from __future__ import annotations

import re

import pytest

from freshview.errors import SyntaxProblem
from freshview.lexer import END, Cursor, tokenize

PATTERN = re.compile(r"(?P<space>\s+)|(?P<name>\w+)|(?P<string>'[^']*')|(?P<sign>:=|[;+])")


def cursor(text: str) -> Cursor:
    return Cursor(tokenize(text, PATTERN, "f"))


def statement(text: str) -> None:
    c = cursor(text)
    c.next()
    c.expect(";")


def test_cursor_moves_over_what_it_accepts() -> None:
    c = cursor("a := b;")
    assert c.next().text == "a"
    assert not c.accept("+")
    assert c.accept(":=")
    assert c.peek(1).text == ";"
    assert c.next().text == "b"
    assert c.expect(";").place.column == 7
    assert c.peek().kind == c.next().kind == c.peek(3).kind == END


def test_a_literal_is_no_keyword() -> None:
    c = cursor("'+'")
    assert not c.accept("'+'")
    assert c.next().kind == "string"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a\n  ?", "f:2:3: cannot read '[?]'"),
        ("a\n b", "f:2:2: expected ';' but found 'b'"),
        ("a", "f:1:2: expected ';' but found 'the end of the text'"),
    ],
)
def test_complaints_tell_the_place(text: str, complaint: str) -> None:
    with pytest.raises(SyntaxProblem, match=complaint):
        statement(text)
