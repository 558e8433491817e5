"""What the parser cannot read, in the words of the user."""

from __future__ import annotations

import re
from collections.abc import Sequence

from freshview.errors import Place, SyntaxProblem
from freshview.sql.script import Token

_TOO_MANY = re.compile(r"The number of provided arguments \((\d+)\) is greater .* \((\d+)\)")
_MISSING = re.compile(r"Required keyword: '\w+' missing")
_UNEXPECTED = "Invalid expression / Unexpected token"


def syntax_problem(
    description: str, word: str, at: Place, tokens: Sequence[Token]
) -> SyntaxProblem:
    """The parser's description of a problem near a word, as a user can read it."""
    called = _called(tokens, at)
    if called and (many := _TOO_MANY.match(description)):
        count, most = many.groups()
        what = f"{called} takes at most {most} arguments, {count} are given"
        return SyntaxProblem(what, instead="give it the right number", at=at)
    if _MISSING.match(description):
        if called:
            what = f"an argument of {called} is missing"
            return SyntaxProblem(what, instead="give it the right number", at=at)
        description = "something is missing here"
    if description.startswith(_UNEXPECTED):
        description = "it is not expected here"
    where = f" near '{word}'" if word else ""
    what = description.split(" for <class")[0].split(" but got <Token")[0]
    return SyntaxProblem(f"the SQL cannot be read{where}: {what}", at=at)


def _called(tokens: Sequence[Token], at: Place) -> str:
    """The function whose parenthesis closes here."""
    depth = 0
    last = next((i for i, t in enumerate(tokens) if t.at == at), 0)
    for i in range(last, 0, -1):
        depth += (tokens[i].word == ")") - (tokens[i].word == "(")
        if depth == 0:
            before = tokens[i - 1]
            return before.word if before.kind == "word" and i < last else ""
    return ""
