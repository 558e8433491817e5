"""The words of the adaptive theta join (ElSeidy 2017, chapter 4).

The pairs of two streams R and S form a matrix. J joiners cover it with a grid of n rows and m
columns: R is cut into n parts, S into m, and the joiner of a cell keeps one part of each. Where a
tuple belongs depends on its key, a random number that all its replicas carry, and never on its
values; so skew does no harm, and all joiners agree on which tuples a new grid gives to whom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from freshview.errors import FreshviewError
from freshview.temporal.terms import Side as Side

Keys: TypeAlias = NDArray[np.uint64]
"""Stable keys: the upper 32 bits choose a part, the lower 32 bits a group."""

Hashes: TypeAlias = NDArray[np.uint64]
"""Hashes of the columns that an equality compares."""

Numbers: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


class BadGrid(FreshviewError):
    """A grid that joiners cannot form."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """R in `n` parts times S in `m` parts."""

    n: int
    m: int

    @property
    def joiners(self) -> int:
        """The number of cells."""
        return self.n * self.m

    def __str__(self) -> str:
        """As the thesis writes it.

        >>> str(Mapping(8, 2))
        '(8, 2)'
        """
        return f"({self.n}, {self.m})"


@dataclass(frozen=True, slots=True)
class Grid:
    """A mapping and the host of each of its cells, row by row."""

    mapping: Mapping
    hosts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.hosts) != self.mapping.joiners:
            raise BadGrid(f"{self.mapping} needs {self.mapping.joiners} hosts")
        if len(set(self.hosts)) != len(self.hosts):
            raise BadGrid(f"a host has two cells of {self.mapping}")
        for parts in (self.mapping.n, self.mapping.m):
            if parts < 1 or parts & (parts - 1):
                raise BadGrid(f"{self.mapping} has a side that is not a power of two")

    def host(self, row: int, column: int) -> int:
        """Who has the cell."""
        return self.hosts[row * self.mapping.m + column]

    def parts(self, side: Side) -> int:
        """Into how many parts a side is cut."""
        return self.mapping.n if side == "R" else self.mapping.m

    def replicas(self, side: Side, part: int) -> tuple[int, ...]:
        """The hosts of one part, in the order of the other side's parts."""
        n, m = self.mapping.n, self.mapping.m
        if side == "R":
            return self.hosts[part * m : (part + 1) * m]
        return tuple(self.hosts[row * m + part] for row in range(n))


@dataclass(frozen=True, slots=True)
class Groups:
    """Grids beside each other, one a power of two in J: every tuple is joined in all of them.

    It is stored in one, chosen by its key with the probability of the grid's share of the joiners.
    """

    grids: tuple[Grid, ...]

    @property
    def joiners(self) -> int:
        """How many there are in all."""
        return sum(g.mapping.joiners for g in self.grids)

    @property
    def hosts(self) -> tuple[int, ...]:
        """All the hosts, group by group."""
        return tuple(h for g in self.grids for h in g.hosts)


@dataclass(frozen=True, slots=True)
class HashPlacement:
    """Each value of the join key at one host: the symmetric hash join, for equalities alone."""

    hosts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Values of the join key in buckets: light ones at one host each, heavy ones on grids.

    Each of the `heavy` buckets, in ascending order, has grids of its own over all hosts. There are
    so many buckets that a heavy one hardly holds more than one frequent value.
    """

    hosts: tuple[int, ...]
    heavy: tuple[tuple[int, Groups], ...] = ()


@dataclass(frozen=True, slots=True)
class RangePlacement:
    """Ranges of the values of a band, one a host: they end before the `bounds`, the last nowhere.

    Tuples have addresses instead of hashes: S the place of its range, R `first * hosts + last`.
    """

    hosts: tuple[int, ...]
    bounds: tuple[float, ...]


Placement: TypeAlias = Groups | HashPlacement | Hybrid | RangePlacement


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much there is of each side, in tuples or in bytes."""

    r: float
    s: float

    @property
    def total(self) -> float:
        """Both sides together."""
        return self.r + self.s
