"""Single changes of a plan: what `auto` tries in each of its steps (Nikolic 2016, 3.6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from freshview.calculus.alpha_equivalence import shape
from freshview.calculus.scope import relations, stored
from freshview.calculus.terms import Expr, Rel, Sum
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Map, Program, Statement

MOST_MOVES = 12
"""Single changes tried per step, those to the largest maps first."""


def moves(program: Program, options: DeltaOptions) -> Iterator[tuple[DeltaOptions, str]]:
    """Split one map into atoms, or turn recomputing it into deltas."""
    views = {name for q in program.queries for name in stored(q.term)}
    count = 0
    for m in sorted(program.maps, key=lambda m: -len(m.keys)):
        if count >= MOST_MOVES:
            return
        key = shape(m.definition)
        if m.name not in views and _joins(m) and key not in options.inline:
            count += 1
            changed = replace(options, inline=options.inline | {key})
            yield changed, f"{m.name} is joined from its relations when it is asked for"
        for relation in sorted(_recomputing(program, m)):
            if (m.name, relation) in options.recompute:
                continue  # the user asks for it
            count += 1
            pair = frozenset({(key, relation)})
            changed = replace(
                options, increment=options.increment | pair, recompute=options.recompute - pair
            )
            yield changed, f"{m.name} is maintained by deltas when {relation} changes"


def recomputations(
    program: Program,
    options: DeltaOptions,
    costs: Iterable[tuple[str, Statement, float]],
    least: float,
) -> Iterator[tuple[DeltaOptions, str]]:
    """The way back: recompute a map that is maintained by deltas, those that cost most first.

    `costs` are those of the statements by relation; where deltas cost less than `least`, there is
    too little to gain. What the user asks for stays. There are no words: the compiler has a note
    for every map that is recomputed.
    """
    if options.always_update:
        return
    spent: defaultdict[tuple[str, str], float] = defaultdict(float)
    for relation, s, cost in costs:
        if s.op == "+=":
            spent[s.target.name, relation] += cost
    maps = {m.name: m for m in program.maps}
    dear = [pair for pair, cost in spent.items() if cost >= least and pair not in options.increment]
    composed = [p for p in dear if _is_composed(maps[p[0]]) and not maps[p[0]].inputs]
    for name, relation in sorted(composed, key=lambda p: -spent[p])[:MOST_MOVES]:
        pair = frozenset({(shape(maps[name].definition), relation)})
        changed = replace(
            options, increment=options.increment - pair, recompute=options.recompute | pair
        )
        yield changed, ""


def _is_composed(m: Map) -> bool:
    """Whether a map can be put together from simpler ones: it is more than a stored relation."""
    return not isinstance(_body(m), Rel)


def _joins(m: Map) -> bool:
    """Whether a map joins relations: then it could be put together from them."""
    return _is_composed(m) and len(relations(_body(m))) > 1


def _body(m: Map) -> Expr:
    return m.definition.body if isinstance(m.definition, Sum) else m.definition


def _recomputing(program: Program, m: Map) -> set[str]:
    return {
        t.relation
        for t in program.triggers
        if t.event != "ready"
        for s in t.statements
        if s.op == ":=" and s.target.name == m.name and not m.is_change
    }
