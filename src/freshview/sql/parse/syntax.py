"""What the parser cannot read, in the words of the user."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from freshview.errors import Place, SyntaxProblem
from freshview.sql.script import Script

_TOO_MANY = re.compile(r"The number of provided arguments \((\d+)\) is greater .* \((\d+)\)")
_MISSING = re.compile(r"Required keyword: '\w+' missing")
_UNEXPECTED = "Invalid expression / Unexpected token"


def syntax_problem(error: ParseError, script: Script, raw: Sequence[Token]) -> SyntaxProblem:
    """The library's first error, with the place where the offending word begins."""
    info = error.errors[0] if error.errors else {}
    description = str(info.get("description") or str(error).split("\n")[0])
    word = str(info.get("highlight") or "")
    line, column = int(info.get("line") or 0), int(info.get("col") or 0)
    place = Place(script.file, line, max(1, column - len(word) + 1))
    called = _called(raw, line, column)
    if (many := _TOO_MANY.match(description)) and called:
        given, most = many.groups()
        what = f"{called} takes at most {most} arguments, {given} are given"
        return SyntaxProblem(what, instead="give it the right number", at=place)
    if _MISSING.match(description):
        if called:
            what = f"an argument of {called} is missing"
            return SyntaxProblem(what, instead="give it the right number", at=place)
        description = "something is missing here"
    if description.startswith(_UNEXPECTED):
        description = "it is not expected here"
    where = f" near '{word}'" if word else ""
    what = description.split(" for <class")[0].split(" but got <Token")[0]
    return SyntaxProblem(f"the SQL cannot be read{where}: {what}", at=place)


def _called(raw: Sequence[Token], line: int, column: int) -> str:
    """The function whose parenthesis closes here."""
    ends = [i for i, t in enumerate(raw) if (t.line, t.col) == (line, column)]
    if not ends or raw[ends[0]].token_type != TokenType.R_PAREN:
        return ""
    depth = 0
    for i in range(ends[0], 0, -1):
        kind = raw[i].token_type
        depth += (kind == TokenType.R_PAREN) - (kind == TokenType.L_PAREN)
        if depth == 0:
            name = raw[i - 1].text
            return name.upper() if re.fullmatch(r"\w+", name) else ""
    return ""
