"""CREATE STREAM and CREATE TABLE with DBToaster's FROM clauses, read by hand from tokens."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal

from freshview.calculus.casts import CASTS, MOST_DIGITS
from freshview.calculus.rows import conform
from freshview.calculus.schema import Column, EventTime, Relation
from freshview.calculus.types import Type, Value
from freshview.errors import (
    AmbiguousName,
    BadValue,
    Place,
    SyntaxProblem,
    TypeProblem,
    UnsupportedSql,
)
from freshview.sql.catalog import Source
from freshview.sql.ddl.cursor import Cursor, shown
from freshview.sql.ddl.sources import ClausePlaces, check_source
from freshview.sql.ddl.table_options import table_options
from freshview.sql.ddl.types import read_type, size_of
from freshview.sql.ddl.watermarks import read_watermark
from freshview.sql.script import Token
from freshview.sql.statements import CreateRelation, CreateType

KINDS = ("FILE", "SOCKET", "KAFKA", "PARQUET", "DELTA", "CSV", "JSON", "RATE", "PIPE")


@dataclass
class _Columns:
    """What the column list says, as it is read."""

    columns: list[Column]
    key: tuple[str, ...] = ()
    time: EventTime | None = None
    ignored: list[str] = field(default_factory=list)
    defaults: list[tuple[str, Value]] = field(default_factory=list)


def create_relation(cursor: Cursor, *, static: bool) -> CreateRelation:
    """The rest of CREATE STREAM or CREATE TABLE, from the name on."""
    if_missing = cursor.accept("IF", "NOT", "EXISTS")
    at = cursor.peek().at
    name = cursor.path()
    if cursor.peek().text != "(":
        _refuse_query(cursor)
    declared = _columns(cursor, static=static)
    options = table_options(cursor)
    relation = Relation(name, _typed(declared), static, declared.key, declared.time)
    relation = replace(relation, defaults=tuple(declared.defaults))
    source = options.source(relation, cursor.peek().at)
    if source is None and cursor.accept("FROM"):
        source = _source(cursor, relation)
    clauses = dict.fromkeys((*declared.ignored, *options.ignored))
    ignored = tuple(f"{clause} of '{name}' is ignored" for clause in clauses)
    relation = replace(relation, notes=ignored)
    rest = cursor.peek()
    if rest.kind != "end":
        raise UnsupportedSql(
            f"{shown(rest)} is not supported after a declaration",
            instead="write FROM and a source, or nothing",
            at=rest.at,
        )
    return CreateRelation(relation, source, at, if_missing)


def _refuse_query(cursor: Cursor) -> None:
    """CREATE TABLE x AS SELECT ... would be the rows of one moment."""
    for token in cursor.tokens[cursor.index :]:
        if token.word in ("AS", "LIKE", "CLONE"):
            raise UnsupportedSql(
                f"CREATE TABLE {token.word} is not supported",
                instead="write CREATE VIEW, which is kept up to date, or declare the columns",
                at=token.at,
            )


def create_type(cursor: Cursor) -> CreateType:
    """The rest of CREATE TYPE name FROM FILE 'ring.hpp', from the name on."""
    at = cursor.peek().at
    name = cursor.name()
    for word in ("FROM", "FILE"):
        token = cursor.next()
        if token.word != word:
            raise SyntaxProblem(
                f"expected FROM FILE and a C++ header but found {shown(token)}",
                instead=f"write CREATE TYPE {name} FROM FILE 'ring.hpp'",
                at=token.at,
            )
    path = cursor.next()
    if path.kind != "string":
        raise SyntaxProblem(
            f"expected the path of a header but found {shown(path)}",
            instead=f"write CREATE TYPE {name} FROM FILE 'ring.hpp'",
            at=path.at,
        )
    rest = cursor.peek()
    if rest.kind != "end":
        raise UnsupportedSql(
            f"{shown(rest)} is not supported after the header of a type",
            instead="end the statement there",
            at=rest.at,
        )
    return CreateType(name, path.text.strip("'\""), at)  # M3 quotes its paths twice


def _typed(declared: _Columns) -> tuple[Column, ...]:
    """A column of the primary key is never NULL."""
    key = {k.lower() for k in declared.key}
    return tuple(
        replace(c, type=c.type.not_null()) if c.name.lower() in key else c for c in declared.columns
    )


def _columns(cursor: Cursor, *, static: bool) -> _Columns:
    declared = _Columns([])
    cursor.expect("(")
    while True:
        at = cursor.peek().at
        if cursor.accept("CONSTRAINT"):
            cursor.name()
        if cursor.accept("PRIMARY KEY"):
            _set_key(declared, cursor.names(), at)
            _enforced(cursor)
        elif cursor.peek().word in CONSTRAINTS:
            declared.ignored.append(cursor.peek().word)
            _skip_constraint(cursor)
        elif cursor.accept("WATERMARK", "FOR"):
            if declared.time is not None:
                raise AmbiguousName("there are two watermarks", instead="write one", at=at)
            columns = _typed(declared)
            declared.time = read_watermark(cursor, columns, static=static)
        else:
            _column(cursor, declared)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    names = {c.name.lower() for c in declared.columns}
    for k in declared.key:
        if k.lower() not in names:
            raise SyntaxProblem(f"the key names '{k}', which is not a column", at=cursor.peek().at)
    return declared


CONSTRAINTS = ("UNIQUE", "FOREIGN KEY", "CHECK", "REFERENCES")
"""What others have checked: it is ignored, and said to be."""

_INSTEAD = {
    "GENERATED": "compute the column in a view: a + 1 AS b",
    "AS": "compute the column in a view: a + 1 AS b",
}


def _set_key(declared: _Columns, key: tuple[str, ...], at: Place) -> None:
    if declared.key:
        raise AmbiguousName(
            "there are two primary keys", instead="write PRIMARY KEY (a, b) once", at=at
        )
    for i, name in enumerate(key):
        if name.lower() in (k.lower() for k in key[:i]):
            raise AmbiguousName(f"the key names '{name}' twice", instead="name it once", at=at)
    declared.key = key


def _enforced(cursor: Cursor) -> None:
    """What Spark says of a key; it is enforced in any case."""
    while cursor.accept("NOT", "ENFORCED") or cursor.accept("ENFORCED") or cursor.accept("RELY"):
        pass


def _skip_constraint(cursor: Cursor) -> None:
    """A constraint up to the comma or parenthesis behind it."""
    depth = 0
    while cursor.peek().kind != "end":
        token = cursor.peek()
        if depth == 0 and token.text in (",", ")"):
            return
        depth += (token.text == "(") - (token.text == ")")
        cursor.next()


def _skip_expression(cursor: Cursor) -> None:
    """A constraint of a column: its first word, names, and what is in parentheses."""
    cursor.next()
    while cursor.peek().kind == "word" and cursor.peek().word not in ("NOT", "NULL", "COMMENT"):
        cursor.next()
    if cursor.peek().text == "(":
        depth = 0
        while cursor.peek().kind != "end":
            token = cursor.next()
            sign = "" if token.kind == "string" else token.text
            depth += (sign == "(") - (sign == ")")
            if depth == 0:
                break
    while cursor.accept("NOT", "ENFORCED") or cursor.accept("ENFORCED") or cursor.accept("RELY"):
        pass


def _default(cursor: Cursor, t: Type) -> Value:
    """DEFAULT and a constant, as a value of the column."""
    token = cursor.next()
    sign = token.text if token.text in ("-", "+") else ""
    if sign or token.word in ("DATE", "TIMESTAMP"):
        token = cursor.next()
    if token.word == "NULL":
        return None
    if token.kind in ("string", "number") or token.word in ("TRUE", "FALSE"):
        text = sign + token.text
        shape = (MOST_DIGITS, Decimal(0).scaleb(-t.scale)) if t.kind == "decimal" else ()
        try:
            return conform(CASTS[t.kind](text, *shape), t)
        except (BadValue, ValueError):
            what = f"'{text}' is no {t.kind.upper()}"
            raise TypeProblem(what, instead="give a constant of the column", at=token.at) from None
    raise UnsupportedSql(
        f"DEFAULT {token.text} is not supported", instead="give a constant", at=token.at
    )


def _column(cursor: Cursor, declared: _Columns) -> None:
    at = cursor.peek().at
    name = cursor.name()
    if name.lower() in (c.name.lower() for c in declared.columns):
        raise AmbiguousName(f"column '{name}' is declared twice", instead="rename one", at=at)
    t, size = _type(cursor)
    t = t.or_null()
    nullability: set[str] = set()
    while cursor.peek().word not in (",", ")", ""):
        token = cursor.peek()
        if cursor.accept("NOT", "NULL"):
            t = t.not_null()
            nullability.add("NOT NULL")
        elif cursor.accept("PRIMARY KEY"):
            _set_key(declared, (name,), at)
            _enforced(cursor)
        elif cursor.accept("COMMENT"):
            cursor.next()
            declared.ignored.append("COMMENT")
        elif cursor.accept("NULL"):
            nullability.add("NULL")
        elif cursor.accept("CONSTRAINT"):
            cursor.name()
        elif cursor.accept("DEFAULT"):
            declared.defaults.append((name, _default(cursor, t)))
        elif token.word in CONSTRAINTS:
            declared.ignored.append(token.word)
            _skip_expression(cursor)
        else:
            raise UnsupportedSql(
                f"{shown(token)} is not supported in a column",
                instead=_INSTEAD.get(token.word, "write NOT NULL, NULL, DEFAULT or PRIMARY KEY"),
                at=token.at,
            )
        if len(nullability) > 1:
            raise SyntaxProblem(f"column '{name}' is NULL and NOT NULL", at=token.at)
    declared.columns.append(Column(name, t, size))


def _type(cursor: Cursor) -> tuple[Type, int]:
    """A type, and how large its values may be."""
    token = cursor.next()
    sizes: list[int] = []
    if cursor.accept("("):
        sizes.append(_integer(cursor))
        while cursor.accept(","):
            sizes.append(_integer(cursor))
        cursor.expect(")")
    cursor.accept("PRECISION")
    try:
        return read_type(token.text, sizes), size_of(token.text, sizes)
    except TypeProblem as problem:
        raise problem.located(token.at) from None


def _integer(cursor: Cursor) -> int:
    token = cursor.next()
    if not token.text.isdigit():
        raise SyntaxProblem(f"expected a number but found {shown(token)}", at=token.at)
    return int(token.text)


def _source(cursor: Cursor, relation: Relation) -> Source:
    """FROM kind argument ... [LINE DELIMITED] format (option := value, ...).

    The number of a socket may follow the word PORT, or its host and a colon.
    """
    kind = cursor.next()
    if kind.word not in KINDS:
        raise UnsupportedSql(
            f"{shown(kind)} is not a source", instead=f"use one of {', '.join(KINDS)}", at=kind.at
        )
    arguments: list[str | int] = []
    while cursor.peek().kind in ("string", "number") or (
        kind.word == "SOCKET" and cursor.accept("PORT")
    ):
        arguments.append(_constant(cursor.next()))
    if kind.word == "SOCKET":
        arguments = _address(arguments)
    end = cursor.peek().at
    framing = "line" if cursor.accept("LINE", "DELIMITED") else ""
    if not framing and cursor.accept("FIXEDWIDTH"):
        framing = f"fixedwidth {_integer(cursor)}"
    form = cursor.next().text.lower() if cursor.peek().kind == "word" else ""
    options: list[tuple[str, str | int]] = []
    places: dict[str, Place] = {}
    if cursor.accept("("):
        while not cursor.accept(")"):
            at = cursor.peek().at
            options.append(_option(cursor))
            places[options[-1][0]] = at
            cursor.accept(",")
    source = Source(kind.text.lower(), tuple(arguments), framing, form, tuple(options))
    return check_source(source, relation, ClausePlaces(kind.at, end, places))


def _address(arguments: list[str | int]) -> list[str | int]:
    """The host and the port of 'host:port'.

    >>> _address(["127.0.0.1:9999"])
    ['127.0.0.1', 9999]
    """
    match arguments:
        case [str(both)] if both.rpartition(":")[2].isdigit():
            host, _, port = both.rpartition(":")
            return [host, int(port)]
    return arguments


def _option(cursor: Cursor) -> tuple[str, str | int]:
    name = cursor.name()
    if not cursor.accept(":="):
        cursor.expect("=")
    token = cursor.next()
    if token.kind == "sign" or token.kind == "end":
        raise SyntaxProblem(f"expected a value but found {shown(token)}", at=token.at)
    return name.lower(), _constant(token)


def _constant(token: Token) -> str | int:
    return int(token.text) if token.kind == "number" and token.text.isdigit() else token.text
