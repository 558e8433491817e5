"""Text to statements; the only file that knows the parser library.

SELECTs are parsed by the library in the Spark dialect and rewritten into our own tree;
CREATE STREAM, CREATE TABLE and CREATE TYPE are not SQL that it knows, and are read from its
tokens. A lifting function, [f: Ring](x), is made one name before the parser sees it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token as RawToken
from sqlglot.tokenizer_core import TokenType

from freshview.calculus.clock import CLOCK
from freshview.depth import deep
from freshview.errors import FreshviewError, Place, SyntaxProblem, UnsupportedSql
from freshview.sql.ddl.cursor import Cursor
from freshview.sql.ddl.relations import create_relation, create_type
from freshview.sql.ddl.view_clauses import column_names, view_clauses
from freshview.sql.parse.changes import FIRST_WORDS, Reader, read_change
from freshview.sql.parse.create_function import create_function
from freshview.sql.parse.functions import KEPT, WORDED
from freshview.sql.parse.node import Grammar, Node
from freshview.sql.parse.scalars import scalar
from freshview.sql.parse.selects import select
from freshview.sql.parse.spellings import respelled
from freshview.sql.parse.syntax import syntax_problem
from freshview.sql.parse.table_calls import PlacedCall, find_table_calls
from freshview.sql.parse.window_words import window_words
from freshview.sql.parse.windows import find_window
from freshview.sql.script import Script, Token
from freshview.sql.statements import CreateRelation, CreateView, Statement
from freshview.sql.terms import Select

GRAMMAR = Grammar(scalar, select)


class _Parser(SparkParser):
    """The library's parser, which leaves our functions as written, and notes how calls are."""

    FUNCTIONS = {k: v for k, v in SparkParser.FUNCTIONS.items() if k not in KEPT}  # noqa: RUF012
    FUNCTION_PARSERS = {  # noqa: RUF012
        k: v for k, v in SparkParser.FUNCTION_PARSERS.items() if k not in KEPT or k in WORDED
    }

    def _parse_function_call(self, *args: Any, **kwargs: Any) -> Any:
        token = self._curr
        call = super()._parse_function_call(*args, **kwargs)
        if call is not None and token is not None:
            call.meta.setdefault("written", token.text)
            call.meta.setdefault("start", token.start)
        return call


@deep
def parse(text: str, file: str = "<text>") -> list[Statement]:
    """The statements of a script, in order.

    >>> [type(s).__name__ for s in parse("CREATE STREAM r (a INT); SELECT a FROM r;")]
    ['CreateRelation', 'CreateView']
    """
    return [statement for statement, _, _ in parse_with_ends(text, file)]


@deep
def parse_with_ends(text: str, file: str = "<text>") -> list[tuple[Statement, int, int]]:
    """The statements of a script, each with the offsets where it begins and ends."""
    if not isinstance(text, str):
        raise SyntaxProblem(f"SQL is a text, not {text!r}", instead="decode it first")
    script = Script(text, file)
    try:
        raw = _whole_texts(list(Dialect.get_or_raise("spark").tokenize(text)), text)
    except TokenError as error:
        at = script.place(_unclosed(text))
        raise SyntaxProblem("the text cannot be read", instead="close the quote", at=at) from error
    _check_names(raw, script)
    script.tokens = [_token(t, script) for t in raw]
    statements: list[tuple[Statement, int, int]] = []
    start = 0
    for end in range(len(raw) + 1):
        if end == len(raw) or raw[end].token_type == TokenType.SEMICOLON:
            if end > start:
                tokens = script.tokens[start:end]
                calls = find_table_calls(tokens)
                words = _named(raw[start:end], calls)
                tokens = [_token(t, script) for t in words] if calls else tokens
                statement = _with_calls(_statement(words, tokens, script), calls)
                statements.append((statement, raw[start].start, raw[end - 1].end + 1))
            start = end + 1
    return statements


def _named(raw: list[RawToken], calls: Sequence[PlacedCall]) -> list[RawToken]:
    """The tokens with each call of a table function as one name."""
    out: list[RawToken] = []
    done = 0
    for placed in calls:
        first, last = raw[placed.begin], raw[placed.end - 1]
        place = (first.line, first.col, first.start, last.end)
        out += [*raw[done : placed.begin], RawToken(TokenType.IDENTIFIER, placed.call.name, *place)]
        done = placed.end
    return [*out, *raw[done:]]


def _with_calls(statement: Statement, calls: Sequence[PlacedCall]) -> Statement:
    if not calls:
        return statement
    if not isinstance(statement, CreateView):
        raise UnsupportedSql(
            f"{calls[0].call.function}() is not supported in a statement that is no view",
            instead="declare a view of it, and read that",
            at=calls[0].call.at,
        )
    return replace(statement, calls=tuple({p.call.name: p.call for p in calls}.values()))


def _whole_texts(raw: list[RawToken], text: str) -> list[RawToken]:
    """The tokens with 'it''s' as one text: a quote that stands twice is part of it, as in Spark."""
    out: list[RawToken] = []
    for token in raw:
        last = out[-1] if out else token
        touching = out and last.end + 1 == token.start and text[last.end] == text[token.start]
        if touching and last.token_type == token.token_type == TokenType.STRING:
            whole = last.text + text[token.start] + token.text
            out[-1] = RawToken(TokenType.STRING, whole, last.line, last.col, last.start, token.end)
        else:
            out.append(token)
    return out


_CLOSED = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|--[^\n]*|/\*.*?\*/|[^'"`]""", re.DOTALL)


def _unclosed(text: str) -> int:
    """The offset of the first quote that nothing closes."""
    position = 0
    while match := _CLOSED.match(text, position):
        position = match.end()
    return min(position, max(0, len(text) - 1))


def _first(error: Exception) -> str:
    return str(error).splitlines()[0]


def _token(raw: RawToken, script: Script) -> Token:
    kinds = {TokenType.STRING: "string", TokenType.NUMBER: "number"}
    word = raw.text[:1].isalpha() or raw.text[:1] == "_" or raw.token_type == TokenType.IDENTIFIER
    kind = kinds.get(raw.token_type, "word" if word else "sign")
    return Token(kind, raw.text, raw.start, script.place(raw.start))


def _statement(raw: list[RawToken], tokens: list[Token], script: Script) -> Statement:
    cursor = Cursor(tokens)
    at = cursor.peek().at
    try:
        if cursor.peek().word in FIRST_WORDS:
            return read_change(Reader(cursor, partial(_part, raw, script)))
        if not cursor.accept("CREATE"):
            return CreateView(None, (), _select(raw, script, at), at)
        replaces = cursor.accept("OR", "REPLACE") or cursor.accept("OR", "REFRESH")
        cursor.accept("GLOBAL")
        cursor.accept("TEMP") or cursor.accept("TEMPORARY") or cursor.accept("EXTERNAL")
        if cursor.peek().word in ("STREAM", "TABLE", "STREAMING"):
            static = not (cursor.accept("STREAMING") or cursor.accept("STREAM"))
            cursor.accept("TABLE")
            return replace(create_relation(cursor, static=static), replaces=replaces)
        if cursor.accept("CLOCK"):
            return CreateRelation(CLOCK, None, at, if_missing=True)
        if cursor.accept("TYPE"):
            return create_type(cursor)
        if cursor.accept("FUNCTION"):
            reader = Reader(cursor, partial(_part, raw, script))
            return create_function(reader, at, replaces=replaces)
        factorized = cursor.accept("FACTORIZED")
        if not factorized:
            cursor.accept("MATERIALIZED")
        if cursor.accept("VIEW"):
            view = _view(raw, cursor, script)
            return replace(view, factorized=factorized, replaces=replaces)
    except FreshviewError as error:
        raise error.located(at) from None
    raise UnsupportedSql(
        f"CREATE {cursor.peek().text} is not supported",
        instead="write CREATE STREAM, CREATE TABLE, CREATE TYPE or CREATE [FACTORIZED] VIEW",
        at=cursor.peek().at,
    )


def _view(raw: list[RawToken], cursor: Cursor, script: Script) -> CreateView:
    if_missing = cursor.accept("IF", "NOT", "EXISTS")
    at = cursor.peek().at
    name = cursor.path()
    columns, comments = column_names(cursor) if cursor.peek().text == "(" else ((), ())
    clauses, policy = view_clauses(cursor)
    ignored = tuple(dict.fromkeys((*comments, *clauses)))
    begin = cursor.expect("AS")
    if cursor.index >= len(raw):
        raise SyntaxProblem(f"view '{name}' has no query", instead="write SELECT", at=begin.at)
    query = _select(raw[cursor.index :], script, at)
    view = CreateView(name, columns, query, at, if_missing=if_missing, ignored=ignored)
    return replace(view, policy=policy)


_QUERIES = frozenset(
    {
        *(TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.VALUES),
        TokenType.FROM,
    }
)
"""With what a query begins."""


def _select(raw: list[RawToken], script: Script, at: Place) -> Select:
    words = {t.token_type for t in raw[:1]}
    if not words & _QUERIES:
        raise UnsupportedSql(
            f"{raw[0].text} is not supported",
            instead="write CREATE STREAM, CREATE TABLE, CREATE VIEW or SELECT",
            at=script.place(raw[0].start),
        )
    final = [t.text.upper() for t in raw[-2:]] == ["EMIT", "FINAL"]
    raw = raw[:-2] if final else raw
    tokens = [_token(t, script) for t in raw]
    end, window = find_window(tokens)
    raw = raw[:end]
    _check_lists(raw, script)
    try:
        parser = _Parser(dialect=Dialect.get_or_raise("spark"))
        trees = parser.parse(_windowed(respelled(raw, script)), script.text)
    except ParseError as error:
        raise _syntax(error, script, tokens) from None
    if len(trees) != 1 or trees[0] is None:
        raise SyntaxProblem("there is no statement here", at=at)
    script.note_starts(trees[0])
    query = select(Node(trees[0], script, GRAMMAR, at))
    return replace(query, window=window, final=final) if final or window else query


def _part(raw: list[RawToken], script: Script, start: int, end: int, head: str) -> Select:
    """The SELECT of some tokens of a statement, behind the words of a head."""
    first = raw[start]
    place = (first.line, first.col, first.start, first.end)
    kinds = {"SELECT": TokenType.SELECT, "*": TokenType.STAR, "FROM": TokenType.FROM}
    words = [RawToken(kinds[word], word, *place) for word in head.split()]
    return _select([*words, *raw[start:end]], script, script.place(first.start))


def _check_names(raw: list[RawToken], script: Script) -> None:
    """Names and texts are valid Unicode, and no name has the character that ends one in Arrow."""
    for token in raw:
        if token.token_type != TokenType.STRING and "\0" in token.text:
            what, instead = "a name has the character NUL in it", "choose another name"
        elif any("\ud800" <= c <= "\udfff" for c in token.text):
            what, instead = "half of a surrogate pair is not a character", "leave it out"
        else:
            continue
        raise SyntaxProblem(what, instead=instead, at=script.place(token.start))


_AFTER_A_LIST = frozenset(
    {
        *(TokenType.COMMA, TokenType.R_PAREN, TokenType.FROM, TokenType.WHERE),
        *(TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.HAVING),
    }
)


def _check_lists(raw: list[RawToken], script: Script) -> None:
    """A list does not end with a comma, nor is it empty behind SELECT: the library lets it."""
    for before, here, following in zip([None, *raw], raw, [*raw[1:], None], strict=False):
        ends = following is None or following.token_type in _AFTER_A_LIST
        if ends and here.token_type == TokenType.COMMA:
            what, instead = (
                "nothing stands behind this comma",
                "leave it out, or name what is missing",
            )
        elif ends and _selects(before, here):
            what, instead = "SELECT lists no columns", "name them"
        else:
            continue
        raise SyntaxProblem(what, instead=instead, at=script.place(here.start))


def _selects(before: RawToken | None, here: RawToken) -> bool:
    """Whether columns come next: behind SELECT, or SELECT DISTINCT."""
    if here.token_type == TokenType.DISTINCT and before is not None:
        here = before
    return here.token_type == TokenType.SELECT


_SIGNS = {",": TokenType.COMMA, "(": TokenType.L_PAREN, ")": TokenType.R_PAREN}


def _windowed(raw: list[RawToken]) -> list[RawToken]:
    """The tokens with windows of time as calls that the library reads."""
    return [
        _instead(raw[i], _SIGNS.get(text, TokenType.VAR), text) if text else raw[i]
        for i, text in window_words([t.text for t in raw])
    ]


def _instead(token: RawToken, kind: TokenType, text: str) -> RawToken:
    return RawToken(kind, text, token.line, token.col, token.start, token.end)


def _syntax(error: ParseError, script: Script, tokens: list[Token]) -> SyntaxProblem:
    """The library's first error, with the place where the offending word begins."""
    info = error.errors[0] if error.errors else {}
    description = str(info.get("description") or _first(error))
    word = str(info.get("highlight") or "")
    line, column = int(info.get("line") or 0), int(info.get("col") or 0)
    place = Place(script.file, line, max(1, column - len(word) + 1))
    return syntax_problem(description, word, place, tokens)
