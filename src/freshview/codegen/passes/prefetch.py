"""Prefetch: what a row's own columns look up is fetched into caches some rows before its turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from freshview.calculus.types import Type
from freshview.codegen.layout.terms import Layout
from freshview.codegen.loops.facts import lookups
from freshview.codegen.loops.terms import (
    Batch,
    Block,
    Scan,
    Stmt,
)
from freshview.codegen.loops.walk import map_blocks


def prefetch(
    block: Block, layout: Layout, columns: Mapping[str, tuple[Type, ...]], *, of_row: bool = False
) -> Block:
    """Every loop over rows that come with a change, with what it fetches for rows to come.

    What is collected for one row alone is few rows, for which nothing is fetched.
    """

    def rule(s: Stmt) -> Stmt:
        inside = of_row or isinstance(s, Batch)
        s = map_blocks(s, lambda b: prefetch(b, layout, columns, of_row=inside))
        if isinstance(s, Batch):
            types = {f"c{j}": t for j, t in enumerate(columns[s.relation])}
        elif isinstance(s, Scan) and not (of_row and layout.tables[s.table].transient):
            types = {f"k{i}": t for i, t in enumerate(layout.tables[s.table].keys)}
        else:
            return s
        # What seldom happens is not worth fetching for.
        fetches = dict.fromkeys(lookups(s.body, s.row, types, layout, seldom=False))
        kept = (f for f in fetches if f.write or replace(f, write=True) not in fetches)
        return replace(s, fetches=tuple(kept))

    return tuple(map(rule, block))
