"""Grids of workers for joins whose sides no key can partition (ElSeidy 2017, 4.2).

Where a batch of `a` is joined with a map over `b` on no common column, and one of `b` with a map
over `a`, any two rows may meet. Either every worker has a copy of one side, or workers form a grid:
one side is in its rows, the other in its columns, and each pair meets where the lines cross.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from freshview.calculus.schema import Relation
from freshview.calculus.scope import relations, stored
from freshview.calculus.terms import Delta, Expr, View
from freshview.calculus.walk import subterms
from freshview.distributed.terms import Location, Slice
from freshview.program.terms import Program

Shape: TypeAlias = tuple[int, int]
Axis: TypeAlias = Literal["rows", "columns"]


@dataclass(frozen=True, slots=True)
class Sides:
    """The maps of both sides of a join, and the streams whose batches alone change them."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]


def sides(program: Program) -> list[Sides]:
    """The joins of a program that no key can partition.

    Maps form a graph, in which two are neighbours if changes of each are joined with the other
    without a common column. A connected part of it that has two colours is such a join.
    """
    near = _neighbours(program)
    joins: list[Sides] = []
    seen: set[str] = set()
    for name in near:
        if name in seen:
            continue
        color = {name: 0}
        pending = [name]
        fits = True
        while pending:
            here = pending.pop()
            for other in near[here]:
                if other not in color:
                    color[other] = 1 - color[here]
                    pending.append(other)
                fits &= color[other] != color[here]
        seen |= color.keys()
        if fits:
            parts = [tuple(m for m in near if color.get(m) == c) for c in (0, 1)]
            joins.append(Sides(parts[0], parts[1]))
    return joins


def _neighbours(program: Program) -> dict[str, list[str]]:
    """For each map those on the other side of such a join, in the order of the program."""
    streams = streams_by_map(program)
    apart = {
        pair
        for t in program.triggers
        if t.event == "batch"
        for s in t.statements
        for pair in _apart(s.term)
    }

    def meets(changed: str, other: str) -> bool:
        return any((r, other) in apart for r in streams[changed])

    near: dict[str, list[str]] = {}
    for one in streams:
        for other in streams:
            if one != other and meets(one, other) and meets(other, one):
                near.setdefault(one, []).append(other)
    return near


def streams_by_map(program: Program) -> dict[str, frozenset[str]]:
    """The streams that each map is computed from, also by way of derived views."""
    static = {r.name for r in program.relations if r.static}
    definitions = {m.name: m.definition for m in program.maps}
    derived = {q.name: q.term for q in program.derived}

    def of(e: Expr) -> frozenset[str]:
        below = [of(definitions[n]) for n in stored(e) if n in definitions]
        below += [of(derived[n]) for n in relations(e) & derived.keys()]
        return frozenset(relations(e)).union(*below) - static - derived.keys()

    return {name: of(e) for name, e in definitions.items()}


def _apart(e: Expr) -> Iterator[tuple[str, str]]:
    """The batches and maps of a term that no column joins."""
    atoms = list(subterms(e))
    views = [v for v in atoms if isinstance(v, View) and v.vars]
    for batch in (d for d in atoms if isinstance(d, Delta)):
        for view in views:
            if not set(batch.vars) & set(view.vars):
                yield batch.name, view.name


def source_columns(program: Program, name: str, relation: Relation) -> dict[str, str]:
    """The keys of a map by the columns of a stream that they are; those that batches tell."""
    keys = next(tuple(c.name for c in m.keys) for m in program.maps if m.name == name)
    for t in program.triggers:
        for s in t.statements:
            if t.event != "batch" or t.relation != relation.name or s.target.name != name:
                continue
            batch = next((d for d in subterms(s.term) if isinstance(d, Delta)), None)
            if batch is None:
                return {}
            key_of = dict(zip(s.target.vars, keys, strict=True))
            columns = zip(batch.vars, relation.columns, strict=True)
            return {c.name: key_of[v] for v, c in columns if v in key_of}
    return {}


def best_shape(rows: float, columns: float, workers: int) -> Shape:
    """The grid on which each worker has the least of both sides; (1, n) is a copy of `rows`.

    >>> best_shape(1e6, 1e6, 16), best_shape(1e6, 64e6, 64), best_shape(1e6, 1e6, 7)
    ((4, 4), (1, 64), (2, 3))
    """
    shapes = [(n, workers // n) for n in range(1, workers + 1)]
    return min(shapes, key=lambda s: (load(rows, columns, s), abs(s[0] - s[1])))


def load(rows: float, columns: float, shape: Shape) -> float:
    """What a worker has: the load factor."""
    return rows / shape[0] + columns / shape[1]


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid for a join, and the bytes of its sides."""

    joined: Sides
    shape: Shape
    bytes: tuple[float, float]
    workers: int

    @classmethod
    def of(cls, joined: Sides, rows: float, columns: float, workers: int) -> Grid:
        """The grid of the least load."""
        return cls(joined, best_shape(rows, columns, workers), (rows, columns), workers)

    @property
    def is_square_enough(self) -> bool:
        """Whether it is more than a copy of one side on every worker."""
        return 1 not in self.shape

    def placement(self, program: Program) -> tuple[dict[str, Location], dict[str, Location]]:
        """Where the maps are, and where batches arrive.

        Batches that change one side alone arrive where its rows are stored: so they meet those of
        the other side there, and nothing else is sent.
        """
        streams = streams_by_map(program)
        keys = {m.name: tuple(c.name for c in m.keys) for m in program.maps}
        maps: dict[str, Location] = {}
        arrivals: dict[str, Location] = {}
        sides = self.joined.rows, self.joined.columns
        axes: tuple[Axis, Axis] = ("rows", "columns")
        for axis, names, others in zip(axes, sides, sides[::-1], strict=True):
            maps |= {n: Slice(keys[n], axis, self.shape) for n in names}
            for relation in program.relations:
                alone = [n for n in names if streams[n] == {relation.name}]
                sources = {n: source_columns(program, n, relation) for n in alone}
                common = [
                    c.name
                    for c in relation.columns
                    if alone and all(c.name in source for source in sources.values())
                ]
                both = any(streams[n] == {relation.name} for n in others)
                if common and not both:
                    arrivals[relation.name] = Slice(tuple(common), axis, self.shape)
                    for n, source in sources.items():
                        maps[n] = Slice(tuple(source[c] for c in common), axis, self.shape)
        return maps, arrivals

    def words(self, share: float) -> str:
        """Why the join is on this grid, which leaves a share of the load."""
        n, m = self.shape
        return (
            f"scheme: {self._joined} on a grid of {n} x {m} workers, as no key can partition both: "
            f"a worker keeps and receives {share:.0%} of what it would else"
        )

    @property
    def words_without(self) -> str:
        """Why it is not, though no key can partition it."""
        rows, columns = (f"{size:,.0f}" for size in self.bytes)
        if not self.is_square_enough:
            why = f"with {rows} and {columns} bytes, copies of the smaller side are the best grid"
        else:
            why = f"a grid of {self.shape[0]} x {self.shape[1]} workers is no better"
        return f"scheme: {self._joined} without a grid, though no key can partition both: {why}"

    @property
    def _joined(self) -> str:
        return f"{', '.join(self.joined.rows)} and {', '.join(self.joined.columns)} are joined"
