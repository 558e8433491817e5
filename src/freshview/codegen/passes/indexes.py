"""Indexes follow access: slices ask for hash indexes, ranges and first rows for ordered ones."""

from __future__ import annotations

from dataclasses import replace

from freshview.codegen.layout.terms import Layout
from freshview.codegen.loops.facts import indexes, journals, orders, transients
from freshview.codegen.loops.terms import Loops


def add_indexes(layout: Layout, loops: Loops) -> Layout:
    """The layout with the transient tables of the loops, and with every index that they search."""
    kept = {name: t for name, t in layout.tables.items() if not t.transient}
    tables = {**kept, **{c.table.name: c.table for c in transients(loops)}}
    hashed = indexes(loops)
    asked = journals(loops)
    ordered = orders(loops, {name: len(t.keys) for name, t in tables.items()})
    return replace(
        layout,
        tables={
            name: replace(
                t,
                indexes=tuple(hashed.get(name, ())),
                orders=tuple(ordered.get(name, ())),
                journal=name in asked,
            )
            for name, t in tables.items()
        },
    )
