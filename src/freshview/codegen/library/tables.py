"""What a kernel tells of itself: the relations that it takes, the queries and maps that it has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from freshview.calculus.functions import Functions
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import Kind, Type
from freshview.errors import UnknownName

# As `enum Kind` of kernel.hpp counts them.
KINDS: tuple[Kind, ...] = (
    "int",
    "decimal",
    "decimal",
    "double",
    "date",
    "timestamp",
    "bool",
    "string",
)


@dataclass(frozen=True, slots=True)
class Table:
    """What can be read from a kernel: a query, or a map with its payload as last column."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[int, ...] = ()
    """The columns by whose values rows can be found; none where only reading all of them helps."""
    collected: bool = False
    """Whether its changes can be collected while they are made."""


class Tables(Protocol):
    """The tables of a kernel, each known to it by its number."""

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What it takes rows of."""

    @property
    def functions(self) -> Functions:
        """What its code may call in Python."""

    @property
    def queries(self) -> tuple[Table, ...]:
        """The views that it answers."""

    @property
    def maps(self) -> tuple[Table, ...]:
        """What it keeps."""


def read_columns(
    descriptions: Iterable[tuple[str, int, int, int, int]],
) -> tuple[Column, ...]:
    """Columns as a kernel describes them: name, kind, scale, whether there are NULLs, and use."""
    return tuple(
        Column(name, Type(KINDS[kind], scale, bool(nullable)))
        for name, kind, scale, nullable, _ in descriptions
    )


def number_of(what: str, name: str, names: list[str]) -> int:
    """The number by which a kernel knows a relation, query or map."""
    if name not in names:
        known = ", ".join(names) or "there is none"
        raise UnknownName(f"there is no {what} '{name}'", instead=f"the kernel has: {known}")
    return names.index(name)
