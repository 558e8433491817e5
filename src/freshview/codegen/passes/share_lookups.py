"""Look-ups shared: a record that several statements ask for by the row's columns is found once.

Statements share the scopes that they begin with (`share`); a nested sum is computed in a block of
its own, and would look up once more what another has found.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from freshview.calculus.terms import Var
from freshview.codegen.layout.terms import Layout
from freshview.codegen.loops.effects import (
    Clear,
)
from freshview.codegen.loops.terms import (
    At,
    Block,
    Collect,
    Get,
    Group,
    Probe,
    Stmt,
    Total,
)
from freshview.codegen.loops.walk import blocks, map_blocks, statements

Lookup = tuple[str, tuple[object, ...]]


def share_lookups(block: Block, layout: Layout, row: str) -> Block:
    """Every group of statements, with the look-ups by columns of the row that it shares."""
    return tuple(
        replace(s, body=_shared(s.body, layout, row))
        if isinstance(s, Group)
        else map_blocks(s, lambda b: share_lookups(b, layout, row))
        for s in block
    )


def _shared(block: Block, layout: Layout, row: str) -> Block:
    """Move look-ups that happen anyway, and more than once, to the beginning of a block."""
    counts: dict[Lookup, int] = {}
    sure: set[Lookup] = set()
    _collect(block, True, row, counts, sure)
    moving = _moving(block, layout)
    probes: dict[Lookup, Probe] = {}
    for (table, keys), n in counts.items():
        if n > 1 and (table, keys) in sure and table not in moving:
            probes[table, keys] = Probe(f"g{len(probes)}", table, keys)  # type: ignore[arg-type]
    if not probes:
        return block

    def use(b: Block) -> Block:
        return tuple(map_blocks(_with(s), use) for s in b)

    def _with(s: Stmt) -> Stmt:
        if isinstance(s, Get) and (s.table, s.keys) in probes:
            return replace(s, probe=probes[s.table, s.keys].name)
        return s

    return (*probes.values(), *use(block))


def _moving(block: Block, layout: Layout) -> Collection[str]:
    """The tables whose records may move: those that are written, and those that lie in them."""
    written = {s.table for s in statements(block) if isinstance(s, At | Clear)}
    roots = {layout.tables[name].root for name in written}
    return {t.name for t in layout.tables.values() if t.root in roots}


def _collect(
    block: Sequence[Stmt], certain: bool, row: str, counts: dict[Lookup, int], sure: set[Lookup]
) -> None:
    for s in block:
        if isinstance(s, Get) and s.keys and all(_of_row(key, row) for key in s.keys):
            counts[s.table, s.keys] = counts.get((s.table, s.keys), 0) + 1
            if certain:
                sure.add((s.table, s.keys))
        for inside in blocks(s):
            # What computes a local happens anyway.
            _collect(inside, certain and isinstance(s, Total | Collect), row, counts, sure)


def _of_row(key: object, row: str) -> bool:
    return isinstance(key, Var) and key.name.startswith(f"{row}.c")
