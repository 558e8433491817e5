"""Spread matrices of the workers, and terms of the driver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from freshview.linear.language.meta import Meta
from freshview.linear.language.sizes import Size
from freshview.linear.language.terms import Expr


@dataclass(frozen=True, slots=True)
class SpreadRule:
    """The rule for spread matrices, and those that are copied by columns as well.

    A matrix with more cells than `driver` is spread, unless the rank of an update is one of its
    sizes: factors are narrow. `most` is the most cells of a matrix that the driver inverts.
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
    """A spread matrix, maybe transposed."""

    name: str
    meta: Meta
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class DriverTerm:
    """A matrix of the driver, as a term over its other matrices."""

    term: Expr
    meta: Meta


Value: TypeAlias = Spread | DriverTerm
