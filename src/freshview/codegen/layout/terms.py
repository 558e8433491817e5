"""Layout on one screen: the tables of a kernel, their indexes, and which of them holds each map.

A table is a set of records, each with key columns and payload columns. Maps with the same keys may
share one (`fuse`), and a table of one key may lie in the heads of another one's index
(`directories`). What no pass has decided yet is empty here: loops come first, and the indexes are
those that they ask for (`indexes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from freshview.calculus.types import Type

Columns = tuple[int, ...]
"""Positions of key columns."""


@dataclass(frozen=True, slots=True)
class Sort:
    """How an ordered index sorts by a key column; NULL is the smallest value."""

    column: int
    falling: bool = False
    by_text: bool = False
    """Whether symbols sort by the texts that they stand for; else any order will do."""


Sorts = tuple[Sort, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Records of a state, or of a step in it: key columns, payload columns, indexes."""

    name: str
    keys: tuple[Type, ...]
    payloads: tuple[Type, ...]
    determining: Columns | None = None
    """Key columns that determine the others, where there are others."""
    transient: bool = False
    """Whether it lives no longer than a batch."""
    indexes: tuple[Columns, ...] = ()
    """Hash indexes: the key columns by which slices are asked for."""
    orders: tuple[Sorts, ...] = ()
    """Ordered aggregate indexes: the key columns in the order by which they sort."""
    names: tuple[str, ...] = ()
    """What its keys are called, if anything."""
    home: tuple[str, Columns] | None = None
    """The index of another table in whose heads the records of this one lie."""
    journal: bool = False
    """Whether it knows which of its records have changed since they were last asked for."""

    @property
    def lookup_columns(self) -> Columns:
        """The key columns by which a record is found."""
        return tuple(range(len(self.keys))) if self.determining is None else self.determining

    @property
    def root(self) -> str:
        """The table whose changes may move the records of this one."""
        return self.name if self.home is None else self.home[0]


@dataclass(frozen=True, slots=True)
class MapPlace:
    """Where a map is: its table, its payload column, and the column of each of its keys."""

    table: str
    payload: int
    columns: Columns


@dataclass(frozen=True, slots=True)
class Listing:
    """A map with a row for a record of another table: that table, and where it has its keys.

    A key that follows from the payloads of the record has no column there.
    """

    table: str
    columns: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of a kernel, where maps and static relations lie, and which maps are put off."""

    tables: Mapping[str, Table] = field(default_factory=dict)
    places: Mapping[str, MapPlace] = field(default_factory=dict)
    deferred: frozenset[str] = frozenset()
    """Maps that are recomputed when they are read."""
    late: frozenset[str] = frozenset()
    """Maps that are recomputed once a batch, after its rows."""
    listings: Mapping[str, Listing] = field(default_factory=dict)
    """Maps that follow the changed records of a table when they are read."""

    def table(self, name: str) -> Table:
        """The table that holds a map or a static relation."""
        return self.tables[self.places[name].table]

    def key_type(self, name: str, i: int) -> Type:
        """The type of the i-th key of a map."""
        place = self.places[name]
        return self.tables[place.table].keys[place.columns[i]]

    def payload_type(self, name: str) -> Type:
        """The type of a map's numbers."""
        place = self.places[name]
        return self.tables[place.table].payloads[place.payload]
