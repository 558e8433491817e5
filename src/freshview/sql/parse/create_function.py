"""CREATE FUNCTION with a body in SQL."""

from __future__ import annotations

from freshview.errors import AmbiguousName, Place, SyntaxProblem, TypeProblem, UnsupportedSql
from freshview.sql.ddl.cursor import Cursor, shown
from freshview.sql.ddl.types import BITS, read_type
from freshview.sql.parse.changes import Reader
from freshview.sql.sql_function import Parameter, SqlFunction, SqlType
from freshview.sql.statements import CreateFunction
from freshview.sql.terms import Literal, Scalar, ScalarQuery

_WORDS = (
    *(("LANGUAGE", "SQL"), ("DETERMINISTIC",), ("CONTAINS", "SQL"), ("READS", "SQL", "DATA")),
    *(("SQL", "SECURITY", "DEFINER"), ("SQL", "SECURITY", "INVOKER")),
)
"""What may stand before RETURN, and changes nothing."""


def create_function(reader: Reader, at: Place, *, replaces: bool) -> CreateFunction:
    """The rest of CREATE FUNCTION, behind that word."""
    cursor = reader.cursor
    if_missing = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.path()
    cursor.expect("(")
    parameters: list[Parameter] = []
    while not cursor.accept(")"):
        parameters.append(_parameter(reader, parameters))
        if cursor.peek().text != ")":
            cursor.expect(",")
    result = None
    if cursor.accept("RETURNS"):
        if cursor.peek().word == "TABLE":
            _refuse(cursor, "RETURNS TABLE", "declare a view, and filter it")
        result = sql_type(cursor)
    _characteristics(cursor)
    cursor.expect("RETURN")
    function = SqlFunction(name.lower(), tuple(parameters), result, _body(reader), at)
    return CreateFunction(function, replaces, if_missing, at)


def _parameter(reader: Reader, before: list[Parameter]) -> Parameter:
    cursor = reader.cursor
    at = reader.at
    name = cursor.name()
    if name.lower() in (p.name.lower() for p in before):
        raise AmbiguousName(f"parameter '{name}' is declared twice", instead="rename one", at=at)
    declared = sql_type(cursor)
    default: Scalar | None = None
    if cursor.accept("DEFAULT"):
        default = reader.value(reader.until(",", ")", "COMMENT"))
        if not isinstance(default, Literal):
            raise UnsupportedSql(
                "a DEFAULT that is computed is not supported", instead="give a constant", at=at
            )
    elif before and before[-1].default is not None:
        what = f"parameter '{name}' has no DEFAULT, though the one before it has"
        raise SyntaxProblem(what, instead="give it one", at=at)
    if cursor.accept("COMMENT"):
        cursor.next()
    return Parameter(name, declared, default)


def sql_type(cursor: Cursor) -> SqlType:
    """A type with its sizes."""
    token = cursor.next()
    sizes: list[int] = []
    if cursor.accept("("):
        while not cursor.accept(")"):
            size = cursor.next()
            if not size.text.isdigit():
                raise SyntaxProblem(f"expected a number but found {shown(size)}", at=size.at)
            sizes.append(int(size.text))
            cursor.accept(",")
    cursor.accept("PRECISION")
    try:
        t = read_type(token.text, sizes)
    except TypeProblem as problem:
        raise problem.located(token.at) from None
    return SqlType(t, BITS.get(token.word) or (sizes[0] if sizes else 10))


def _characteristics(cursor: Cursor) -> None:
    """What stands between the type and RETURN."""
    while cursor.peek().word != "RETURN":
        if cursor.accept("COMMENT"):
            cursor.next()
        elif not any(cursor.accept(*words) for words in _WORDS):
            token = cursor.peek()
            if token.word in ("LANGUAGE", "AS"):
                _refuse(cursor, "a function in another language", "register_function(name, ...)")
            if token.word == "NOT":
                _refuse(cursor, "NOT DETERMINISTIC", "store the value with the row")
            raise SyntaxProblem(f"expected RETURN but found {shown(token)}", at=token.at)


def _body(reader: Reader) -> Scalar:
    token = reader.cursor.peek()
    if token.word in ("SELECT", "WITH"):
        query = reader.select(reader.cursor.index, reader.end, "")
        return ScalarQuery(query, token.at)
    return reader.value(reader.end)


def _refuse(cursor: Cursor, what: str, instead: str) -> None:
    at = cursor.peek().at
    raise UnsupportedSql(f"{what} is not supported", instead=f"write {instead}", at=at)
