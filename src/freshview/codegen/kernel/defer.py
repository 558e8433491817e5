"""Recomputation put off: maps that only queries read need not follow every change."""

from __future__ import annotations

from freshview.calculus.scope import ins, reads_delta, stored
from freshview.program.terms import Program, Statement


def deferrable(program: Program) -> dict[str, Statement]:
    """The maps that changes recompute and only queries read, with what recomputes each of them."""
    out: dict[str, Statement] = {}
    for t in program.triggers:
        for s in t.statements:
            if t.event == "ready" or s.op != ":=":
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
