"""Batches without the columns that no statement reads: they are neither written down nor moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from freshet.calculus.schema import Relation
from freshet.calculus.terms import (
    Add,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshet.calculus.walk import bottom_up, subterms
from freshet.program.terms import Statement
from freshet.spark.terms import Block, Compute, Dist, Distributed, Step


def narrow(made: Distributed) -> Distributed:
    """The same program over batches of fewer columns; `program.relations` tells which are left.

    Sum[a](dR(a, b) * f(a)) => Sum[a](dR(a) * f(a)): what is added up at once need not be told
    apart. Below Exists, an assignment or Top that is so only from the next Sum on.
    """
    kept = {r.name: _kept(r, made) for r in made.program.relations if not r.static}
    relations = tuple(_narrowed(r, kept) for r in made.program.relations)

    def rule(e: Expr) -> Expr | None:
        if not isinstance(e, Delta) or len(e.vars) == len(kept[e.name]):
            return None
        return replace(e, vars=tuple(e.vars[i] for i in kept[e.name]))

    def block(b: Block) -> Block:
        return replace(b, steps=tuple(_step(s) for s in b.steps))

    def _step(s: Step) -> Step:
        if not isinstance(s, Compute):
            return s
        return replace(s, statement=replace(s.statement, term=bottom_up(s.statement.term, rule)))

    return replace(
        made,
        program=replace(made.program, relations=relations),
        routines=tuple(
            replace(r, blocks=tuple(block(b) for b in r.blocks)) for r in made.routines
        ),
    )


def _narrowed(r: Relation, kept: dict[str, tuple[int, ...]]) -> Relation:
    if r.name not in kept:
        return r
    columns = tuple(r.columns[i] for i in kept[r.name])
    names = {c.name for c in columns}
    return replace(r, columns=columns, key=r.key if set(r.key) <= names else ())


def _kept(relation: Relation, made: Distributed) -> tuple[int, ...]:
    """The positions that some statement reads, or by which the batch is delivered; at least one."""
    arrives = made.placement.batches.get(relation.name)
    names = [c.name for c in relation.columns]
    found = {names.index(k) for k in arrives.keys} if isinstance(arrives, Dist) else set()
    for s in _statements(made):
        once = _once(s)
        for delta, summed in _deltas(s.term, summed=False):
            if delta.name == relation.name:
                found |= {i for i, v in enumerate(delta.vars) if not (summed and v in once)}
    return tuple(sorted(found or {0}))


def _statements(made: Distributed) -> Iterator[Statement]:
    for routine in made.routines:
        for block in routine.blocks:
            yield from (s.statement for s in block.steps if isinstance(s, Compute))


def _once(s: Statement) -> frozenset[str]:
    """The variables that a statement names once: nothing asks for their values."""
    count = Counter(s.target.vars)
    for e in subterms(s.term):
        count.update(_named(e))
    return frozenset(v for v, n in count.items() if n == 1)


def _named(e: Expr) -> Iterable[str]:
    match e:
        case Rel(_, names) | Delta(_, names) | Sum(names, _):
            return names
        case View(_, names, inputs):
            return (*names, *inputs)
        case Var(name) | Lift(name, _):
            return (name,)
        case Top(keys, order, _, _):
            return (*keys, *(o.var for o in order))
        case _:
            return ()


def _deltas(e: Expr, summed: bool) -> Iterator[tuple[Delta, bool]]:
    """The batches in a term, each with whether a Sum adds its rows up before anything else."""
    match e:
        case Delta():
            yield e, summed
        case Mul(parts) | Add(parts):
            for part in parts:
                yield from _deltas(part, summed)
        case Sum(_, body):
            yield from _deltas(body, summed=True)
        case Exists(body) | Lift(_, body) | Top(_, _, _, body):
            yield from _deltas(body, summed=False)
        case _:
            return
