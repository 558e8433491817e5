"""Changes that are products: kept as factors all the way up the tree (F-IVM 2018, 5).

A change of n x m rows that is {a1..an} x {b1..bm} is n + m values. `decompose` finds such products
in a batch. A relation that is declared to change by products gets one more stream a factor: the
rows of all factors but the last are put aside, and the batch of the last one applies the product.
A column that several factors have is a number, and the product's is the product of theirs: a
matrix with entries in a column changes by u * v' by factors (row, value) and (column, value).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from freshview.calculus.build import mul
from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Delta, Expr, Lift, Rel, Var, View
from freshview.calculus.types import INT
from freshview.calculus.walk import Names
from freshview.errors import ProgramProblem
from freshview.factorized.terms import Leaf
from freshview.program.terms import Map, Statement

Groups = Mapping[str, Sequence[Sequence[str]]]
"""Relations that change by products, and the columns of each factor."""
MOST_COLUMNS = 8
"""Columns up to which all ways to part them are tried."""


@dataclass(frozen=True)
class Factors:
    """A relation that changes by products, and the columns of each factor."""

    relation: Relation
    groups: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        named = {c.name: c for c in self.relation.columns}
        grouped = [c for group in self.groups for c in group]
        if set(grouped) != set(named):
            raise ProgramProblem(
                f"the factors of '{self.relation.name}' have the columns {', '.join(grouped)}, "
                f"it has {', '.join(named)}"
            )
        for c in {c for c in grouped if grouped.count(c) > 1}:
            t = named[c].type
            if t.kind not in ("int", "double") or t.nullable:
                raise ProgramProblem(
                    f"column '{c}' of '{self.relation.name}' is {t}: factors cannot share it",
                    instead="let them share columns that are INT NOT NULL or DOUBLE NOT NULL",
                )

    @cached_property
    def streams(self) -> tuple[Relation, ...]:
        """One stream a factor: R_1, R_2, ..."""
        types = {c.name: c.type for c in self.relation.columns}
        return tuple(
            Relation(f"{self.relation.name}_{i}", tuple(Column(c, types[c]) for c in group))
            for i, group in enumerate(self.groups, 1)
        )

    def aside(self) -> list[tuple[Map, Statement]]:
        """Where the rows of all factors but the last wait."""
        maps = []
        for r in self.streams[:-1]:
            names = tuple(c.name for c in r.columns)
            m = Map(f"{r.name}_aside", r.columns, INT, Rel(r.name, names))
            statement = Statement(View(m.name, names), ":=", Delta(r.name, names))
            maps.append((m, statement))
        return maps

    def rows(self, leaf: Leaf, names: Names) -> Expr:
        """The product as rows of a leaf, its shared columns multiplied."""
        variable = {c.name: v for c, v in zip(self.relation.columns, leaf.atom.vars, strict=True)}
        grouped = [c for group in self.groups for c in group]
        values: dict[str, list[Expr]] = {c: [] for c in grouped if grouped.count(c) > 1}
        parts: list[Expr] = []
        for i, r in enumerate(self.streams, 1):
            over: list[str] = []
            for c in r.columns:
                if c.name in values:
                    over.append(names.fresh(f"{variable[c.name]}_{i}"))
                    values[c.name].append(Var(over[-1]))
                else:
                    over.append(variable[c.name])
            last = i == len(self.streams)
            parts.append(
                Delta(r.name, tuple(over)) if last else View(f"{r.name}_aside", tuple(over))
            )
        return mul(*parts, *(Lift(variable[c], mul(*lifted)) for c, lifted in values.items()))


@dataclass(frozen=True)
class Grid:
    """Rows of some columns times rows of the others, `sign` times."""

    left: frozenset[Row]
    right: Mapping[Row, int]
    sign: int = 1

    @property
    def size(self) -> int:
        """How many values say it."""
        return len(self.left) + len(self.right)


def decompose(
    rows: Mapping[Row, int], way: Sequence[int] | None = None
) -> tuple[tuple[int, ...], list[Grid]]:
    """A batch as a sum of products over two groups of columns; the positions of the left group.

    Rows that meet the same others form one product; where a few are missing, all are taken and
    the missing ones taken back, if that is shorter. Without a `way` to part the columns, the one
    that gives the shortest sum.

    >>> grid = {(a, b): 1 for a in range(5) for b in range(4)}
    >>> left, [only] = decompose(grid)
    >>> left, only.size
    ((0,), 9)
    """
    if way is not None:
        return tuple(way), _over(rows, way)
    columns = len(next(iter(rows), ()))
    if columns < 2:
        return (0,), [Grid(frozenset(rows), {(): 1})] if rows else []
    widths = range(1, columns) if columns <= MOST_COLUMNS else (1,)
    ways = [way for n in widths for way in combinations(range(columns), n) if n == 1 or 0 in way]
    products = [(way, _over(rows, way)) for way in ways]
    return min(products, key=lambda way: sum(p.size for p in way[1]))


def _over(rows: Mapping[Row, int], way: Sequence[int]) -> list[Grid]:
    met: dict[Row, dict[Row, int]] = {}
    for row, n in rows.items():
        left = tuple(row[i] for i in way)
        right = tuple(x for i, x in enumerate(row) if i not in way)
        met.setdefault(left, {})[right] = n
    groups: dict[frozenset[tuple[Row, int]], set[Row]] = {}
    for left, rights in met.items():
        groups.setdefault(frozenset(rights.items()), set()).add(left)
    ranked = sorted(groups.items(), key=lambda g: (-len(g[0]), repr(sorted(map(repr, g[1])))))
    grids: list[Grid] = []
    for others, lefts in ranked:
        for i, big in enumerate(grids):
            missing = dict(big.right.items() - others)
            within = big.sign > 0 and others <= big.right.items()
            if within and 2 * len(lefts) + len(missing) < len(lefts) + len(others):
                grids[i] = Grid(big.left | lefts, big.right)
                grids.append(Grid(frozenset(lefts), missing, -1))
                break
        else:
            grids.append(Grid(frozenset(lefts), dict(others)))
    return grids
