"""A trigger at work: what it makes of the views when an input changes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from freshview.linear.compile.trigger import Dense, Trigger, names
from freshview.linear.execute.changes import Move
from freshview.linear.execute.evaluate import evaluate
from freshview.linear.kernels.semiring import Array, Semiring
from freshview.linear.language.terms import Until, Var

MAGNIFIES = 1e6
"""How much Woodbury's formula may magnify errors before the inverse is computed anew."""


def run_trigger(
    t: Trigger,
    m: Move,
    values: Mapping[str, Array],
    ring: Semiring,
    sizes: Mapping[str, float],
    rounds: dict[str, int],
) -> dict[str, Array]:
    """The views after a change: all the changes over the old ones, then the updates in place.

    `rounds` hears after how many rounds each iteration ended.
    """
    local = {**values, t.left: ring.put(m.left), t.right: ring.put(m.right)}
    known = {**sizes, str(t.rank): float(m.rank)}
    for s in t.assignments:
        on_rounds = None
        if isinstance(s.term, Until) and isinstance(s.term.start, Var):
            on_rounds = partial(rounds.__setitem__, s.term.start.name)
        value = evaluate(s.term, local, ring, known, MAGNIFIES, on_rounds=on_rounds)
        local[s.name] = ring.copy(value) if names(s.term) else value
    views: dict[str, Array] = {}
    for u in t.updates:
        view = values[u.view]
        if isinstance(u.change, Dense):
            views[u.view] = ring.added(view, evaluate(u.change.term, local, ring, known))
        else:
            p, q = (evaluate(e, local, ring, known) for e in (u.change.left, u.change.right))
            views[u.view] = ring.accumulate(view, p, q)
    return views
