"""Trigger programs: the contract between the compilers above and the engines below.

A program declares maps and, for every change of an input relation, a list of statements that
bring the maps up to date. Statements run in order: `+=` reads the maps as they were before the
change, `:=` reads them as they are after it (`order.py` arranges both). What is written to the
change of a derived view is computed from the maps as they were before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.terms import Delta, Expr, View
from freshview.calculus.types import Type

Event = Literal["insert", "delete", "batch", "ready"]
Op = Literal["+=", ":="]


@dataclass(frozen=True, slots=True)
class Map:
    """A materialized view: keys to a number, kept equal to `definition` at all times.

    A view cache has `inputs`: it holds one copy of the view for each valuation of them that was
    ever asked for; a new valuation is computed by `fill`, a term over the other maps.
    """

    name: str
    keys: tuple[Column, ...]
    payload: Type
    definition: Expr
    inputs: tuple[Column, ...] = ()
    fill: Expr | None = None

    @property
    def is_change(self) -> bool:
        """Whether it holds what a batch changes in a derived view, until the next batch."""
        return isinstance(self.definition, Delta)


@dataclass(frozen=True, slots=True)
class Statement:
    """M[keys] += term, or M[keys] := term; keys that the trigger does not bind are looped over."""

    target: View
    op: Op
    term: Expr


@dataclass(frozen=True, slots=True)
class Trigger:
    """What to do when a relation changes.

    `insert` and `delete` bind `params` to the columns of one row; `batch` offers the change as
    (DELTA R); `ready` runs once, when the static tables are loaded.
    """

    event: Event
    relation: str
    params: tuple[str, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A trigger program. The queries' terms read maps (and static tables) only.

    `derived` are views that definitions read as relations. What changes in one of them is the map
    of its change: a trigger writes it first, and the other statements read it as a batch.
    """

    relations: tuple[Relation, ...]
    maps: tuple[Map, ...]
    triggers: tuple[Trigger, ...]
    queries: tuple[Query, ...]
    derived: tuple[Query, ...] = field(default=(), kw_only=True)
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Why the compiler chose what it chose, in words; not part of the program's meaning."""
    view_notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """The same of single queries, by their names: programs that were merged keep them apart."""
