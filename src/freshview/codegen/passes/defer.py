"""Recomputation put off: maps that only queries read need not follow every change."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.scope import ins, reads_delta, stored
from freshview.codegen.layout.terms import Layout
from freshview.codegen.loops.facts import scans
from freshview.codegen.lower.context import ONE
from freshview.codegen.lower.statements import lower_statement
from freshview.codegen.lower.term import Terms
from freshview.program.terms import Program, Statement


def defer(program: Program, terms: Terms, batch_tables: frozenset[str]) -> Layout:
    """The layout that says which maps are recomputed when they are read, or once a batch.

    A map that would be recomputed from all the data with every change, and that only queries read,
    is recomputed when it is read; one that an index recomputes, after the rows of a batch.
    """
    layout = terms.layout
    recomputed = deferrable(program)
    walking = {
        layout.places[name].table
        for name, s in recomputed.items()
        if scans(lower_statement(terms, s, {}, ONE).block, layout, batch_tables)
    }
    deferred = {name for name in recomputed if layout.places[name].table in walking}
    return replace(
        layout, deferred=frozenset(deferred), late=frozenset(recomputed.keys() - deferred)
    )


def deferrable(program: Program) -> dict[str, Statement]:
    """The maps that changes recompute and only queries read, with what recomputes each of them.

    What reads a view cache is recomputed with every change: that fills the cache.
    """
    out: dict[str, Statement] = {}
    caches = {m.name for m in program.maps if m.inputs}
    for t in program.triggers:
        for s in t.statements:
            if t.event == "ready" or s.op != ":=" or caches & stored(s.term):
                continue
            if not (set(s.target.vars) | ins(s.term)) & set(t.params) and not reads_delta(s.term):
                out.setdefault(s.target.name, s)
    while True:
        others = [s for t in program.triggers for s in t.statements if s.target.name not in out]
        read = {name for s in others for name in stored(s.term)} & out.keys()
        # One recomputation that reads another would need an order; there is none to be seen.
        read |= {name for s in out.values() for name in stored(s.term)} & out.keys()
        if not read:
            return out
        out = {name: s for name, s in out.items() if name not in read}
