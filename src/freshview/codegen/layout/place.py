"""Places of maps: which record and which columns of it hold the keys and numbers of each map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from freshview.calculus.functions import Functions
from freshview.calculus.scope import relations
from freshview.calculus.types import INT, Type
from freshview.codegen.cpp.code import identifier
from freshview.codegen.cpp.ring_types import cofactors, header_type
from freshview.codegen.layout.dependencies import determining
from freshview.codegen.layout.fuse import fuse, walks_of
from freshview.codegen.layout.terms import Layout, MapPlace, Table
from freshview.codegen.options import KernelPasses
from freshview.errors import NotNative
from freshview.program.expiry import what_is_lost
from freshview.program.terms import Map, Program


def place_maps(program: Program, functions: Functions, passes: KernelPasses) -> Layout:
    """A table for every group of maps that share records, and for every static relation read."""
    tables: dict[str, Table] = {}
    places: dict[str, MapPlace] = {}
    apart = [[(m, tuple(range(len(m.keys))))] for m in program.maps]
    maps = {m.name: m for m in program.maps}
    together = fuse(program.maps, walks_of(program), what_is_lost(program))
    for group in together if passes.fuse else apart:
        name = f"m_{identifier(group[0][0].name)}"
        for payload, (m, columns) in enumerate(group):
            places[m.name] = MapPlace(name, payload, columns)
        payloads = tuple(_payload(m, maps, functions) for m, _ in group)
        tables[name] = _table(program, name, [m for m, _ in group], payloads, passes)
    read = _static_reads(program)
    for r in program.relations:
        if r.static and r.name in read:
            name = f"r_{identifier(r.name)}"
            tables[name] = Table(name, r.types, (INT,), names=tuple(c.name for c in r.columns))
            places[r.name] = MapPlace(name, 0, tuple(range(len(r.columns))))
    for r in program.relations:
        if not r.static:
            name = batch_table(r.name)
            tables[name] = Table(name, r.types, (INT,), transient=True)
    return Layout(tables, places)


def batch_table(relation: str) -> str:
    """The table of the batch of a relation, whose name need not be one of C++.

    >>> batch_table("orders"), batch_table("give 1.3 r")
    ('d_orders', 'd_give_U20_1_U2e_3_U20_r')
    """
    return f"d_{identifier(relation)}"


def _table(
    program: Program, name: str, maps: list[Map], payloads: tuple[Type, ...], passes: KernelPasses
) -> Table:
    """The table of a group of maps."""
    first = maps[0]
    names = tuple(c.name for c in first.keys)
    table = Table(name, tuple(c.type for c in first.keys), payloads, names=names)
    # In a batch, rows of one key may come in any order; row by row, deletions come first. Where a
    # map is recomputed, the old and the new row of a key are there at once.
    batches = any(t.event == "batch" for t in program.triggers)
    again = {m.name for m in maps} & _recomputed(program)
    if passes.keys and not first.inputs and not batches and not again:
        columns = determining(first, {r.name: r for r in program.relations})
        if len(columns) < len(first.keys):
            return replace(table, determining=columns)
    return table


def _recomputed(program: Program) -> set[str]:
    """The maps that a change makes the program recompute."""
    changing = (t for t in program.triggers if t.event != "ready")
    return {s.target.name for t in changing for s in t.statements if s.op == ":="}


def _payload(m: Map, maps: Mapping[str, Map], functions: Functions) -> Type:
    """The type of a map's payloads, with its variables if they are of a ring."""
    if m.payload.kind != "ring":
        return m.payload
    if m.payload.ring in functions.headers:
        return header_type(functions.headers[m.payload.ring])
    if m.payload.ring != "Cofactor":
        raise NotNative(f"payloads of {m.payload} are kept by the reference engine only")
    return cofactors(m.definition, lambda name: _payload(maps[name], maps, functions))


def _static_reads(program: Program) -> set[str]:
    terms = [s.term for t in program.triggers for s in t.statements]
    terms += [q.term for q in program.queries]
    return {name for e in terms for name in relations(e)}
