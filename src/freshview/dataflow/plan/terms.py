"""Logical plans over live streams (Squall: ElSeidy 2017, chapter 3), on one screen.

A plan is a tree. Its leaves are streams and tables, and every node has named columns. Scalars are
those of our SQL tree, so all front ends share one language of expressions, with SQL's NULL. A
column is known by the table that it comes from and its name; names of tables are unique in a plan,
so an expression keeps its meaning wherever a rule moves it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from freshview.calculus.schema import Relation
from freshview.calculus.types import Type
from freshview.errors import FreshviewError
from freshview.sql.catalog import Source
from freshview.sql.terms import Item, Scalar
from freshview.temporal import FullHistory, Window

WHOLE = FullHistory()
"""The window of all time."""


class BadPlan(FreshviewError):
    """A plan that means nothing, or that cannot run as it is asked to."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a node."""

    table: str
    name: str
    type: Type

    def __str__(self) -> str:
        return f"{self.table}.{self.name}" if self.table else self.name


@dataclass(frozen=True, slots=True)
class Test:
    """A Python function that decides: of a row, or of a row of each side of a join."""

    function: Callable[..., object]


Condition: TypeAlias = Scalar | Test


@dataclass(frozen=True, slots=True)
class Scan:
    """A stream or a table, under a name that is its own in the plan.

    Rows may be deleted unless it only appends.
    """

    relation: Relation
    table: str
    appends: bool = False
    source: Source | None = None
    """Where its rows are read from, where they are not pushed."""


@dataclass(frozen=True, slots=True)
class Project:
    """Columns computed from each row; they belong to the table `table`."""

    input: Plan
    items: tuple[Item, ...]
    table: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class FlatMap:
    """The rows that a Python function gives for each row; exactly one if it is a map."""

    input: Plan
    function: Callable[..., object]
    is_map: bool
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows for which a condition holds."""

    input: Plan
    condition: Condition


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs for which all conditions hold.

    The window holds between each stream on the left and each on the right that tells its time.
    """

    left: Plan
    right: Plan
    on: tuple[Condition, ...] = ()
    window: Window = WHOLE


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Groups by keys, and a row of items for each; over the rows that the window admits."""

    input: Plan
    keys: tuple[Scalar, ...]
    items: tuple[Item, ...]
    window: Window
    fields: tuple[Field, ...]


Plan: TypeAlias = Scan | Project | FlatMap | Filter | Join | Aggregate
