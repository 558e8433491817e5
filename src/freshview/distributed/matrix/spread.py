"""Which matrices are spread over the workers, and which are terms that the driver holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from freshview.linear.language.meta import Meta
from freshview.linear.language.sizes import Size
from freshview.linear.language.terms import Expr


@dataclass(frozen=True, slots=True)
class SpreadRule:
    """Which matrices are spread, and which of them are copied by columns as well.

    What has more cells than `driver` is spread, unless the rank of an update is one of its sizes:
    factors are narrow. `most` is how many cells the driver takes to invert a matrix.
    """

    sizes: Mapping[str, float]
    rank: str
    driver: int
    most: int
    copied: frozenset[str] = frozenset()

    def is_large(self, m: Meta) -> bool:
        """Whether a matrix of this shape is spread."""
        narrow = any(self.rank in v for s in (m.rows, m.cols) for v, _ in s.terms)
        return not narrow and self.at(m.rows) * self.at(m.cols) > self.driver

    def at(self, s: Size) -> int:
        """A size as a number."""
        return int(s.at(self.sizes))


@dataclass(frozen=True, slots=True)
class Spread:
    """A spread matrix, maybe turned."""

    name: str
    meta: Meta
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class DriverTerm:
    """A matrix that the driver holds, as a term over what it has."""

    term: Expr
    meta: Meta


Value: TypeAlias = Spread | DriverTerm
