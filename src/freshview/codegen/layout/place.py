"""Places of maps: which record and which columns of it hold the keys and numbers of each map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from freshview.calculus.functions import Functions
from freshview.calculus.scope import relations, stored
from freshview.calculus.types import INT, Type
from freshview.codegen.cpp.code import identifier
from freshview.codegen.cpp.ring_types import cofactors, header_type
from freshview.codegen.layout.dependencies import determining
from freshview.codegen.layout.directories import Homes
from freshview.codegen.layout.fuse import fuse
from freshview.codegen.layout.storage import MapPlace, Storage
from freshview.codegen.options import KernelPasses
from freshview.errors import NotNative
from freshview.program.terms import Map, Program


@dataclass(frozen=True)
class Layout:
    """The tables of a state, and where each map and static relation lies in them."""

    storages: list[Storage] = field(default_factory=list)
    places: dict[str, MapPlace] = field(default_factory=dict)


def place_maps(
    program: Program, functions: Functions, passes: KernelPasses, homes: Homes
) -> Layout:
    """A table for every group of maps that share records, and for every static relation read."""
    for m in program.maps:
        if m.inputs:
            raise NotNative(f"view cache '{m.name}' is kept by the reference engine only")
    layout = Layout()
    apart = [[(m, tuple(range(len(m.keys))))] for m in program.maps]
    maps = {m.name: m for m in program.maps}
    for group in fuse(program.maps, _walked(program)) if passes.fuse else apart:
        storage = _table(program, group[0][0], passes)
        layout.storages.append(storage)
        for m, columns in group:
            layout.places[m.name] = MapPlace(storage, len(storage.payloads), columns)
            storage.payloads.append(_payload(m, maps, functions))
    read = _static_reads(program)
    for r in program.relations:
        if r.static and r.name in read:
            whole = Storage(f"r_{identifier(r.name)}", r.types, [INT])
            layout.storages.append(whole)
            layout.places[r.name] = MapPlace(whole, 0, tuple(range(len(r.columns))))
    tables = {s.name: s for s in layout.storages}
    for guest, (host, positions) in homes.items():
        tables[guest].home = tables[host], positions
        tables[host].tenants[positions] = tables[guest]
        tables[host].index(positions)
    return layout


def _table(program: Program, first: Map, passes: KernelPasses) -> Storage:
    """The table of a group of maps, without their payloads."""
    storage = Storage(f"m_{identifier(first.name)}", tuple(c.type for c in first.keys))
    # In a batch, rows of one key may come in any order; row by row, deletions come first.
    if passes.keys and not any(t.event == "batch" for t in program.triggers):
        columns = determining(first, {r.name: r for r in program.relations})
        storage.determining = columns if len(columns) < len(first.keys) else None
    return storage


def _payload(m: Map, maps: Mapping[str, Map], functions: Functions) -> Type:
    """The type of a map's payloads, with its variables if they are of a ring."""
    if m.payload.kind != "ring":
        return m.payload
    if m.payload.ring in functions.headers:
        return header_type(functions.headers[m.payload.ring])
    if m.payload.ring != "Cofactor":
        raise NotNative(f"payloads of {m.payload} are kept by the reference engine only")
    return cofactors(m.definition, lambda name: _payload(maps[name], maps, functions))


def _walked(program: Program) -> set[str]:
    """Maps that triggers read: maybe row by row."""
    return {name for t in program.triggers for s in t.statements for name in stored(s.term)}


def _static_reads(program: Program) -> set[str]:
    terms = [s.term for t in program.triggers for s in t.statements]
    terms += [q.term for q in program.queries]
    return {name for e in terms for name in relations(e)}
