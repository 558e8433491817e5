"""Square matrices as payloads: a ring whose product does not commute."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from freshview.algebra.element import Element
from freshview.algebra.numeric import NUMBERS, Number


@dataclass(frozen=True, slots=True)
class Matrix(Element):
    """An n x n matrix by rows; without rows it is `multiple` times the identity of any size.

    >>> a = Matrix.of(((0, 1), (0, 0)))
    >>> a * Matrix.of(((0, 0), (1, 0))), a + 2
    (Matrix(rows=((1, 0), (0, 0)), multiple=0), Matrix(rows=((2, 1), (0, 2)), multiple=0))
    """

    commutative: ClassVar[bool] = False
    rows: tuple[tuple[Number, ...], ...]
    multiple: int = 0

    @classmethod
    def of(cls, rows: tuple[tuple[Number, ...], ...]) -> Matrix:
        """A matrix by its rows; a multiple of the identity is kept as such, whatever its size."""
        first = rows[0][0]
        diagonal = first % 1 == 0 and all(
            x == (first if i == j else 0) for i, row in enumerate(rows) for j, x in enumerate(row)
        )
        return cls((), int(first)) if diagonal else cls(rows)

    @classmethod
    def whole(cls, n: int) -> Matrix:
        """N times the identity."""
        return cls((), n)

    def sized(self, size: int) -> tuple[tuple[Number, ...], ...]:
        """The rows, written out."""
        if self.rows:
            return self.rows
        at = range(size)
        return tuple(tuple(self.multiple if i == j else 0 for j in at) for i in at)

    def plus(self, other: Matrix) -> Matrix:
        """Entry by entry."""
        size = len(self.rows or other.rows)
        if not size:
            return Matrix((), self.multiple + other.multiple)
        pairs = zip(self.sized(size), other.sized(size), strict=True)
        return Matrix.of(tuple(tuple(map(NUMBERS.add, a, b)) for a, b in pairs))

    def times(self, other: Matrix) -> Matrix:
        """Rows by columns."""
        if not self.rows:
            return other.scaled(self.multiple)
        if not other.rows:
            return self.scaled(other.multiple)
        columns = list(zip(*other.rows, strict=True))
        return Matrix.of(tuple(tuple(_dot(row, c) for c in columns) for row in self.rows))

    def scaled(self, n: int) -> Matrix:
        """Every entry n times."""
        if not self.rows:
            return Matrix((), n * self.multiple)
        return Matrix.of(tuple(tuple(NUMBERS.mul(n, x) for x in row) for row in self.rows))

    def is_zero(self) -> bool:
        """Every entry is zero."""
        return not self.rows and not self.multiple


def _dot(a: tuple[Number, ...], b: tuple[Number, ...]) -> Number:
    return reduce(NUMBERS.add, map(NUMBERS.mul, a, b))
