"""The relational ring: payloads that are relations themselves (F-IVM 2018, Def. 6.4).

With it a conjunctive query is an aggregate without keys: the result is the payload of the root.
Rows carry the names of their columns, so that any two payloads add and multiply: the ring of
F-IVM 2018 is a proper one only with such schemas per row, as its footnote says.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeAlias

from freshview.algebra.element import Element

Cells: TypeAlias = tuple[tuple[str, Hashable], ...]
"""A row: column names with values, in the order of the names."""


class Relational(Element):
    """A finite map from rows to multiplicities; + is union and * is natural join.

    >>> ab = Relational.of("a", 1) * (Relational.of("b", 2) + Relational.of("b", 3))
    >>> ab.table(("b", "a"))
    {(2, 1): 1, (3, 1): 1}
    >>> ab.only(("a",)).table(("a",)), ab.total()
    ({(1,): 2}, 2)
    """

    __slots__ = ("rows",)

    def __init__(self, rows: Mapping[Cells, int] | None = None) -> None:
        self.rows: dict[Cells, int] = {row: n for row, n in (rows or {}).items() if n}

    @classmethod
    def whole(cls, n: int) -> Relational:
        """The row without columns, n times."""
        return cls({(): n})

    @classmethod
    def of(cls, name: str, value: Hashable) -> Relational:
        """One row with one column: the lifting function of a variable of the result."""
        return cls({((name, value),): 1})

    def plus(self, other: Relational) -> Relational:
        """Union."""
        return Relational(_gathered((*self.rows.items(), *other.rows.items())))

    def times(self, other: Relational) -> Relational:
        """Natural join; of payloads that share no column, the Cartesian product."""
        return Relational(
            _gathered(
                (row, n * m)
                for a, n in self.rows.items()
                for b, m in other.rows.items()
                if (row := _joined(a, b)) is not None
            )
        )

    def scaled(self, n: int) -> Relational:
        """N copies."""
        return Relational({row: n * m for row, m in self.rows.items()})

    def is_zero(self) -> bool:
        """No row."""
        return not self.rows

    def only(self, names: Iterable[str]) -> Relational:
        """Some of the columns, multiplicities added up: what a factorized payload keeps."""
        kept = frozenset(names)
        return Relational(
            _gathered((tuple(c for c in row if c[0] in kept), n) for row, n in self.rows.items())
        )

    def total(self) -> int:
        """How many rows: a homomorphism into the whole numbers if no two factors share columns."""
        return sum(self.rows.values())

    def table(self, names: tuple[str, ...]) -> dict[tuple[Hashable, ...], int]:
        """The rows over the given columns, which all of them have."""
        return {tuple(dict(row)[c] for c in names): n for row, n in self.rows.items()}

    def __eq__(self, other: object) -> bool:
        return self.rows == other.rows if isinstance(other, Relational) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.rows.items()))

    def __repr__(self) -> str:
        return f"Relational({self.rows})"


def _gathered(rows: Iterable[tuple[Cells, int]]) -> dict[Cells, int]:
    out: dict[Cells, int] = {}
    for row, n in rows:
        out[row] = out.get(row, 0) + n
    return out


def _joined(a: Cells, b: Cells) -> Cells | None:
    """Two rows as one, or None where they disagree on a column."""
    cells = dict(a)
    for name, value in b:
        if cells.setdefault(name, value) != value:
            return None
    return tuple(sorted(cells.items(), key=lambda cell: cell[0]))
