"""Which views a maintained program keeps: its outputs, and what the triggers read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from freshview.linear.compile.normal import Normal
from freshview.linear.compile.trigger import Dense, Trigger, Update
from freshview.linear.language.terms import Inverse, Until
from freshview.linear.language.walk import free


def kept_views(
    program: Normal, triggers: Iterable[Trigger], before: frozenset[str]
) -> frozenset[str]:
    """The least set of views that the outputs and the triggers need; it never shrinks.

    Inverses stay: what holds one can be checked by multiplying, without it only by solving. So do
    results of iterations: the next one starts from them.
    """
    views = {t.name for t in program.statements if isinstance(t.term, Inverse | Until)}
    views |= before | set(program.outputs)
    views |= {i.name for i in program.inputs}
    every = list(triggers)
    while True:
        read = set(views)
        for t in every:
            for s in pruned(t, views).assignments:
                read |= free(s.term) & program.scope.keys()
        if read == views:
            return frozenset(views)
        views = read


def pruned(t: Trigger, views: Iterable[str]) -> Trigger:
    """The trigger without the updates of other views, and what only those need."""
    wanted = set(views)
    updates = tuple(u for u in t.updates if u.view in wanted)
    read = {n for u in updates for n in _names(u)}
    assignments = []
    for s in reversed(t.assignments):
        if s.name in read:
            assignments.append(s)
            read |= free(s.term)
    return replace(t, assignments=tuple(reversed(assignments)), updates=updates)


def _names(u: Update) -> frozenset[str]:
    if isinstance(u.change, Dense):
        return free(u.change.term)
    return free(u.change.left) | free(u.change.right)
