"""Column pruning: columns that no statement reads are neither logged nor sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from freshview.calculus.schema import Relation
from freshview.calculus.terms import Add, Delta, Expr, Lift, Mul, Rel, Sum, Top, Var, View
from freshview.calculus.walk import bottom_up, children, subterms
from freshview.distributed.terms import Distributed, keys_of
from freshview.distributed.walk import statements, with_terms
from freshview.program.terms import Statement

Spot = tuple[Delta, int]
"""A column of a batch in a term."""


def prune_columns(distributed: Distributed) -> Distributed:
    """The same program over batches of fewer columns; `program.relations` has the rest.

    Sum[a](dR(a, b) * f(a)) => Sum[a](dR(a) * f(a)): a column that is summed at once is
    not needed. Below Exists, an assignment or Top this holds only from the next Sum on.
    """
    read = {spot for s in statements(distributed) for spot in _columns_read(s)}
    positions = {
        r.name: _positions_needed(r, distributed, read)
        for r in distributed.program.relations
        if not r.static
    }
    relations = tuple(_narrowed(r, positions) for r in distributed.program.relations)

    def rule(e: Expr) -> Expr | None:
        if not isinstance(e, Delta) or len(e.vars) == len(positions[e.name]):
            return None
        return replace(e, vars=tuple(e.vars[i] for i in positions[e.name]))

    changed = with_terms(distributed, lambda e: bottom_up(e, rule))
    return replace(changed, program=replace(distributed.program, relations=relations))


def _narrowed(r: Relation, positions: dict[str, tuple[int, ...]]) -> Relation:
    if r.name not in positions:
        return r
    columns = tuple(r.columns[i] for i in positions[r.name])
    names = {c.name for c in columns}
    return replace(r, columns=columns, key=r.key if set(r.key) <= names else ())


def _positions_needed(
    relation: Relation, distributed: Distributed, read: set[tuple[str, int]]
) -> tuple[int, ...]:
    """The positions that a statement reads, or by which the batch is partitioned; at least one."""
    arrives = distributed.placement.batches.get(relation.name)
    names = [c.name for c in relation.columns]
    positions = {i for i in range(len(names)) if (relation.name, i) in read}
    if arrives is not None:
        positions |= {names.index(k) for k in keys_of(arrives)}
    return tuple(sorted(positions or {0}))


def _columns_read(s: Statement) -> set[tuple[str, int]]:
    """The columns that a statement reads, by relation and position.

    Not those that a Sum aggregates away, if nothing else has their names: a batch may be joined
    with variables of the context.
    """
    named = Counter(s.target.vars)
    for e in subterms(s.term):
        named.update(_named(e))
    added_up: list[Spot] = []
    _add_up(s.term, added_up)
    count = Counter(delta.vars[i] for delta, i in added_up)
    batches = [e for e in subterms(s.term) if isinstance(e, Delta)]
    return {(d.name, i) for d in batches for i, v in enumerate(d.vars) if named[v] != count[v]}


def _add_up(e: Expr, summed: list[Spot]) -> tuple[Counter[str], list[Spot]]:
    """The names in a term, and the columns that a Sum around it may sum up; `summed` collects them.

    The Sum must be the first to read the rows, so nonlinear terms pass no column on.
    """
    names: Counter[str] = Counter(_named(e))
    if isinstance(e, Delta):
        return names, [(e, i) for i in range(len(e.vars))]
    through: list[Spot] = []
    for child in children(e):
        inner, spots = _add_up(child, summed)
        names.update(inner)
        if isinstance(e, Sum):
            local = [(d, i) for d, i in spots if d.vars[i] not in e.keys]
            summed += [(d, i) for d, i in local if inner[d.vars[i]] == 1]
        elif isinstance(e, Mul | Add):
            through += spots
    return names, through


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
