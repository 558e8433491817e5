"""Shared work on batches: terms over a batch alone are computed once, where the batch is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from freshview.calculus.check import Schema, infer
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Column
from freshview.calculus.scope import ins, outs, reads_delta
from freshview.calculus.terms import Delta, Exists, Expr, Rel, Sum, View
from freshview.calculus.walk import Names, children, map_children, subterms
from freshview.distributed.communication_cost import canonical
from freshview.distributed.terms import (
    Block,
    Compute,
    Distributed,
    Everywhere,
    Local,
    MapPlacement,
    Random,
    Routine,
    Step,
)
from freshview.program.terms import Statement


def share_batch_work(distributed: Distributed, functions: Functions = BUILTINS) -> Distributed:
    """The program with a temporary map for every such term that a routine has twice.

    M[a] += Sum[a](dR(a, b)) * N[a]; K[a] += Sum[a](dR(a, b)) =>
    part[a] := Sum[a](dR(a, b)); M[a] += part[a] * N[a]; K[a] += part[a]
    """
    maps = {m.name: (tuple(c.type for c in m.keys), m.payload) for m in distributed.program.maps}
    schema = Schema({r.name: r.types for r in distributed.program.relations}, maps, functions)
    used = set(maps) | {r.name for r in distributed.program.relations}
    return replace(
        distributed, routines=tuple(_routine(r, schema, used) for r in distributed.routines)
    )


def _routine(r: Routine, schema: Schema, used: set[str]) -> Routine:
    names = Names(used | {h.name for h in r.maps})
    steps = [s for b in r.blocks for s in b.steps]
    terms = [s.statement.term for s in steps if isinstance(s, Compute) and _is_worked(s)]
    count = Counter(canonical(p, Local())[0] for t in terms for p in _parts(t))
    parts = _Parts(schema, names, {p for p, n in count.items() if n > 1})
    blocks = tuple(parts.block(b) for b in r.blocks)
    return replace(r, blocks=blocks, maps=(*r.maps, *parts.temporaries))


@dataclass
class _Parts:
    """The temporary maps so far, by their terms."""

    schema: Schema
    names: Names
    wanted: set[Expr]
    temporaries: list[MapPlacement] = field(default_factory=list)
    known: dict[Expr, str] = field(default_factory=dict)
    before: list[Compute] = field(default_factory=list)

    def block(self, b: Block) -> Block:
        steps: list[Step] = []
        for s in b.steps:
            if isinstance(s, Compute) and _is_worked(s):
                term = self.replaced(s.statement.term)
                steps += self.before
                self.before.clear()
                s = replace(s, statement=replace(s.statement, term=term))
            steps.append(s)
        return replace(b, steps=tuple(steps))

    def replaced(self, e: Expr) -> Expr:
        if not _is_part(e):
            return map_children(e, self.replaced)
        term, _ = canonical(e, Local())
        if term not in self.wanted:
            return e
        if term not in self.known:
            self._declare(term)
        return View(self.known[term], _columns(e))

    def _declare(self, term: Expr) -> None:
        name = self.known[term] = self.names.fresh("part")
        payload, types = infer(term, self.schema)
        keys = tuple(Column(v, types[v]) for v in _columns(term))
        self.temporaries.append(MapPlacement(name, keys, payload, Random(), temporary=True))
        target = View(name, tuple(c.name for c in keys))
        self.before.append(Compute(Statement(target, ":=", term), Random()))


def _columns(e: Expr) -> tuple[str, ...]:
    """The columns of a part, in order of first occurrence."""
    seen = (v for t in subterms(e) if isinstance(t, Delta) for v in t.vars)
    return tuple(dict.fromkeys(v for v in seen if v in outs(e)))


def _is_worked(s: Compute) -> bool:
    """Whether only the workers run it."""
    return not isinstance(s.at, Local | Everywhere)


def _parts(e: Expr) -> Iterator[Expr]:
    if _is_part(e):
        yield e
    else:
        for child in children(e):
            yield from _parts(child)


def _is_part(e: Expr) -> bool:
    """Whether a term is closed and reads a batch only."""
    return (
        isinstance(e, Sum | Exists)
        and reads_delta(e)
        and not ins(e)
        and len(_columns(e)) == len(outs(e))
        and not any(isinstance(t, View | Rel) for t in subterms(e))
    )
