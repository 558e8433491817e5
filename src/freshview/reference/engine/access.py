"""Atoms as closures: get, slice or scan of a store, by which variables are bound."""

from __future__ import annotations

from collections.abc import Callable

from freshview.algebra import Number
from freshview.calculus.terms import View
from freshview.reference.engine.scope import Frame, Next, Rows, Scope
from freshview.reference.engine.store import Cache, Store, picker
from freshview.reference.values import times


def access(store: Store, names: tuple[str, ...], scope: Scope, frame: Frame, k: Next) -> Next:
    """Run `k` for the rows of a store that agree with what is bound."""
    slots, work = frame.slots, frame.work
    known = tuple(i for i, v in enumerate(names) if v in scope.bound)
    key = picker([scope.at[names[i]] for i in known])
    rows = store.rows
    if len(known) == len(names):

        def get(m: Number) -> None:
            work.visits += 1
            n = rows.get(key(slots))
            if n is not None:
                k(times(m, n))

        return get
    visit = _visit(names, scope, frame, k)
    if not known:

        def scan(m: Number) -> None:
            work.visits += len(rows)
            visit(rows, m)

        return scan
    groups = store.index(known)

    def slice_(m: Number) -> None:
        group = groups.get(key(slots))
        if group is not None:
            work.visits += len(group)
            visit(group, m)

    return slice_


def access_cache(cache: Cache, view: View, scope: Scope, frame: Frame, k: Next) -> Next:
    """Read a view cache: the copy for the inputs is computed when it is first asked for."""
    slots, work = frame.slots, frame.work
    inputs = picker([scope.at[v] for v in view.inputs])
    known = tuple(i for i, v in enumerate(view.vars) if v in scope.bound)
    key = picker([scope.at[view.vars[i]] for i in known])
    visit = _visit(view.vars, scope, frame, k)

    def run(m: Number) -> None:
        store = cache.at(inputs(slots))
        group = store.index(known).get(key(slots)) if known else store.rows
        if group:
            work.visits += len(group)
            visit(group, m)

    return run


def _visit(
    names: tuple[str, ...], scope: Scope, frame: Frame, k: Next
) -> Callable[[Rows, Number], None]:
    """Bind the free positions of each row; a variable that stands twice must agree."""
    slots = frame.slots
    first: dict[str, int] = {}
    for i, v in enumerate(names):
        if v not in scope.bound:
            first.setdefault(v, i)
    binds = [(i, scope.at[v]) for v, i in first.items()]
    tests = [(i, first[v]) for i, v in enumerate(names) if first.get(v, i) != i]
    if len(binds) == 1 and not tests:
        ((at, slot),) = binds

        def visit_one(rows: Rows, m: Number) -> None:
            for row, n in rows.items():
                slots[slot] = row[at]
                k(times(m, n))

        return visit_one

    def visit(rows: Rows, m: Number) -> None:
        for row, n in rows.items():
            for i, j in tests:
                if row[i] != row[j]:
                    break
            else:
                for i, j in binds:
                    slots[j] = row[i]
                k(times(m, n))

    return visit
