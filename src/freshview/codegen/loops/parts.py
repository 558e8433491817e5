"""The parts of loops that run nothing themselves: values, tests, searches, what is fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from freshview.calculus.terms import Expr
from freshview.codegen.layout.terms import Columns, Sorts

Value: TypeAlias = Expr
"""A term of the calculus without relations, over names of locals and columns."""

Values: TypeAlias = tuple[Expr, ...]

Weight: TypeAlias = tuple[Expr, ...]
"""What a row counts for: a product of values, from left to right."""


@dataclass(frozen=True, slots=True)
class Holds:
    """A comparison, or a function that tells true from false."""

    value: Value


@dataclass(frozen=True, slots=True)
class There:
    """A multiplicity is one of some rows, even if their numbers cancel out."""

    value: Value


@dataclass(frozen=True, slots=True)
class NotZero:
    """A number is not zero."""

    value: Value


@dataclass(frozen=True, slots=True)
class Same:
    """A key column of a record has a wanted value."""

    table: str
    column: int
    field: Value
    value: Value


@dataclass(frozen=True, slots=True)
class NoNegative:
    """No number of a payload column is negative."""

    table: str
    payload: int


@dataclass(frozen=True, slots=True)
class Fits:
    """A value that was looked for (`Look`) has no more digits than a key of that type."""

    name: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A table has no record with these keys, or one of the tests fails."""

    table: str
    keys: Values
    tests: tuple[Test, ...] = ()


Test: TypeAlias = Holds | There | NotZero | Same | NoNegative | Fits | Missing


@dataclass(frozen=True, slots=True)
class Search:
    """Entries of an ordered index with wanted values in its leading columns."""

    table: str
    sorts: Sorts
    known: tuple[tuple[int, Value], ...]


Side: TypeAlias = Literal["after", "from", "before", "to"]


@dataclass(frozen=True, slots=True)
class Running:
    """The sums of the entries on one side of the one at hand; `from` and `to` include its own."""

    name: str
    side: Side


@dataclass(frozen=True, slots=True)
class Fetch:
    """Memory that a row to come will need: a record or a slice, by columns of that row."""

    table: str
    columns: Columns
    keys: Values
    index: bool = False
    write: bool = False


@dataclass(frozen=True, slots=True)
class SortKey:
    """One column of an order."""

    column: int
    descending: bool = False
    nulls_first: bool = False
