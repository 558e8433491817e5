"""Which maps of a program its queries need."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.scope import stored
from freshview.program.terms import Program


def needed_maps(program: Program) -> set[str]:
    """The maps that queries read, and those that define, fill or maintain these."""
    reads = {m.name: set(stored(m.definition)) for m in program.maps}
    for m in program.maps:
        if m.fill is not None:
            reads[m.name] |= stored(m.fill)
    for t in program.triggers:
        for s in t.statements:
            reads[s.target.name] |= stored(s.term)
    needed: set[str] = set()
    pending = {name for q in program.queries for name in stored(q.term)}
    while pending:
        name = pending.pop()
        needed.add(name)
        pending |= reads[name] - needed
    return needed


def without_unused(program: Program) -> Program:
    """The program without maps that none of its queries needs."""
    kept = needed_maps(program)
    triggers = (
        replace(t, statements=tuple(s for s in t.statements if s.target.name in kept))
        for t in program.triggers
    )
    return replace(
        program,
        maps=tuple(m for m in program.maps if m.name in kept),
        triggers=tuple(t for t in triggers if t.statements),
    )
