"""What a statement of a script declares, changes or shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from freshview.calculus.schema import Relation
from freshview.errors import Place
from freshview.sql.catalog import Source
from freshview.sql.sql_function import SqlFunction
from freshview.sql.terms import NOWHERE, From, Scalar, Select, Table


@dataclass(frozen=True, slots=True)
class CreateRelation:
    """CREATE STREAM or CREATE TABLE, with where its rows come from."""

    relation: Relation
    source: Source | None
    at: Place = NOWHERE
    if_missing: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class CreateType:
    """CREATE TYPE name FROM FILE 'ring.hpp': a ring of payloads, declared in a C++ header."""

    name: str
    path: str
    at: Place = NOWHERE


Argument: TypeAlias = int | float | str | tuple[int | float | str, ...]
"""A number, a name or a text, or a list of these."""


@dataclass(frozen=True, slots=True)
class TableCall:
    """A call of a table function in FROM: `function(relation, name => value, ...)`."""

    function: str
    relation: str
    arguments: tuple[tuple[str, Argument], ...]
    at: Place = field(default=NOWHERE, compare=False)

    @property
    def name(self) -> str:
        """The call as it is written, by which its result is known as a relation.

        >>> TableCall("fir", "r", (("period", 5), ("taps", (0.5, 1)))).name
        'fir(r, period => 5, taps => (0.5, 1))'
        """
        arguments = (f", {name} => {_shown(value)}" for name, value in self.arguments)
        return f"{self.function}({self.relation}{''.join(arguments)})"


def _shown(value: Argument) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return str(value)


@dataclass(frozen=True, slots=True)
class CreateView:
    """CREATE [FACTORIZED] VIEW name (column, ...) AS SELECT ...; a bare SELECT has no name yet.

    With OR REPLACE it takes the place of a view of its name, with IF NOT EXISTS it leaves it there.
    """

    name: str | None
    columns: tuple[str, ...]
    query: Select
    at: Place = NOWHERE
    factorized: bool = False
    replaces: bool = False
    if_missing: bool = False
    ignored: tuple[str, ...] = ()
    policy: str = ""
    calls: tuple[TableCall, ...] = ()
    """The table functions over signals that it reads."""


@dataclass(frozen=True, slots=True)
class CreateFunction:
    """CREATE [OR REPLACE] FUNCTION [IF NOT EXISTS] name(...) RETURN ..."""

    function: SqlFunction
    replaces: bool = False
    if_missing: bool = False
    at: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Drop:
    """DROP VIEW, TABLE, STREAM or FUNCTION."""

    kind: OneOf["VIEW", "TABLE", "STREAM", "FUNCTION"]
    name: str
    if_exists: bool = False
    at: Place = NOWHERE


Declaration: TypeAlias = CreateRelation | CreateType | CreateView | CreateFunction | Drop

Assignments: TypeAlias = tuple[tuple[str, Scalar], ...]
"""Columns and their new values."""


@dataclass(frozen=True, slots=True)
class Insert:
    """INSERT INTO table (column, ...) query; OVERWRITE puts its rows in the place of all others."""

    table: str
    columns: tuple[str, ...]
    query: Select
    overwrite: bool = False
    at: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Update:
    """UPDATE table SET column = value, ... WHERE condition."""

    table: Table
    assignments: Assignments
    where: Scalar | None = None
    at: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Delete:
    """DELETE FROM table WHERE condition, or TRUNCATE TABLE."""

    table: Table
    where: Scalar | None = None
    at: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class MergeClause:
    """WHEN [NOT] MATCHED [BY SOURCE] [AND condition] THEN action; no assignments stand for `*`."""

    rows: OneOf["matched", "new", "unmatched"]
    action: OneOf["update", "delete", "insert"]
    when: Scalar | None = None
    assignments: Assignments | None = None
    at: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Merge:
    """MERGE INTO table USING source ON condition WHEN ...; clauses apply in their order."""

    table: Table
    source: From
    on: Scalar
    clauses: tuple[MergeClause, ...]
    at: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Show:
    """SHOW TABLES, SHOW VIEWS, SHOW COLUMNS IN name, DESCRIBE name; `name` is of the last two."""

    what: OneOf["TABLES", "VIEWS", "COLUMNS", "DESCRIBE"]
    name: str = ""
    at: Place = NOWHERE


RowChange: TypeAlias = Insert | Update | Delete | Merge
Statement: TypeAlias = Declaration | RowChange | Show
