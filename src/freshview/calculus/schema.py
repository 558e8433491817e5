"""What stands around a term: base relations with their columns, and queries with their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from freshview.calculus.terms import Expr, Order
from freshview.calculus.types import Type, Value


@dataclass(frozen=True, slots=True)
class Column:
    """A named column of a type.

    `size` is the room that its declaration asks for: the bits of an integer, the digits of a
    decimal, the characters of a text. What is larger is refused; 0 leaves it to the type. It is
    asked at the door only, so columns of other sizes are equal.
    """

    name: str
    type: Type
    size: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class EventTime:
    """Which column of a stream is the time of a row, and how far rows may be out of order.

    No row comes more than `delay` after the latest one that was seen: one that does is late. The
    delay counts days for dates, microseconds for timestamps. With a `promise` no row is late: rows
    say in that column how early the next ones may be.
    """

    column: str
    delay: int | float = 0
    promise: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A base relation: a stream of changes, or a static table that is loaded before them."""

    name: str
    columns: tuple[Column, ...]
    static: bool = False
    key: tuple[str, ...] = ()
    time: EventTime | None = None
    notes: tuple[str, ...] = ()
    """What its declaration says that is ignored."""
    defaults: tuple[tuple[str, Value], ...] = ()
    """The values of columns that an INSERT does not name; the others are NULL then."""
    generation: int = 0
    """How many relations of its name a script has dropped before: their rows are not its own."""

    @property
    def time_column(self) -> int | None:
        """Where the column of the event time stands, if one is declared."""
        if self.time is None:
            return None
        return [c.name for c in self.columns].index(self.time.column)

    @property
    def types(self) -> tuple[Type, ...]:
        """The column types, in order."""
        return tuple(c.type for c in self.columns)


POLICIES = ("auto", "incremental", "strict", "full")
"""How far a view may be recomputed.

- `auto`: it is kept by what costs least, by deltas or recomputed.
- `incremental`: by deltas wherever that is possible, whatever it costs.
- `strict`: by deltas, or refused with the node that would be recomputed.
- `full`: it is recomputed after changes.
"""


@dataclass(frozen=True, slots=True)
class Query:
    """A view as the user sees it: columns, and the term that defines them.

    The result has a row for every valuation of `vars` (one variable a column) as often as the
    term's multiplicity says. `order` only arranges the rows when they are read. The rows of a
    `factorized` view are never listed: it keeps values of columns under those of others.

    `over` are the views that the term reads as relations, by their names, with those that they
    read in their turn; each stands behind what it reads itself. `notes` are what a reader of the
    rows may not expect. `policy` says how far it may be recomputed, if the view itself says so.
    """

    name: str
    columns: tuple[Column, ...]
    vars: tuple[str, ...]
    term: Expr
    order: tuple[Order, ...] = ()
    factorized: bool = False
    over: tuple[Query, ...] = ()
    notes: tuple[str, ...] = ()
    policy: str = ""

    @property
    def terms(self) -> tuple[Expr, ...]:
        """Its term, and those of the views that it reads as relations."""
        return (self.term, *(v.term for v in self.over))


def row_types(
    relations: Iterable[Relation], views: Iterable[Query] = ()
) -> dict[str, tuple[Type, ...]]:
    """The column types of relations, and of views that are read as such, by their names."""
    types = {r.name: r.types for r in relations}
    return types | {q.name: tuple(c.type for c in q.columns) for q in views}
