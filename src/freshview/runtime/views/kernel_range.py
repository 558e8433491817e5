"""Whether a kernel can hold what the reference engine holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from freshview.calculus.domain import limit
from freshview.calculus.functions import Functions
from freshview.codegen.library.engine import KernelEngine
from freshview.errors import Overflow
from freshview.program.terms import Program
from freshview.runtime.relations.stored_base import AnyBase

if TYPE_CHECKING:
    from freshview.reference.engine.run import Engine

MAX_ROWS = 1_000_000
"""Rows, each as often as it counts, that are run through the program to check its numbers."""


def run_as_kernel(
    program: Program,
    functions: Functions,
    bases: Iterable[AnyBase],
    *,
    wide: bool,
) -> Engine | None:
    """The program of a kernel over the base rows; None if a number is out of the kernel's range.

    The program of a kernel is not the one that the reference engine runs for the view, and has
    other maps in between. The answer is None for more than `MAX_ROWS` rows: it would take long.
    """
    from freshview.codegen.cpp.types import cpp_limit
    from freshview.reference.engine.run import Engine
    from freshview.reference.engine.store import Bounds

    rows = [(b.relation, b.rows) for b in bases]
    if sum(abs(n) for _, counts in rows for n in counts.values()) > MAX_ROWS:
        return None
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
        return None
    return engine


def mixes_widths(program: Program) -> bool:
    """Whether a kernel may keep sums of more bits than integers have.

    A product that is wrapped in 64 bits and then widened is no longer one of a ring: what has left
    its range on the way need not come back to where it was.
    """
    return any(m.payload.kind == "decimal" for m in program.maps)


def holds_the_same(kernel: KernelEngine, engine: Engine) -> bool:
    """Whether the exact numbers of a kernel's maps are those of the reference engine."""
    payloads = {m.name: m.payload.kind for m in engine.program.maps if not m.inputs}
    exact = [t.name for t in kernel.kernel.maps if payloads.get(t.name) in ("int", "decimal")]
    return all(kernel.contents(name) == engine.contents(name) for name in exact)
