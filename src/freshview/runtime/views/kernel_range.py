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
from freshview.runtime.relations.stored_base import AnyBase

MAX_ROWS = 1_000_000
"""Rows, each as often as it counts, that are run through the program to check its numbers."""


def fits_kernel(
    program: Program,
    functions: Functions,
    bases: Iterable[AnyBase],
    *,
    wide: bool,
) -> bool:
    """Whether all the numbers of a kernel's maps are in their ranges over the base rows.

    The program of a kernel is not the one that the reference engine runs for the view, and has
    other maps in between. The answer is no for more than `MAX_ROWS` rows: the check takes long.
    """
    rows = [(b.relation, b.rows) for b in bases]
    if sum(abs(n) for _, counts in rows for n in counts.values()) > MAX_ROWS:
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
