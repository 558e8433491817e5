"""Loops on one screen: what the functions of a kernel do, as nested loops over tables.

A block is a list of statements. *Definitions* name a local for the rest of their block; *scopes*
run a block of their own, once for each row that they find; the others have an effect.

Values are terms of the calculus without relations, over names of locals. A scope that finds rows
names one, and `row.k1`, `row.p0` are its key and payload columns (`row.c2`, `row.count` those of a
batch). What a row counts for is a product of values, from left to right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from freshview.calculus.types import Type
from freshview.codegen.layout.terms import Columns, Table
from freshview.codegen.loops.effects import Effect
from freshview.codegen.loops.parts import (
    Fetch,
    Running,
    Search,
    SortKey,
    Test,
    Value,
    Values,
    Weight,
)

# -- definitions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Let:
    """A value computed once; `exact` refuses the number that stands for NULL."""

    name: str
    value: Value
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Product:
    """An element of a ring multiplied out once."""

    name: str
    weight: Weight


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of what the `Tally` statements inside add up."""

    name: str
    type: Type
    body: Block


@dataclass(frozen=True, slots=True)
class Collect:
    """A transient table, and what fills it."""

    name: str
    table: Table
    body: Block


@dataclass(frozen=True, slots=True)
class Look:
    """A value as a key, whether or not a record can have it; `Fits` tells."""

    name: str
    value: Value
    type: Type


@dataclass(frozen=True, slots=True)
class Intern:
    """A text as a symbol of the state, which is new if no row had it."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Probe:
    """A record looked up for several `Get` statements."""

    name: str
    table: str
    keys: Values


@dataclass(frozen=True, slots=True)
class Turn:
    """What remembers where a monotone condition on values of a type turns."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Range:
    """A range of the entries of a search: from where `up` holds, to where `down` does no more.

    Both name the entry `at`, and say `Answer` where they hold; an empty one always does. Either may
    ask for running sums instead of the entry.
    """

    search: Search
    at: str
    up: Block
    down: Block
    turns: tuple[str, ...] = ()
    running: tuple[Running | None, Running | None] = (None, None)


@dataclass(frozen=True, slots=True)
class RangeSum:
    """The sums of payloads over a range: of all of them, if it does not say `only` which."""

    name: str
    range: Range
    only: Columns = ()


Definition: TypeAlias = Let | Product | Total | Collect | Look | Intern | Probe | Turn | RangeSum


# -- scopes ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class If:
    """What is done where all tests hold; `seldom` if that is not often."""

    tests: tuple[Test, ...]
    body: Block
    seldom: bool = False


@dataclass(frozen=True, slots=True)
class Unless:
    """What is done where a test fails, by a slower way."""

    tests: tuple[Test, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Find:
    """A value as a key, if any record can have it: a known text, a number with few digits."""

    name: str
    value: Value
    type: Type
    body: Block


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of the batch, those that pass the tests; those that go first, if `in_turn`.

    If `preaggregated`, a block of rows is added up by key before it goes to the records, where it
    has few keys and small enough numbers (`loops/additions.py`).
    """

    row: str
    relation: str
    body: Block
    tests: tuple[Test, ...] = ()
    in_turn: bool = False
    fetches: tuple[Fetch, ...] = ()
    preaggregated: bool = False


@dataclass(frozen=True, slots=True)
class Times:
    """As often as a row of the batch comes (`insert`), goes (`delete`), or either."""

    sign: str
    row: str
    event: Literal["insert", "delete", "either"]
    body: Block


@dataclass(frozen=True, slots=True)
class Get:
    """The record with these keys, if it is there; `probe` has looked it up, if it is named."""

    row: str
    table: str
    keys: Values
    body: Block
    probe: str = ""


@dataclass(frozen=True, slots=True)
class Slice:
    """The records with these values in some key columns, by a hash index."""

    row: str
    table: str
    columns: Columns
    keys: Values
    body: Block


@dataclass(frozen=True, slots=True)
class Scan:
    """All the records of a table; or those that have changed, as they were or as they are.

    Once they were met as they are, none of them has changed any more.
    """

    row: str
    table: str
    body: Block
    fetches: tuple[Fetch, ...] = ()
    changed: Literal["", "was", "is"] = ""


@dataclass(frozen=True, slots=True)
class Walk:
    """The entries of a range one by one; `grouped` if it has one for each group of the data."""

    row: str
    range: Range
    body: Block
    grouped: bool = False


@dataclass(frozen=True, slots=True)
class EachGroup:
    """One entry for every group of a search."""

    row: str
    search: Search
    columns: Columns
    body: Block


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows of a search, until `limit` of them are counted: `row.n` of each entry.

    `others` is a transient table of one payload whose numbers are added to the entries'. The walk
    begins where the tests `ends` of an entry hold: those behind it in the walk all pass them.
    """

    row: str
    search: Search
    limit: int
    descending: bool
    nulls: Literal["as_sorted", "first", "last"]
    payload: int
    once: bool
    body: Block
    others: str = ""
    wanted: Columns = ()
    ends: tuple[Test, ...] = ()


@dataclass(frozen=True, slots=True)
class FirstOfGroups:
    """The first rows of each group of a transient table: `row.n` of each."""

    row: str
    table: str
    groups: Columns
    order: tuple[SortKey, ...]
    limit: int
    body: Block


@dataclass(frozen=True, slots=True)
class At:
    """The record with these keys, made if it is not there and dropped if nothing is left of it."""

    row: str
    table: str
    keys: Values
    body: Block


@dataclass(frozen=True, slots=True)
class Group:
    """Statements of a program, carried out together."""

    statements: tuple[str, ...]
    body: Block


Scope: TypeAlias = (
    If
    | Unless
    | Find
    | Batch
    | Times
    | Get
    | Slice
    | Scan
    | Walk
    | EachGroup
    | FirstRows
    | FirstOfGroups
    | At
    | Group
)


Stmt: TypeAlias = Definition | Scope | Effect
Block: TypeAlias = tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a kernel: what a relation's batch does, or how a query is read."""

    name: str
    kind: Literal["relation", "ready", "after", "refresh", "listing", "read", "find"]
    of: str
    """The relation, the query, or the table whose changed records are followed."""
    body: Block
    key: Columns = ()
    """The columns by which rows of a query are found."""


@dataclass(frozen=True, slots=True)
class Loops:
    """All the functions of a kernel."""

    functions: tuple[Function, ...]
