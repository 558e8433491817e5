"""Whether a kernel can hold what the reference engine holds."""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.domain import limit
from freshview.calculus.functions import Functions
from freshview.codegen.cpp.types import cpp_limit
from freshview.errors import Overflow
from freshview.program.terms import Program
from freshview.reference.engine.run import Engine
from freshview.reference.engine.store import Bounds
from freshview.runtime.database.base import Base
from freshview.runtime.database.stored_base import StatelessBase, StoredBase

PATIENCE = 1_000_000
"""Rows, each as often as it counts, that are followed one by one to see what becomes of them."""


def holds(
    program: Program,
    functions: Functions,
    bases: Iterable[Base | StoredBase | StatelessBase],
    *,
    wide: bool,
) -> bool:
    """Whether all the numbers of a kernel's maps are in their ranges over the base rows.

    The program of a kernel is not the one that the reference engine runs for the view, and has
    other maps on the way. What would take too long to find out is taken for a no.
    """
    rows = [(b.relation, b.rows) for b in bases]
    if sum(abs(n) for _, counts in rows for n in counts.values()) > PATIENCE:
        return False
    engine = Engine(program, functions)
    for m in program.maps:
        if not m.inputs:
            own = Bounds.of(m.keys, m.payload, limit if wide else cpp_limit)
            engine.stores.maps[m.name].bounds = own
    tables = {r.name: [row for row, n in c.items() for _ in range(n)] for r, c in rows if r.static}
    try:
        engine.load(tables, check=False)
        for relation, counts in rows:
            if not relation.static and counts:
                engine.apply(relation.name, counts, check=False)
        engine.check()
    except Overflow:
        return False
    return True
