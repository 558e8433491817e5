"""Where the maps of a program live: records, their keys and payloads, and their indexes.

Maps with the same keys may share a record (`fuse`). An index comes to be when the emitter asks
for a slice; a storage without one is a flat table, with one a pool, and so is one of large records:
those are neither moved when a table grows nor passed over when another one is sought.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from freshview.calculus.types import Type
from freshview.codegen.cpp.types import payload_size, size_of

LARGE = 128
"""Bytes of keys and payloads above which records lie apart from the slots of their table."""


@dataclass(frozen=True)
class Sort:
    """How an ordered index sorts by a key column; NULL is the smallest value."""

    column: int
    falling: bool = False
    by_text: bool = False
    """Whether symbols sort by the texts that they stand for; else any order will do."""

    def before(self, a: str, b: str) -> str:
        """The test that one value of the column stands before another one."""
        a, b = (b, a) if self.falling else (a, b)
        return f"text_sorts(arena, {a}, {b})" if self.by_text else f"sorts({a}, {b})"


@dataclass
class Storage:
    """A table in the state: key columns, payload columns, and the slices it can be asked for."""

    name: str
    keys: tuple[Type, ...]
    payloads: list[Type] = field(default_factory=list)
    indexes: list[tuple[int, ...]] = field(default_factory=list)
    orders: list[tuple[Sort, ...]] = field(default_factory=list)
    """Ordered aggregate indexes: the key columns in the order by which they sort."""
    transient: bool = False
    emptied: bool = False
    """Whether a statement empties it as a whole."""
    determining: tuple[int, ...] | None = None
    """Key columns that determine the others, where there are others."""
    home: tuple[Storage, tuple[int, ...]] | None = None
    """The index of another storage in whose heads the records of this one lie."""
    tenants: dict[tuple[int, ...], Storage] = field(default_factory=dict)
    """Storages whose records lie in the heads of this one's indexes."""

    @property
    def lookup_columns(self) -> tuple[int, ...]:
        """The key columns by which a record is found."""
        return tuple(range(len(self.keys))) if self.determining is None else self.determining

    def index(self, positions: tuple[int, ...]) -> int:
        """The number of the index by these key columns."""
        if positions not in self.indexes:
            self.indexes.append(positions)
        return self.indexes.index(positions)

    def order(self, sorts: tuple[Sort, ...]) -> int:
        """The number of the ordered index that sorts like this."""
        if sorts not in self.orders:
            self.orders.append(sorts)
        return self.orders.index(sorts)

    @property
    def record(self) -> str:
        """The C++ type of a record."""
        return f"Rec_{self.name}"

    @property
    def path(self) -> str:
        """The table as C++ code finds it."""
        if self.transient:
            return self.name
        if self.home is None:
            return f"s.{self.name}"
        host, positions = self.home
        return f"s.{host.name}.template directory<{host.index(positions)}>()"

    @property
    def root(self) -> Storage:
        """The storage whose changes may move the records of this one."""
        return self if self.home is None else self.home[0]

    @property
    def pooled(self) -> bool:
        """Whether records lie apart from the slots by which they are found."""
        if self.indexes or self.transient:
            return bool(self.indexes)
        return bool(self.keys) and (
            sum(map(size_of, self.keys)) + sum(map(payload_size, self.payloads)) > LARGE
        )

    @property
    def table(self) -> str:
        """The C++ type of the table."""
        if self.transient and not self.indexes:
            return f"Rows<{self.record}>"
        if not self.pooled:
            return f"Flat<{self.record}>"
        heads = "".join(f", Head{j}_{self.name}" for j in range(len(self.indexes)))
        return f"Pool<{self.record}{heads}>"


@dataclass(frozen=True)
class MapPlace:
    """Where a map is: its storage, its payload column, and the column of each of its keys."""

    storage: Storage
    payload: int
    columns: tuple[int, ...]

    def key_type(self, i: int) -> Type:
        """The type of the i-th key of the map."""
        return self.storage.keys[self.columns[i]]

    @property
    def payload_type(self) -> Type:
        """The type of the map's numbers."""
        return self.storage.payloads[self.payload]
