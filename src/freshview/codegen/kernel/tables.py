"""Tables of a layout as C++ has them: names, types, and where code finds them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count

from freshview.calculus.types import Type
from freshview.codegen.cpp.code import identifier
from freshview.codegen.cpp.types import payload_size, size_of
from freshview.codegen.layout.terms import Columns, Layout, Sorts, Table

SUM_FIELD = "sum"
"""What payload columns are called; the second one has its number behind it."""

NUMBERED = re.compile(r"_\d+$")
"""What tells a variable from another one of the same column."""

LARGE = 128
"""Bytes of keys and payloads above which records lie apart from the slots of their table."""


@dataclass(frozen=True)
class CppTable:
    """A table as C++ code sees it.

    Without an index it is a flat table, with one a pool, and so is one of large records: those are
    neither moved when a table grows nor passed over when another one is sought.
    """

    own: Table
    host: CppTable | None = None
    """The table in the heads of whose index the records of this one lie."""
    tenants: Mapping[Columns, CppTable] = field(default_factory=dict)
    """Tables whose records lie in the heads of this one's indexes."""
    listing: bool = False
    """Whether it is nothing but its ordered indexes, which follow another table."""

    @property
    def name(self) -> str:
        """Its name in C++."""
        return self.own.name

    def key(self, i: int) -> str:
        """The name of a key column in C++."""
        return self.fields[i]

    def payload(self, j: int) -> str:
        """The name of a payload column in C++."""
        return f"{SUM_FIELD}_{j + 1}" if j else SUM_FIELD

    @cached_property
    def fields(self) -> list[str]:
        """The names of all key columns in C++, after the columns that they come from.

        The underscore at the end keeps them apart from words of C++, macros and other members.
        """
        out: list[str] = []
        for i in range(len(self.keys)):
            name = NUMBERED.sub("", self.own.names[i]) if self.own.names else f"k{i}"
            name = identifier(name)
            if not name[0].isalpha():
                name = f"k{name}"
            numbered = (f"{name}_{n}_" for n in count(2))
            out.append(next(x for x in chain((f"{name}_",), numbered) if x not in out))
        return out

    @property
    def keys(self) -> tuple[Type, ...]:
        """The types of its keys."""
        return self.own.keys

    @property
    def payloads(self) -> tuple[Type, ...]:
        """The types of its payloads."""
        return self.own.payloads

    @property
    def indexes(self) -> tuple[Columns, ...]:
        """Its hash indexes."""
        return self.own.indexes

    @property
    def orders(self) -> tuple[Sorts, ...]:
        """Its ordered indexes."""
        return self.own.orders

    @property
    def journal(self) -> bool:
        """Whether it knows which of its records have changed."""
        return self.own.journal

    @property
    def lookup_columns(self) -> Columns:
        """The key columns by which a record is found."""
        return self.own.lookup_columns

    @property
    def home(self) -> tuple[str, Columns] | None:
        """The index of another table in whose heads the records of this one lie."""
        return self.own.home

    def index(self, columns: Columns) -> int:
        """The number of the index by these key columns."""
        return self.own.indexes.index(columns)

    @property
    def record(self) -> str:
        """The C++ type of a record."""
        return f"Rec_{self.name}"

    @property
    def where(self) -> str:
        """The memory in which its records lie."""
        return "e.scratch" if self.own.transient else "e.arena"

    @property
    def path(self) -> str:
        """The table as C++ code finds it."""
        if self.own.transient:
            return self.name
        if self.host is None or self.own.home is None:
            return f"s.{self.name}"
        return f"s.{self.host.name}.template directory<{self.host.index(self.own.home[1])}>()"

    @property
    def pooled(self) -> bool:
        """Whether records lie apart from the slots by which they are found."""
        if self.indexes or self.own.transient:
            return bool(self.indexes)
        return bool(self.keys) and (
            sum(map(size_of, self.keys)) + sum(map(payload_size, self.payloads)) > LARGE
        )

    @property
    def type(self) -> str:
        """The C++ type of the table."""
        if self.own.transient and not self.indexes:
            return f"Rows<{self.record}>"
        if not self.pooled:
            return f"Flat<{self.record}>"
        heads = "".join(f", Head{j}_{self.name}" for j in range(len(self.indexes)))
        return f"Pool<{self.record}{heads}>"


def cpp_tables(layout: Layout) -> dict[str, CppTable]:
    """All the tables of a layout."""
    guests: dict[str, dict[Columns, CppTable]] = {}
    for t in layout.tables.values():
        if t.home is not None:
            host, columns = t.home
            guests.setdefault(host, {})[columns] = CppTable(t)
    lists = {layout.places[name].table for name in layout.listings}
    out = {
        name: CppTable(t, tenants=guests.get(name, {}), listing=name in lists)
        for name, t in layout.tables.items()
        if t.home is None
    }
    for name, t in layout.tables.items():
        if t.home is not None:
            out[name] = CppTable(t, out[t.home[0]])
    return {name: out[name] for name in layout.tables}
