"""Shared directories: a table and the slices of another one that are asked by the same key.

Whoever looks up the lines of an order and the sums of its lines finds both in one place: the
records of the sums lie in the heads of the lists. That is one miss of the caches less, and one
table less to grow. It pays where both have about the same keys: not where either leaves out rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from freshview.calculus.scope import stored
from freshview.codegen.cpp.types import cpp_type
from freshview.codegen.layout.selection import is_selective
from freshview.codegen.layout.storage import MapPlace, Storage
from freshview.program.terms import Program

Lookups = Mapping[tuple[str, tuple[str, ...]], set[tuple[str, tuple[int, ...]]]]
"""By trigger and columns of its row: the storages that are asked by them, and by which keys."""

Homes = dict[str, tuple[str, tuple[int, ...]]]
"""Storages that move into another one: whose, and into the heads of which index."""


def directories(
    program: Program, places: Mapping[str, MapPlace], storages: Sequence[Storage], lookups: Lookups
) -> Homes:
    """Which tables move in with which slices: those that most triggers ask together."""
    known = {s.name: s for s in storages}
    apart = _apart(program, places)
    partial = {places[m.name].storage.name for m in program.maps if is_selective(m.definition)}
    together: Counter[tuple[str, str, tuple[int, ...]]] = Counter()
    for tables in lookups.values():
        for guest, own in tables:
            for host, positions in tables:
                fits = _fits(known[guest], own, known[host], positions)
                if (
                    fits
                    and not {guest, host} & partial
                    and not {(guest, host), (host, guest)} & apart
                ):
                    together[guest, host, positions] += 1
    homes: Homes = {}
    occupied: set[tuple[str, tuple[int, ...]]] = set()
    for guest, host, positions in sorted(together, key=lambda t: (-together[t], t)):
        if guest not in homes and (host, positions) not in occupied:
            homes[guest] = host, positions
            occupied.add((host, positions))
    return homes


def _fits(guest: Storage, own: tuple[int, ...], host: Storage, at: tuple[int, ...]) -> bool:
    """Whether a flat table of one key has the key of a slice."""
    if guest is host or guest.indexes or guest.orders or len(guest.keys) != 1 or own != (0,):
        return False
    return (
        len(at) == 1
        and at in host.indexes
        and cpp_type(guest.keys[0]) == cpp_type(host.keys[at[0]])
    )


def _apart(program: Program, places: Mapping[str, MapPlace]) -> set[tuple[str, str]]:
    """Storages that may not share: a statement reads the one and writes the other.

    It would write where it reads. And what is emptied as a whole has a table of its own.
    """
    conflicts = set()
    names = {p.storage.name for p in places.values()}
    for s in (s for t in program.triggers for s in t.statements):
        target = places[s.target.name].storage.name
        conflicts |= {(places[n].storage.name, target) for n in stored(s.term)}
        if s.op == ":=":
            conflicts |= {(target, other) for other in names}
    return conflicts
