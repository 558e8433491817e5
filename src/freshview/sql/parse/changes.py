"""Statements that change rows, drop or show what is declared; the queries in them are SELECTs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal as OneOf

from freshview.errors import Place, SyntaxProblem, UnsupportedSql
from freshview.sql.ddl.cursor import Cursor, shown
from freshview.sql.statements import (
    Assignments,
    Delete,
    Drop,
    Insert,
    Merge,
    MergeClause,
    RowChange,
    Show,
    Update,
)
from freshview.sql.terms import Aggregate, From, Item, Scalar, Select, Table
from freshview.sql.walk import inside

FIRST_WORDS = frozenset(
    ("INSERT", "UPDATE", "DELETE", "TRUNCATE", "MERGE", "DROP", "SHOW", "DESCRIBE", "DESC")
)
"""With what these statements begin."""


@dataclass(frozen=True)
class Reader:
    """The tokens of one statement, and how the SELECT of some of them is read.

    `select(start, end, head)` reads the tokens from `start` to `end` behind the words of `head`.
    """

    cursor: Cursor
    select: Callable[[int, int, str], Select]

    @property
    def at(self) -> Place:
        """Where the next token stands."""
        return self.cursor.peek().at

    @property
    def end(self) -> int:
        """Behind the last token."""
        return len(self.cursor.tokens)

    def until(self, *words: str) -> int:
        """Where one of these words stands next, outside of parentheses and CASE; else the end."""
        depth = 0
        for i in range(self.cursor.index, self.end):
            token = self.cursor.tokens[i]
            sign = "" if token.kind == "string" else token.text
            if depth == 0 and token.word in words:
                return i
            depth += (sign == "(" or token.word == "CASE") - (sign == ")" or token.word == "END")
        return self.end

    def values(self, end: int) -> tuple[Scalar, ...]:
        """The expressions from here to a token, separated by commas."""
        query = self.select(self._some(end), end, "SELECT")
        self.cursor.index = end
        values = []
        for item in query.items:
            if not isinstance(item, Item):
                raise UnsupportedSql("* as a value is not supported", at=item.at)
            values.append(item.expr)
        return tuple(values)

    def value(self, end: int) -> Scalar:
        """The one expression from here to a token."""
        at = self.at
        values = self.values(end)
        if len(values) != 1:
            raise SyntaxProblem("expected one expression", at=at)
        return values[0]

    def source(self, end: int) -> From:
        """What could stand in FROM, from here to a token."""
        query = self.select(self._some(end), end, "SELECT * FROM")
        self.cursor.index = end
        return query.sources[0]

    def target(self, end: int) -> Table:
        """The name of a table with its alias, from here to a token."""
        at = self.at
        source = self.source(end)
        if not isinstance(source, Table) or source.columns:
            raise SyntaxProblem("expected the name of a table", at=at)
        return source

    def finish(self) -> None:
        """Nothing stands behind the statement."""
        token = self.cursor.peek()
        if token.kind != "end":
            raise SyntaxProblem(f"expected the end but found {shown(token)}", at=token.at)

    def _some(self, end: int) -> int:
        if end <= self.cursor.index:
            token = self.cursor.peek()
            raise SyntaxProblem(f"expected an expression but found {shown(token)}", at=token.at)
        return self.cursor.index


def read_change(reader: Reader) -> RowChange | Drop | Show:
    """A statement that begins with one of `FIRST_WORDS`."""
    cursor, at = reader.cursor, reader.at
    first = cursor.next().word
    if first == "INSERT":
        return _insert(reader, at)
    if first == "UPDATE":
        table = reader.target(reader.until("SET"))
        cursor.expect("SET")
        return Update(table, _assignments(reader, ("WHERE",)), _where(reader), at)
    if first == "DELETE":
        cursor.expect("FROM")
        return Delete(reader.target(reader.until("WHERE")), _where(reader), at)
    if first == "TRUNCATE":
        cursor.accept("TABLE")
        return Delete(reader.target(reader.end), None, at)
    if first == "MERGE":
        return _merge(reader, at)
    return _drop(reader, at) if first == "DROP" else _show(reader, first, at)


def _where(reader: Reader) -> Scalar | None:
    if not reader.cursor.accept("WHERE"):
        reader.finish()
        return None
    return reader.value(reader.end)


def _assignments(reader: Reader, stops: tuple[str, ...]) -> Assignments:
    """Column = value, ..., up to one of these words."""
    pairs: list[tuple[str, Scalar]] = []
    while not pairs or reader.cursor.accept(","):
        name = _column(reader)
        reader.cursor.expect("=")
        pairs.append((name, _assigned(reader.value(reader.until(",", *stops)))))
    return tuple(pairs)


def _column(reader: Reader) -> str:
    """A column, with the name of its table or without."""
    name = reader.cursor.name()
    while reader.cursor.accept("."):
        name = reader.cursor.name()
    return name


def _assigned(e: Scalar) -> Scalar:
    """The value of a column, which is that of one row."""
    for x in inside(e):
        if isinstance(x, Aggregate):
            raise UnsupportedSql(
                f"{x.fn.upper()} is not allowed in SET", instead="write a subquery", at=x.at
            )
    return e


def _insert(reader: Reader, at: Place) -> Insert:
    cursor = reader.cursor
    overwrite = cursor.accept("OVERWRITE")
    if not overwrite:
        cursor.expect("INTO")
    cursor.accept("TABLE")
    name = cursor.path()
    columns: tuple[str, ...] = ()
    behind = cursor.tokens[cursor.index + 1 : cursor.index + 2]
    if cursor.peek().text == "(" and behind and behind[0].word not in ("SELECT", "WITH", "VALUES"):
        columns = cursor.names()
    if cursor.peek().kind == "end":
        raise SyntaxProblem("INSERT has no rows", instead="write VALUES or SELECT", at=at)
    return Insert(name, columns, reader.select(cursor.index, reader.end, ""), overwrite, at)


def _merge(reader: Reader, at: Place) -> Merge:
    cursor = reader.cursor
    cursor.expect("INTO")
    table = reader.target(reader.until("USING"))
    cursor.expect("USING")
    source = reader.source(reader.until("ON"))
    cursor.expect("ON")
    on = reader.value(reader.until("WHEN"))
    clauses = []
    while cursor.accept("WHEN"):
        clauses.append(_clause(reader))
    reader.finish()
    if not clauses:
        raise SyntaxProblem("MERGE does nothing", instead="write WHEN MATCHED THEN ...", at=at)
    return Merge(table, source, on, tuple(clauses), at)


def _clause(reader: Reader) -> MergeClause:
    cursor, at = reader.cursor, reader.at
    rows: OneOf["matched", "new", "unmatched"] = "matched"
    if cursor.accept("NOT"):
        rows = "new"
    cursor.expect("MATCHED")
    if rows == "new" and cursor.accept("BY"):
        if cursor.accept("SOURCE"):
            rows = "unmatched"
        else:
            cursor.expect("TARGET")
    when = reader.value(reader.until("THEN")) if cursor.accept("AND") else None
    cursor.expect("THEN")
    action = cursor.next()
    if action.word == "DELETE" and rows != "new":
        return MergeClause(rows, "delete", when, None, at)
    if action.word == "UPDATE" and rows != "new":
        cursor.expect("SET")
        assignments = None if cursor.accept("*") else _assignments(reader, ("WHEN",))
        return MergeClause(rows, "update", when, assignments, at)
    if action.word == "INSERT" and rows == "new":
        if cursor.accept("*"):
            return MergeClause(rows, "insert", when, None, at)
        return MergeClause(rows, "insert", when, _inserted(reader), at)
    instead = "INSERT" if rows == "new" else "UPDATE or DELETE"
    raise SyntaxProblem(
        f"{shown(action)} is no action of this WHEN", instead=f"write {instead}", at=action.at
    )


def _inserted(reader: Reader) -> Assignments:
    """(column, ...) VALUES (value, ...)."""
    cursor = reader.cursor
    columns = cursor.names()
    at = reader.at
    cursor.expect("VALUES")
    cursor.expect("(")
    values = reader.values(reader.until(")"))
    cursor.expect(")")
    if len(values) != len(columns):
        raise SyntaxProblem(f"{len(columns)} columns have {len(values)} values", at=at)
    return tuple(zip(columns, values, strict=True))


_DROPPED: dict[str, OneOf["VIEW", "TABLE", "STREAM", "FUNCTION"]] = {
    "FUNCTION": "FUNCTION",
    "VIEW": "VIEW",
    "TABLE": "TABLE",
    "STREAM": "STREAM",
}


def _drop(reader: Reader, at: Place) -> Drop:
    cursor = reader.cursor
    for word in ("MATERIALIZED", "FACTORIZED", "TEMPORARY", "TEMP"):
        cursor.accept(word)
    token = cursor.next()
    kind = _DROPPED.get(token.word)
    if kind is None:
        raise UnsupportedSql(
            f"DROP {token.text} is not supported",
            instead="write DROP VIEW, DROP TABLE, DROP STREAM or DROP FUNCTION",
            at=token.at,
        )
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.path()
    reader.finish()
    return Drop(kind, name, if_exists, at)


def _show(reader: Reader, first: str, at: Place) -> Show:
    cursor = reader.cursor
    if first in ("DESCRIBE", "DESC"):
        for word in ("TABLE", "EXTENDED", "FORMATTED"):
            cursor.accept(word)
        name = cursor.path()
        reader.finish()
        return Show("DESCRIBE", name, at)
    token = cursor.next()  # all that is behind SHOW is one token
    match token.text.upper().split():
        case ["TABLES"]:
            return Show("TABLES", "", at)
        case ["VIEWS"]:
            return Show("VIEWS", "", at)
        case ["COLUMNS", "IN" | "FROM", _]:
            return Show("COLUMNS", token.text.split()[-1].strip("`"), at)
    raise UnsupportedSql(
        f"SHOW {token.text.strip()} is not supported",
        instead="write SHOW TABLES, SHOW VIEWS, SHOW COLUMNS IN x or DESCRIBE x",
        at=token.at,
    )
