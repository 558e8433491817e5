"""Calls of table functions in FROM that work on signals: `FROM fir(readings, period => 5) f`.

A call is made one name before the parser sees it, as a lifting function is. That name is the call
itself, written in one way, so equal calls are one relation; who runs the script declares it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freshview.errors import SyntaxProblem
from freshview.sql.ddl.cursor import Cursor, shown
from freshview.sql.script import Token
from freshview.sql.statements import Argument, TableCall

TABLE_FUNCTIONS = frozenset(
    (
        *("sample", "interpolate", "resample", "fir", "iir", "correlate", "ema", "moving"),
        *("zscore", "fft", "real_fft", "psd", "autocorrelation", "gaps", "sessions"),
    )
)
_CLAUSES = frozenset({"SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "ON"})
_BEFORE = frozenset({"FROM", "JOIN", ","})


@dataclass(frozen=True, slots=True)
class PlacedCall:
    """A call, and the tokens of it: those from `begin` up to, not including, `end`."""

    call: TableCall
    begin: int
    end: int


def find_table_calls(tokens: Sequence[Token]) -> list[PlacedCall]:
    """The calls of table functions of a statement, in order."""
    calls: list[PlacedCall] = []
    clauses = [""]
    at = 0
    while at < len(tokens):
        word = tokens[at].word
        is_source = clauses[-1] == "FROM" and tokens[at - 1].word in _BEFORE
        if is_source and word.lower() in TABLE_FUNCTIONS and _opens(tokens, at + 1):
            cursor = Cursor(list(tokens))
            cursor.index = at
            calls.append(PlacedCall(_call(cursor), at, cursor.index))
            at = cursor.index
            continue
        if word == "(":
            clauses.append("")
        elif word == ")" and len(clauses) > 1:
            clauses.pop()
        elif word == "JOIN":
            clauses[-1] = "FROM"
        elif word in _CLAUSES:
            clauses[-1] = word
        at += 1
    return calls


def _opens(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].text == "("


def _call(cursor: Cursor) -> TableCall:
    """Function ( relation, name => value, ... )."""
    first = cursor.next()
    cursor.expect("(")
    relation = cursor.path()
    arguments: dict[str, Argument] = {}
    while not cursor.accept(")"):
        cursor.expect(",")
        token = cursor.peek()
        name = cursor.name().lower()
        if not cursor.accept("=>"):
            raise SyntaxProblem(
                f"the arguments of {first.text} have names",
                instead="write name => value after the relation",
                at=token.at,
            )
        if name in arguments:
            raise SyntaxProblem(f"'{name}' is given twice", instead="give it once", at=token.at)
        arguments[name] = _value(cursor)
    if not arguments:
        raise SyntaxProblem(
            f"{first.text} has no arguments", instead="write name => value", at=first.at
        )
    return TableCall(first.text.lower(), relation, tuple(sorted(arguments.items())), first.at)


def _value(cursor: Cursor) -> Argument:
    if not cursor.accept("("):
        return _one(cursor)
    values = [_one(cursor)]
    while not cursor.accept(")"):
        cursor.expect(",")
        values.append(_one(cursor))
    return tuple(values)


def _one(cursor: Cursor) -> int | float | str:
    sign = -1 if cursor.accept("-") else 1
    token = cursor.next()
    if token.kind == "number":
        try:
            return sign * int(token.text)
        except ValueError:
            return sign * float(token.text)
    if token.kind in ("string", "word") and sign > 0:
        return token.text
    raise SyntaxProblem(
        f"expected a number, a name or a text but found {shown(token)}",
        instead="lists are written in parentheses: (0.5, 0.25)",
        at=token.at,
    )
