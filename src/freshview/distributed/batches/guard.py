"""Guards: violations of the contract of a stream are found before they change a map.

No multiplicity in a stream is negative, and no primary key has two rows: the compilers rely on
both, and views would be silently wrong. So the workers keep the rows of a guarded stream,
partitioned by the key (or the whole row), and check each batch against them:

    net[c] := (DELTA rows of R)(c);
    missing[c] := Sum[c](net[c] * (n := held[c] + net[c]) * {n < 0});
    net_of_key[k] := Sum[k](net[c]);
    doubled[k] := Sum[k](net_of_key[k] * (n := held_key[k] + net_of_key[k]) * {n > 1});
    held[c] += net[c];
    held_key[k] += net_of_key[k];

The rows are a relation of their own, with all their columns: their placement and filters are
independent of the views. The cost is proportional to the batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from freshview.calculus.build import add, const, mul, sum_
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Cmp, Delta, Expr, Lift, Op, Rel, Sum, Var, View
from freshview.calculus.types import INT
from freshview.distributed.terms import (
    Block,
    Compute,
    Dist,
    Distributed,
    Guard,
    MapPlacement,
    Routine,
)
from freshview.program.terms import Map, Statement

CHECK_BLOCK = 0
"""The block of a guarded routine after which violations are known."""


def guard(distributed: Distributed, relations: Iterable[Relation]) -> Distributed:
    """The same program, with the rows of these relations kept and checked."""
    plans = [_GuardMaps(r) for r in relations]
    if not plans:
        return distributed
    program = replace(
        distributed.program,
        relations=(*distributed.program.relations, *(p.source for p in plans)),
        maps=(*distributed.program.maps, *(m for p in plans for m in p.maps())),
    )
    batches = {**distributed.placement.batches, **{p.source.name: p.at for p in plans}}
    return replace(
        distributed,
        program=program,
        placement=replace(distributed.placement, batches=batches),
        maps=(*distributed.maps, *(placement for p in plans for placement in p.placements())),
        routines=tuple(_routine(r, plans) for r in distributed.routines),
        guards=tuple(p.guard for p in plans),
    )


def _routine(r: Routine, plans: list[_GuardMaps]) -> Routine:
    mine = [p for p in plans if p.relation.name in r.relations]
    if not mine:
        return r
    checks = tuple(s for p in mine for s in p.checks())
    updates = tuple(s for p in mine for s in p.updates())
    first = (Block("distributed", checks), Block("distributed", updates))
    temporaries = (placement for p in mine for placement in p.temporary())
    return replace(r, blocks=(*first, *r.blocks), maps=(*r.maps, *temporaries))


@dataclass(frozen=True)
class _GuardMaps:
    """The maps and statements of the guard of one relation; its columns are numbered."""

    relation: Relation

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(f"c{i}", c.type) for i, c in enumerate(self.relation.columns))

    @property
    def key(self) -> tuple[Column, ...]:
        """The columns of the primary key; none without one."""
        key = {k.lower() for k in self.relation.key}
        pairs = zip(self.columns, self.relation.columns, strict=True)
        return tuple(mine for mine, c in pairs if c.name.lower() in key)

    @property
    def at(self) -> Dist:
        """Rows are partitioned by their key, so that all rows of a key meet."""
        return Dist(tuple(c.name for c in self.key or self.columns))

    @property
    def source(self) -> Relation:
        return Relation(self.guard.source, self.columns)

    @property
    def guard(self) -> Guard:
        name = self.relation.name
        doubled = f"doubled of {name}" if self.key else ""
        kept = tuple(placement.name for placement in self.placements())
        return Guard(self.relation, f"rows of {name}", kept, f"missing of {name}", doubled)

    def maps(self) -> list[Map]:
        """The permanent maps."""
        names = tuple(c.name for c in self.columns)
        whole: Expr = Rel(self.relation.name, names)
        maps_kept = [Map(self._rows.name, self.columns, INT, whole)]
        if self.key:
            keys = tuple(c.name for c in self.key)
            maps_kept.append(Map(self._keys.name, self.key, INT, Sum(keys, whole)))
        return maps_kept

    def placements(self) -> list[MapPlacement]:
        """The permanent maps with their placement."""
        return [self._rows, self._keys] if self.key else [self._rows]

    def temporary(self) -> list[MapPlacement]:
        """The temporary maps."""
        placements = [self._net, self._map(self.guard.missing, self.columns, temporary=True)]
        if self.key:
            placements += [self._net_key, self._map(self.guard.doubled, self.key, temporary=True)]
        return placements

    def checks(self) -> list[Compute]:
        """Statements that compute the violations in `missing` and `doubled`."""
        names = _view(self._net).vars
        computes = [
            self._compute(_view(self._net), ":=", Delta(self.guard.source, names)),
            self._compute(*_beyond(self.guard.missing, self._net, self._rows, "<", 0)),
        ]
        if self.key:
            keys = _view(self._net_key)
            computes += [
                self._compute(keys, ":=", sum_(keys.vars, _view(self._net))),
                self._compute(*_beyond(self.guard.doubled, self._net_key, self._keys, ">", 1)),
            ]
        return computes

    def updates(self) -> list[Compute]:
        """Statements that apply the batch."""
        computes = [self._compute(_view(self._rows), "+=", _view(self._net))]
        if self.key:
            computes.append(self._compute(_view(self._keys), "+=", _view(self._net_key)))
        return computes

    @property
    def _rows(self) -> MapPlacement:
        return self._map(f"held of {self.relation.name}", self.columns)

    @property
    def _keys(self) -> MapPlacement:
        return self._map(f"held keys of {self.relation.name}", self.key)

    @property
    def _net(self) -> MapPlacement:
        return self._map(f"net of {self.relation.name}", self.columns, temporary=True)

    @property
    def _net_key(self) -> MapPlacement:
        return self._map(f"net of keys of {self.relation.name}", self.key, temporary=True)

    def _map(self, name: str, keys: tuple[Column, ...], *, temporary: bool = False) -> MapPlacement:
        return MapPlacement(name, keys, INT, self.at, temporary)

    def _compute(self, target: View, op: str, term: Expr) -> Compute:
        return Compute(Statement(target, "+=" if op == "+=" else ":=", term), self.at)


def _view(placement: MapPlacement) -> View:
    return View(placement.name, tuple(c.name for c in placement.keys))


def _beyond(
    name: str, net: MapPlacement, kept: MapPlacement, op: Op, bound: int
) -> tuple[View, str, Expr]:
    """The part of a net change that exceeds a bound together with the kept rows."""
    change, before = _view(net), _view(kept)
    after = Lift("n", add(before, change))
    term = sum_(change.vars, mul(change, after, Cmp(op, Var("n"), const(bound))))
    return View(name, change.vars), ":=", term
