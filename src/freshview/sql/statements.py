"""What a statement of a script declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from freshview.calculus.schema import Relation
from freshview.errors import Place
from freshview.sql.catalog import Source
from freshview.sql.terms import NOWHERE, Select


@dataclass(frozen=True, slots=True)
class CreateRelation:
    """CREATE STREAM or CREATE TABLE, with where its rows come from."""

    relation: Relation
    source: Source | None
    at: Place = NOWHERE
    if_missing: bool = False


@dataclass(frozen=True, slots=True)
class CreateType:
    """CREATE TYPE name FROM FILE 'ring.hpp': a ring of payloads, declared in a C++ header."""

    name: str
    path: str
    at: Place = NOWHERE


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


Statement: TypeAlias = CreateRelation | CreateType | CreateView
