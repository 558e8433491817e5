"""What Spark lets stand behind the columns of a table: used where it says where rows are.

USING parquet LOCATION 'folder' is FROM PARQUET 'folder'. The rest is about how Spark stores a
table, and is ignored: a view that reads the table says so in `explain`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from freshview.calculus.schema import Relation
from freshview.errors import AmbiguousName, Place, SyntaxProblem
from freshview.sql.catalog import Source
from freshview.sql.ddl.cursor import Cursor, shown
from freshview.sql.ddl.sources import RULES, ClausePlaces, check_source

FORMATS = ("CSV", "JSON", "PARQUET", "DELTA")

IGNORED = {
    "COMMENT": "COMMENT",
    "PARTITIONED": "PARTITIONED BY",
    "PARTITIONED BY": "PARTITIONED BY",
    "CLUSTERED": "CLUSTERED BY",
    "CLUSTER": "CLUSTER BY",
    "CLUSTER BY": "CLUSTER BY",
    "TBLPROPERTIES": "TBLPROPERTIES",
    "STORED": "STORED AS",
    "ROW": "ROW FORMAT",
}
"""Clauses by their first word."""


@dataclass
class TableOptions:
    """The clauses behind a table's columns, as they are read."""

    format: str = ""
    at: Place = field(default_factory=Place)
    location: str = ""
    options: dict[str, str | int] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)

    def source(self, relation: Relation, end: Place) -> Source | None:
        """Where the rows are, if the clauses say it; what is of no use then is ignored."""
        if self.format not in FORMATS or not self.location:
            if self.format:
                self.ignored.append("USING")
            if self.location:
                self.ignored.append("LOCATION")
            self.ignored += ["OPTIONS"] if self.options else []
            return None
        known = RULES[self.format.lower()].options
        options = {k: v for k, v in self.options.items() if k in known}
        self.ignored += [f"OPTIONS ({k})" for k in self.options if k not in known]
        source = Source(self.format.lower(), (self.location,), options=tuple(options.items()))
        return check_source(source, relation, ClausePlaces(self.at, end, self.places))


def table_options(cursor: Cursor) -> TableOptions:
    """The clauses from here on, up to FROM or the end."""
    read = TableOptions()
    while cursor.peek().kind == "word" and cursor.peek().word != "FROM":
        token = cursor.peek()
        if cursor.accept("USING"):
            if read.format:
                raise AmbiguousName("there are two USING", instead="write one", at=token.at)
            read.format, read.at = cursor.name().upper(), token.at
        elif cursor.accept("LOCATION"):
            read.location = _text(cursor)
        elif cursor.accept("OPTIONS"):
            _options(cursor, read)
        elif token.word in IGNORED:
            read.ignored.append(IGNORED[token.word])
            _skip(cursor)
        else:
            break
    return read


def _text(cursor: Cursor) -> str:
    token = cursor.next()
    if token.kind != "string" or not token.text:
        raise SyntaxProblem(f"expected a text but found {shown(token)}", at=token.at)
    return token.text


def _options(cursor: Cursor, read: TableOptions) -> None:
    """(name 'value', name = value, ...); the option `path` is where the rows are."""
    cursor.expect("(")
    while not cursor.accept(")"):
        name = cursor.next()
        cursor.accept("=")
        value = cursor.next()
        if name.kind not in ("word", "string") or value.kind in ("sign", "end"):
            raise SyntaxProblem(f"expected an option but found {shown(value)}", at=value.at)
        key = name.text.lower()
        if key == "path":
            read.location = value.text
        else:
            digits = value.kind == "number" and value.text.isdigit()
            read.options[key] = int(value.text) if digits else value.text
            read.places[key] = name.at
        cursor.accept(",")


def _skip(cursor: Cursor) -> None:
    """Pass a clause by: its first word, and all up to the next clause or the end."""
    cursor.next()
    depth = 0
    while cursor.peek().kind != "end":
        token = cursor.peek()
        if depth == 0 and token.kind == "word":
            if token.word in IGNORED or token.word in ("USING", "LOCATION", "OPTIONS", "FROM"):
                return
        depth += (token.text == "(") - (token.text == ")")
        cursor.next()
