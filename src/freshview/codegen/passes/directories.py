"""Shared directories: a table and the slices of another one that are asked by the same key.

Whoever looks up the lines of an order and the sums of its lines finds both in one place: the
records of the sums lie in the heads of the lists. That is one miss of the caches less, and one
table less to grow. It pays where both have about the same keys: not where either leaves out rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from freshview.calculus.scope import stored
from freshview.codegen.cpp.types import cpp_type
from freshview.codegen.layout.selection import is_selective
from freshview.codegen.layout.terms import Columns, Layout, MapPlace, Table
from freshview.program.terms import Program

Lookups = Iterable[set[tuple[str, Columns]]]
"""Of every trigger and every set of its row's columns: the tables asked by them, and how."""


def directories(program: Program, layout: Layout, lookups: Lookups) -> Layout:
    """The layout in which tables lie in the slices that most triggers ask together with them."""
    known = layout.tables
    apart = _apart(program, layout.places)
    partial = {layout.places[m.name].table for m in program.maps if is_selective(m.definition)}
    together: Counter[tuple[str, str, Columns]] = Counter()
    for tables in lookups:
        for guest, own in tables:
            for host, positions in tables:
                fits = _fits(known[guest], own, known[host], positions)
                if (
                    fits
                    and not {guest, host} & partial
                    and not {(guest, host), (host, guest)} & apart
                ):
                    together[guest, host, positions] += 1
    homes: dict[str, tuple[str, Columns]] = {}
    occupied: set[tuple[str, Columns]] = set()
    for guest, host, positions in sorted(together, key=lambda t: (-together[t], t)):
        if guest not in homes and (host, positions) not in occupied:
            homes[guest] = host, positions
            occupied.add((host, positions))
    housed = {
        name: replace(t, home=homes[name]) if name in homes else t for name, t in known.items()
    }
    return replace(layout, tables=housed)


def _fits(guest: Table, own: Columns, host: Table, at: Columns) -> bool:
    """Whether a flat table of one key has the key of a slice."""
    plain = not (guest.indexes or guest.orders or guest.journal)
    if guest is host or not plain or len(guest.keys) != 1 or own != (0,):
        return False
    return (
        len(at) == 1
        and at in host.indexes
        and cpp_type(guest.keys[0]) == cpp_type(host.keys[at[0]])
    )


def _apart(program: Program, places: Mapping[str, MapPlace]) -> set[tuple[str, str]]:
    """Tables that may not share: a statement reads the one and writes the other.

    It would write where it reads. And what is emptied as a whole has a table of its own.
    """
    conflicts = set()
    names = {p.table for p in places.values()}
    for s in (s for t in program.triggers for s in t.statements):
        target = places[s.target.name].table
        conflicts |= {(places[n].table, target) for n in stored(s.term)}
        if s.op == ":=":
            conflicts |= {(target, other) for other in names}
    return conflicts
