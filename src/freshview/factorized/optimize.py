"""The search for a variable order: free variables on top, then the smallest views.

What an order costs is the size of what its views join: V@X joins over dep(X) and X. What hangs
under X falls apart into parts that share no relation, and the cost of a part does not depend on
how the variables above it are arranged: only on which they are. So the best order of a part is
found once. On a chain of matrices this is the textbook program for the order of products. Of
orders that cost nearly the same, the one with the fewest views above the large relations wins:
a change passes through all of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from freshview.calculus.schema import Relation
from freshview.calculus.terms import Rel
from freshview.cost_model import nearly_cheapest
from freshview.factorized.order import VariableOrder
from freshview.factorized.terms import Join
from freshview.program.cost import STATIC_ROWS, STREAM_ROWS
from freshview.program.statistics import Statistics

MOST_TRIED = 12
"""Variables of a part up to which every one is tried on top; of a larger part only the one that
parts it best."""

NEARLY = 1.0001
"""Costs up to this ratio are the same: estimates are rough."""

Parts = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True)
class PartOrder:
    """An order of a part: what its views join, rows that pass through them, and the order.

    A root of the part stands above None.
    """

    cost: float
    passing: float
    order: Parts


@dataclass(frozen=True)
class Sizes:
    """Rows of each relation, and distinct values of each variable, where known."""

    rows: Mapping[str, float]
    domains: Mapping[str, float] = field(default_factory=dict)


def find_order(
    join: Join, relations: Sequence[Relation] = (), statistics: Statistics | None = None
) -> VariableOrder:
    """The order of least estimated cost.

    >>> from freshview.calculus.text import read
    >>> atoms = tuple(map(read, ("R(A, B)", "S(A, C, E)", "T(C, D)")))
    >>> str(find_order(Join((), atoms)))
    'A - {C - {E, D}, B}'
    """
    return cheapest(join, sizes_of(join, relations, statistics or Statistics()))


def sizes_of(join: Join, relations: Sequence[Relation], statistics: Statistics) -> Sizes:
    """Sizes as declared: of a key all values differ, of another column the square root of them."""
    named = {r.name: r for r in relations}
    rows: dict[str, float] = {}
    domains: dict[str, float] = {}
    for atom in join.atoms:
        r = named.get(atom.name)
        usual = STATIC_ROWS if r is not None and r.static else STREAM_ROWS
        count = rows[atom.name] = max(statistics.rows.get(atom.name, usual), 1.0)
        for i, v in enumerate(atom.vars):
            key = r.key if r is not None else ()
            in_key = r is not None and r.columns[i].name in key
            values = count ** (1 / len(key)) if in_key else count**0.5
            domains[v] = min(domains.get(v, values), values)
    return Sizes(rows, domains)


def cheapest(join: Join, sizes: Sizes) -> VariableOrder:
    """The order whose views join the fewest rows, by these sizes."""
    search = _Search(join, sizes)
    above: list[tuple[str, str | None]] = []
    for part in search.parts(search.shared):
        above.extend(search.best(part).order)
    return VariableOrder(tuple(above)).with_rest(join.atoms)


class _Search:
    """Best orders of the parts of one join, each found once."""

    def __init__(self, join: Join, sizes: Sizes) -> None:
        self.join = join
        self.sizes = sizes
        self.free = frozenset(join.keys)
        counts = Counter(v for atom in join.atoms for v in set(atom.vars))
        self.shared = [v for v in join.variables if counts[v] > 1 or v in self.free]
        self.near = {
            v: {w for a in join.atoms if v in a.vars for w in a.vars if w in self.shared}
            for v in self.shared
        }
        self.known: dict[frozenset[str], PartOrder] = {}

    def parts(self, names: Iterable[str]) -> list[list[str]]:
        """Groups of variables that share relations, directly or through each other."""
        left = list(names)
        components: list[list[str]] = []
        while left:
            part, grown = {left[0]}, True
            while grown:
                more = {v for v in left if v not in part and self.near[v] & part}
                part |= more
                grown = bool(more)
            components.append([v for v in left if v in part])
            left = [v for v in left if v not in part]
        return components

    def best(self, part: Sequence[str]) -> PartOrder:
        """The order of least cost of a part."""
        key = frozenset(part)
        if key not in self.known:
            options = [self._under(v, part) for v in self._tops(part)]
            near = nearly_cheapest(options, lambda o: o.cost, NEARLY)
            self.known[key] = min(near, key=lambda o: o.passing)
        return self.known[key]

    def _tops(self, part: Sequence[str]) -> list[str]:
        """The variables that may be on top: free ones first; of many only one."""
        tops = [v for v in part if v in self.free] or list(part)
        if len(part) <= MOST_TRIED:
            return tops

        def largest_rest(v: str) -> int:
            return max((len(p) for p in self.parts(w for w in part if w != v)), default=0)

        return [min(tops, key=largest_rest)]

    def _under(self, top: str, part: Sequence[str]) -> PartOrder:
        """The best order of a part with this variable on top."""
        above = {w for v in part for w in self.near[v]} - set(part)
        cost = self.size(frozenset({top}) | above)
        below = [a for a in self.join.atoms if not set(part).isdisjoint(a.vars)]
        passing = sum(self.sizes.rows.get(a.name, 1.0) for a in below)
        order: list[tuple[str, str | None]] = [(top, None)]
        for rest in self.parts(v for v in part if v != top):
            branch = self.best(rest)
            cost, passing = cost + branch.cost, passing + branch.passing
            order.extend((v, top if parent is None else parent) for v, parent in branch.order)
        return PartOrder(cost, passing, tuple(order))

    def size(self, names: frozenset[str]) -> float:
        """How many rows a view over these variables may have: by values, or by rows with them."""
        values = math.prod(self.sizes.domains.get(v, math.inf) for v in names)
        return min(values, self._cover(names))

    def _cover(self, names: frozenset[str]) -> float:
        """Rows of relations that have all the variables between them, the cheapest found."""
        left, total = set(names), 1.0
        while left:
            best: Rel | None = min(
                (a for a in self.join.atoms if left & set(a.vars)),
                key=lambda a: self.sizes.rows.get(a.name, 1.0) ** (1 / len(left & set(a.vars))),
                default=None,
            )
            if best is None:
                return math.inf
            total *= self.sizes.rows.get(best.name, 1.0)
            left -= set(best.vars)
        return total
