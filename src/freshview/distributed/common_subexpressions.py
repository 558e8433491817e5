"""Common subexpressions and dead code: compute and move a map once or never (Nikolic 2016, 5.3.2).

Two steps give the same map if they run at the same location, read the same maps, and none of these
is written in between. Terms are compared up to the names of variables and the order of factors, so
the columns of the remaining map may have another order: readers are rewritten.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from freshview.calculus.alpha_equivalence import alike
from freshview.calculus.scope import stored
from freshview.calculus.terms import Expr, View
from freshview.calculus.walk import bottom_up
from freshview.distributed.terms import (
    Compute,
    Dist,
    Location,
    MapPlacement,
    Random,
    Slice,
    Step,
    Transfer,
    rekeyed,
)

Versions = tuple[tuple[str, int], ...]
Order = tuple[int, ...]
"""For each column of the removed map, its position in the remaining one."""


def share_common(
    steps: list[Step], temporaries: list[MapPlacement]
) -> tuple[list[Step], list[MapPlacement]]:
    """The steps without repetitions and dead code, and the temporary maps that they need."""
    kept = _alive(
        _Sharing({m.name: m for m in temporaries}).run(steps), {m.name for m in temporaries}
    )
    written = {target(s) for s in kept}
    order = {m.name: m for m in temporaries}
    for s in kept:
        if isinstance(s, Transfer) and s.source in order:
            # Columns follow the map that is sent.
            order[s.target] = replace(order[s.target], keys=order[s.source].keys)
    named = [_renamed(m, order[m.name], kept) for m in temporaries if m.name in written]
    return kept, named


def target(s: Step) -> str:
    """The map that a step writes."""
    return s.target


def sources(s: Step) -> frozenset[str]:
    """The maps that a step reads."""
    return frozenset((s.source,)) if isinstance(s, Transfer) else stored(s.statement.term)


def _renamed(old: MapPlacement, new: MapPlacement, steps: list[Step]) -> MapPlacement:
    """A map whose columns were reordered, with its location in their names."""
    by = next((s.by for s in steps if isinstance(s, Transfer) and s.target == old.name), None)
    if by is None or not isinstance(old.at, Dist | Slice):
        return replace(old, keys=new.keys)
    at = replace(old.at, keys=tuple(new.keys[i].name for i in by))
    return replace(old, keys=new.keys, at=at)


@dataclass
class _Sharing:
    """The maps computed and moved so far, with the versions of their sources."""

    temporaries: dict[str, MapPlacement]
    versions: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    computed: list[tuple[Compute, Versions]] = field(default_factory=list)
    moved: dict[tuple[object, ...], str] = field(default_factory=dict)
    instead: dict[str, tuple[str, Order]] = field(default_factory=dict)

    def run(self, steps: list[Step]) -> list[Step]:
        kept: list[Step] = []
        for step in steps:
            new = self._transfer(step) if isinstance(step, Transfer) else self._compute(step)
            if new is not None:
                kept.append(new)
                self.versions[target(new)] += 1
        return kept

    def _read(self, names: frozenset[str]) -> Versions:
        return tuple(sorted((n, self.versions[n]) for n in names))

    def _compute(self, step: Compute) -> Compute | None:
        s = step.statement
        step = replace(step, statement=replace(s, term=self._rewired(s.term)))
        if s.target.name not in self.temporaries:
            return step
        versions = self._read(sources(step))
        for other, seen in self.computed:
            order = _same(other, step) if seen == versions else None
            if order is not None:
                self.instead[s.target.name] = other.target, order
                return None
        self.computed.append((step, versions))
        return step

    def _transfer(self, step: Transfer) -> Transfer | None:
        source, order = self.instead.get(step.source, (step.source, ()))
        by = tuple(order[i] for i in step.by) if order else step.by
        line = (step.to.axis, step.to.shape) if isinstance(step.to, Slice) else ()
        key = (step.kind, source, by, type(step.to), line, self.versions[source])
        if key in self.moved:
            self.instead[step.target] = self.moved[key], order
            return None
        self.moved[key] = step.target
        if order:
            self.instead[step.target] = step.target, order
        return replace(step, source=source, by=by)

    def _rewired(self, e: Expr) -> Expr:
        def swap(t: Expr) -> Expr | None:
            if not isinstance(t, View) or t.name not in self.instead:
                return None
            name, order = self.instead[t.name]
            if not order:
                return View(name, t.vars)
            columns = [""] * len(order)
            for v, i in zip(t.vars, order, strict=True):
                columns[i] = v
            return View(name, tuple(columns))

        return bottom_up(e, swap)


def _same(a: Compute, b: Compute) -> Order | None:
    """The positions of b's columns in a's map, if both maps are equal."""
    x, y = a.statement, b.statement
    names = alike(y.term, x.term)
    if names is None or not _alike_places(b.at, a.at, names):
        return None
    columns = x.target.vars
    return tuple(columns.index(names[v]) for v in y.target.vars)


def _alike_places(b: Location, a: Location, names: Mapping[str, str]) -> bool:
    if isinstance(b, Dist | Slice):
        return a == rekeyed(b, names)
    if isinstance(a, Random) and isinstance(b, Random):
        return True
    return a == b


def _alive(steps: list[Step], temporary: set[str]) -> list[Step]:
    """The steps that contribute to a permanent map."""
    wanted: set[str] = set()
    kept: list[Step] = []
    for step in reversed(steps):
        if target(step) in temporary and target(step) not in wanted:
            continue
        wanted |= sources(step)
        kept.append(step)
    return kept[::-1]
